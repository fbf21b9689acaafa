"""A finding's picture: panels over one step axis, as one Vega-Lite specification and its SVG."""

from __future__ import annotations

import copy
import json
import re
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import numpy as np

from analyzer.report.decimate import keep_extremes, pieces
from analyzer.report.fonts import font_folders
from analyzer.report.placement import place
from analyzer.report.scale import Axis
from analyzer.resources import templates_dir
from analyzer.tables.evidence import Floats, Series, Steps

Ink = Literal["wrong", "first", "plain"]
COLOURS: dict[Ink, str] = {"wrong": "#b3201a", "first": "#1d5ba6", "plain": "#1b1b1f"}
SPARSE = 60  # a series of fewer values also shows them as points
MARKS = 100  # marks of non-finite values, at most
LEAST_WIDTH = 0.004  # of the width: an affected stretch is drawn at least so wide
ATTEMPT_ROOM = 0.08  # of the width: labels nearer than this are left out
VEGA_LITE = "6.4"

Spec = dict[str, Any]


@dataclass(frozen=True, eq=False, slots=True)
class Panel:
    """One plot of a chart: one series, or two drawn together (the second dashed)."""

    title: tuple[str, ...]  # lines
    ink: Ink
    series: tuple[Series, ...]
    axis: Axis
    percent: bool  # the values are fractions, the labels per cent
    height: int


@dataclass(frozen=True, eq=False, slots=True)
class Chart:
    """What a chart shows. Steps are inclusive."""

    panels: tuple[Panel, ...]
    span: tuple[int, int]
    onset: int | None
    onset_label: str
    affected: tuple[tuple[int, int], ...]
    attempts: tuple[tuple[int, str], ...]  # first step and label of each later attempt
    axis_title: str


@dataclass(frozen=True, slots=True)
class ChartView:
    """A drawn chart and what it shows, in words; parts stand below each other."""

    svgs: tuple[str, ...]
    alt: str


def chart_svg(chart: Chart) -> str:
    """The chart as SVG text with a viewBox; fonts by name, nothing loaded from anywhere."""
    return spec_svg(chart_spec(chart))


def panel_svgs(chart: Chart) -> tuple[str, ...]:
    """Each panel as a drawing of its own, with its own labels of the steps."""
    last = len(chart.panels) - 1
    return tuple(
        spec_svg(_lone_panel(chart, panel, first=i == 0, last=i == last))
        for i, panel in enumerate(chart.panels)
    )


def spec_svg(spec: Spec) -> str:
    """A specification as SVG text, in the same manner."""
    import vl_convert  # slow to load, and a check never draws

    for folder in font_folders():
        vl_convert.register_font_directory(str(folder))
    return _lean(vl_convert.vegalite_to_svg(spec, vl_version=VEGA_LITE, allowed_base_urls=[]))


def chart_spec(chart: Chart) -> Spec:
    """The chart as a Vega-Lite specification with its data inside."""
    spec = skeleton("stack")
    last = len(chart.panels) - 1
    spec["vconcat"] = [
        _panel_spec(chart, panel, first=i == 0, last=i == last)
        for i, panel in enumerate(chart.panels)
    ]
    return spec


def _lone_panel(chart: Chart, panel: Panel, *, first: bool, last: bool) -> Spec:
    """A panel that has the width of every other, wherever it stands."""
    spec = skeleton("stack")
    spec["vconcat"] = [_panel_spec(chart, panel, first=first, last=last, labels=True)]
    return spec


def _panel_spec(
    chart: Chart, panel: Panel, *, first: bool, last: bool, labels: bool = False
) -> Spec:
    spec = skeleton("panel")
    spec["height"] = panel.height
    spec["title"] = {"text": list(panel.title), "color": COLOURS[panel.ink]}
    rows = _series_rows(panel) | _limit_rows(chart, panel, spec["width"]) | _step_rows(chart)
    if first:
        rows |= _label_rows(chart)
    spec["layer"] = [
        _layer(copy.deepcopy(layer), part, chart, panel, last=last, labels=labels or last)
        for layer in spec["layer"]
        for part in _parts(layer["name"], rows)
    ]
    return spec


