"""From a finding's series to the chart that shows them."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from analyzer.findings.model import ChartLine, Finding
from analyzer.findings.numbers import format_value
from analyzer.report.charts import Chart, ChartView, Ink, Panel, chart_svg, panel_svgs
from analyzer.report.facts import REWARDS, Desk, affected_span, decisive
from analyzer.report.scale import Axis, make_axis
from analyzer.report.words import Words
from analyzer.tables.evidence import Series

PANELS = 4
HEIGHTS = {1: 110, 2: 84, 3: 66, 4: 54}  # px of a panel, by the number of panels
TITLE_WIDTH = 108  # characters of a title's line
OVERLAP = 0.3  # of their common range: two series of one unit that share it are drawn together
PLAIN_UNITS = {"1", "fraction", "reward", "count"}  # not named in a title
AT_A_GLANCE = ("seq_len", "importance_weight")


@dataclass(frozen=True)
class Drawn:
    """A series with the line that asks for it."""

    line: ChartLine
    series: Series


@dataclass(frozen=True, eq=False)
class Picture:
    """What a chart is to show, its panels at full height."""

    panels: tuple[Panel, ...]
    onset: int | None
    affected: tuple[tuple[int, int], ...]
    labelled: bool  # labels of an onset or of attempts stand above the first panel


def finding_picture(finding: Finding, desk: Desk, panels: int = PANELS) -> Picture | None:
    """The finding's picture of at most so many panels; None where no series of it is there to
    draw.
    """
    groups = _groups([d for line in finding.charts if (d := _drawn(line, desk)) is not None])
    if not groups or panels < 1:
        return None
    verdict, drawn = decisive(finding), [group[0].series.name for group in groups]
    wrong = verdict.metric if verdict and verdict.metric in drawn else drawn[0]
    shown = _most_telling(groups, wrong, panels)
    height = HEIGHTS[len(shown)]
    onset = finding.onset.step if finding.onset else None
    affected = finding.windows or (
        (affected_span(finding, desk.span),) if onset is not None else ()
    )
    drawn_panels = tuple(_panel(g, _ink(g[0], wrong), height, desk.words) for g in shown)
    return Picture(drawn_panels, onset, affected, onset is not None or _restarted(desk))


def _most_telling(groups: list[list[Drawn]], wrong: str, panels: int) -> list[list[Drawn]]:
    """The first so many, and the one that is judged in any case, in their order."""
    kept = groups[:panels]
    judged = [group for group in groups if group[0].series.name == wrong]
    if judged and judged[0] not in kept:
        kept[-1] = judged[0]
    return kept


def run_picture(desk: Desk, panels: int = PANELS) -> Picture | None:
    """Reward, sequence length and importance weight: the run at a glance."""
    lines = [ChartLine(name, "evidence") for name in (*REWARDS, *AT_A_GLANCE)]
    found = [d for line in lines if (d := _drawn(line, desk)) is not None]
    rewards = [d for d in found if d.series.name in REWARDS][:1]
    rewards += [d for d in found if d.series.name == "eval_reward" and d not in rewards]
    others = [d for d in found if d.series.name not in REWARDS]
    shown = _groups(rewards + others)[:panels]
    if not shown:
        return None
    drawn_panels = tuple(_panel(g, "first", HEIGHTS[3], desk.words) for g in shown)
    return Picture(drawn_panels, None, (), _restarted(desk))


def _restarted(desk: Desk) -> bool:
    return len(desk.manifest.attempts) > 1


def finding_chart(finding: Finding, desk: Desk) -> ChartView | None:
    """The finding's picture, drawn panel by panel, so that it may be broken between two pages;
    None where there is nothing to draw.
    """
    picture = finding_picture(finding, desk)
    if picture is None:
        return None
    chart, alt = _chart(picture, desk)
    return ChartView(panel_svgs(chart), alt)


def whole_chart(picture: Picture, desk: Desk, scale: float) -> ChartView:
    """The picture as one drawing, its panels at that share of their full height."""
    shrunk = tuple(replace(p, height=round(p.height * scale)) for p in picture.panels)
    chart, alt = _chart(replace(picture, panels=shrunk), desk)
    return ChartView((chart_svg(chart),), alt)


def _drawn(line: ChartLine, desk: Desk) -> Drawn | None:
    series = desk.source.series(line.series)
    return Drawn(line, series) if isinstance(series, Series) and len(series) else None


def _groups(drawn: Sequence[Drawn]) -> list[list[Drawn]]:
    """Neighbours of one unit without limits that run in one range share a panel."""
    groups: list[list[Drawn]] = []
    for item in drawn:
        if groups and len(groups[-1]) == 1 and _alike(groups[-1][0], item):
            groups[-1].append(item)
        else:
            groups.append([item])
    return groups


def _alike(a: Drawn, b: Drawn) -> bool:
    if a.series.unit != b.series.unit or a.line.limits or b.line.limits:
        return False
    first, second = _finite(a.series), _finite(b.series)
    if not len(first) or not len(second):
        return False
    shared = min(first.max(), second.max()) - max(first.min(), second.min())
    whole = max(first.max(), second.max()) - min(first.min(), second.min())
    return bool(whole > 0 and shared / whole >= OVERLAP)


def _finite(series: Series) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return series.values[np.isfinite(series.values)]


def _ink(drawn: Drawn, wrong: str) -> Ink:
    if drawn.series.name == wrong:
        return "wrong"
    return "plain" if drawn.line.role == "consequence" else "first"


def _panel(group: Sequence[Drawn], ink: Ink, height: int, words: Words) -> Panel:
    series = tuple(d.series for d in group)
    limits = tuple(
        (
            words(
                "chart.limit", label=words.phrase(label), value=format_value(value, series[0].unit)
            ),
            value,
        )
        for label, value in group[0].line.limits
    )
    axis = make_axis(np.concatenate([_finite(s) for s in series]), limits)
    percent = series[0].unit == "fraction"
    return Panel(_title(series, axis, words), ink, series, axis, percent, height)


def _title(series: tuple[Series, ...], axis: Axis, words: Words) -> tuple[str, ...]:
    unit = series[0].unit
    names = [f"{words.series(s.name)} · {s.logged_as}" for s in series]
    if unit not in PLAIN_UNITS:
        names[0] = f"{words.series(series[0].name)} ({words.get(f'unit.{unit}', unit)}) · "
        names[0] += series[0].logged_as
    if len(names) > 1:
        names = [words("chart.solid", name=names[0]), words("chart.dashed", name=names[1])]
    lines = [part for name in names for part in _wrap(name)]
    if notes := _notes(series, axis, words):
        joined = f"{lines[-1]} · {notes}"
        lines[-1:] = _wrap(joined) if len(joined) <= TITLE_WIDTH else [lines[-1], *_wrap(notes)]
    return tuple(lines)


def _wrap(text: str) -> list[str]:
    return textwrap.wrap(text, TITLE_WIDTH, break_on_hyphens=False)


def _notes(series: tuple[Series, ...], axis: Axis, words: Words) -> str:
    notes = [words("chart.off_scale", label=label) for label, _ in axis.off_scale]
    if axis.log:
        notes.append(words("chart.log"))
    nan = sum(int(np.isnan(s.values).sum()) for s in series)
    infinite = sum(int(np.isinf(s.values).sum()) for s in series)
    if nan:
        notes.append(words("chart.nan", n=nan))
    if infinite:
        notes.append(words("chart.inf", n=infinite))
    return words("list.semicolon").join(notes)


def _chart(picture: Picture, desk: Desk) -> tuple[Chart, str]:
    """The chart, and what it shows in words."""
    words, onset = desk.words, picture.onset
    label = "" if onset is None else words("chart.onset", step=f"{onset:,}")
    attempts = tuple(
        (a.first_step, words("chart.attempt", n=a.number + 1)) for a in desk.manifest.attempts[1:]
    )
    chart = Chart(
        picture.panels,
        desk.span,
        onset,
        label,
        picture.affected,
        attempts,
        words("chart.step"),
    )
    titles = words("list.semicolon").join(" ".join(panel.title) for panel in picture.panels)
    alt = words("chart.alt", titles=titles)
    return chart, f"{alt} {label}".strip()