def _parts(name: str, rows: dict[str, list[Spec]]) -> list[list[Spec]]:
    """The rows of a layer; each limit's label is a layer of its own, for its alignment."""
    if name in ("limit-labels", "limit-halos"):
        return [[row] for row in rows[name]]
    return [rows[name]] if rows.get(name) else []


def _layer(
    layer: Spec, rows: list[Spec], chart: Chart, panel: Panel, *, last: bool, labels: bool
) -> Spec:
    name = layer.pop("name")  # Vega-Lite would share the data of equal names across panels
    layer["data"] = {"values": rows}
    _adjust(name, layer, chart, panel)
    _set_axes(layer["encoding"], chart, panel, last=last, labels=labels)
    return layer


def _adjust(name: str, layer: Spec, chart: Chart, panel: Panel) -> None:
    mark = layer["mark"]
    if name in ("line", "points"):
        mark["color"] = COLOURS[panel.ink]
    elif name in ("limit-labels", "limit-halos"):
        mark |= _label_place(layer["data"]["values"][0])
    elif name in ("nan", "inf-down"):
        mark["y"] = panel.height
    elif name == "onset-label" and chart.onset is not None:
        right_half = _across(chart, np.array([chart.onset]))[0] > 0.5
        mark |= {"align": "right", "dx": 1} if right_half else {"align": "left", "dx": -1}


def _label_place(row: Spec) -> Spec:
    return {
        "align": "left" if row["left"] else "right",
        "dx": 4 if row["left"] else -4,
        "baseline": "bottom" if row["above"] else "top",
        "dy": -1 if row["above"] else 3,
    }


def _set_axes(encoding: Spec, chart: Chart, panel: Panel, *, last: bool, labels: bool) -> None:
    if "x" in encoding:
        encoding["x"]["scale"] = {
            "domain": [chart.span[0], max(chart.span[1], chart.span[0] + 1)],
            "nice": False,
        }
        encoding["x"]["axis"] = {
            "title": chart.axis_title if last else None,
            "titleAnchor": "end",
            "labels": labels,
            "ticks": labels,
            "tickMinStep": 1,
            "labelOverlap": True,
            "format": "d",
        }
    if "y" in encoding:
        encoding["y"]["scale"] = _y_scale(panel.axis)
        encoding["y"]["axis"] = {
            "title": None,
            "values": list(panel.axis.ticks),
            "labelOverlap": True,
            "labelExpr": tick_label(panel.axis, panel.percent),
        }


def _y_scale(axis: Axis) -> Spec:
    return {
        "type": "log" if axis.log else "linear",
        "domain": [axis.low, axis.high],
        "nice": False,
        "zero": False,
    }


def tick_label(axis: Axis, percent: bool) -> str:
    """The expression that writes a tick; `percent` where the values are fractions."""
    if percent and not axis.log:
        return f"format(datum.value * 100, ',.{max(0, axis.decimals - 2)}f') + '\u202f%'"
    largest = max(abs(axis.low), abs(axis.high))
    if axis.log:
        return "format(datum.value, '~g')"
    if largest >= 1e6 or largest < 1e-3:
        return f"format(datum.value, '{'.3~s' if largest >= 1 else '.1~e'}')"
    return f"format(datum.value, ',.{axis.decimals}f')"


def _series_rows(panel: Panel) -> dict[str, list[Spec]]:
    rows: dict[str, list[Spec]] = {}
    for series, suffix in zip(panel.series, ("", "-second"), strict=False):
        steps, values, piece = drawn(series)
        line = [
            {"step": int(s), "value": float(v), "piece": int(p)}
            for s, v, p in zip(steps, values, piece, strict=True)
        ]
        rows["line" + suffix] = line
        counts = dict(zip(*np.unique(piece, return_counts=True), strict=True))
        dense = len(series) >= SPARSE
        rows["points" + suffix] = [r for r in line if not dense or counts[r["piece"]] == 1]
    return rows | _nonfinite_rows(panel)


def drawn(series: Series) -> tuple[Steps, Floats, Steps]:
    """Steps, values and piece numbers of the points that a line is drawn through."""
    piece = pieces(series.steps, series.values)
    finite = np.isfinite(series.values)
    kept = keep_extremes(series.values[finite])
    return series.steps[finite][kept], series.values[finite][kept], piece[finite][kept]


def _nonfinite_rows(panel: Panel) -> dict[str, list[Spec]]:
    rows: dict[str, list[Spec]] = {}
    for series in panel.series:
        kinds = (
            ("nan", np.isnan(series.values)),
            ("inf-up", np.isposinf(series.values)),
            ("inf-down", np.isneginf(series.values)),
        )
        for name, which in kinds:
            steps = series.steps[which]
            every = max(1, -(-len(steps) // MARKS))
            rows.setdefault(name, []).extend({"step": int(s)} for s in steps[::every])
    return rows


def _limit_rows(chart: Chart, panel: Panel, width: float) -> dict[str, list[Spec]]:
    lines = [drawn(series) for series in panel.series]
    across = np.concatenate([_across(chart, steps) for steps, _, _ in lines])
    values = np.concatenate([values for _, values, _ in lines])
    labels = [
        {
            "step": chart.span[0] if placed.left else chart.span[1],
            "value": placed.value,
            "label": placed.label,
            "left": placed.left,
            "above": placed.above,
        }
        for placed in place(panel.axis, across, values, width, panel.height)
    ]
    limits = [{"value": value} for _, value in panel.axis.limits]
    return {"limits": limits, "limit-labels": labels, "limit-halos": labels}


def _step_rows(chart: Chart) -> dict[str, list[Spec]]:
    onset = [] if chart.onset is None else [{"step": chart.onset}]
    return {
        "affected": _stretches(chart),
        "onset": onset,
        "attempts": [{"step": step} for step, _ in chart.attempts],
    }


def _stretches(chart: Chart) -> list[Spec]:
    """The affected stretches, wide enough to be seen; those that then touch are one."""
    first, last = chart.span
    least = LEAST_WIDTH * (last - first)
    rows: list[Spec] = []
    for start, end in sorted(chart.affected):
        room = max(0.0, least - (end - start)) / 2
        low, high = max(first, start - room), min(last, end + room)
        if rows and low <= rows[-1]["to"]:
            rows[-1]["to"] = max(rows[-1]["to"], high)
        else:
            rows.append({"from": low, "to": high})
    return rows


def _label_rows(chart: Chart) -> dict[str, list[Spec]]:
    onset = [] if chart.onset is None else [{"step": chart.onset, "label": chart.onset_label}]
    attempts: list[Spec] = []
    taken = [chart.onset] if chart.onset is not None else []
    for step, label in chart.attempts:
        places = _across(chart, np.array([step, *taken]))
        if np.all(np.abs(places[1:] - places[0]) >= ATTEMPT_ROOM):
            attempts.append({"step": step, "label": label})
            taken.append(step)
    return {"onset-label": onset, "attempt-labels": attempts}


def _across(chart: Chart, steps: Steps) -> Floats:
    first, last = chart.span
    return (steps - first) / max(1, last - first)


def skeleton(name: str) -> Spec:
    """A copy of the specification of that name in templates/charts."""
    spec: Spec = copy.deepcopy(_read_skeleton(name))
    return spec


@cache
def _read_skeleton(name: str) -> Spec:
    text = (templates_dir() / "charts" / f"{name}.json").read_text("utf-8")
    spec: Spec = json.loads(text)
    return spec


_NUMBER = re.compile(r"-?\d+\.\d{3,}(?!\d*e)")
_ROLES = re.compile(r' (?:role|aria-[a-z]+|pointer-events|class)="[^"]*"')


def _lean(svg: str) -> str:
    """The SVG with coordinates to a hundredth of a pixel, without marks for scripts."""
    svg = re.sub(r'(?<=[ (])(?:d|transform|x2?|y2?|width|height)="[^"]*"', _round_numbers, svg)
    return _ROLES.sub("", svg)


def _round_numbers(match: re.Match[str]) -> str:
    return _NUMBER.sub(lambda number: f"{float(number[0]):.2f}".rstrip("0").rstrip("."), match[0])
