"""The pictures of a replay: each token's weight by its position, and how the weights are spread."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence

from analyzer.findings.replayed import HistogramBin, ReplayPictures, TokenWeight
from analyzer.report.charts import ChartView, Spec, skeleton, spec_svg
from analyzer.report.scale import nice_step
from analyzer.report.words import Words

POINTS = 700  # drawn, at most
EXTREMES = 80  # the largest deviations, which are drawn in any case
CELLS = (96, 60)  # across and up: of the points in a cell the most extreme is drawn
DOT = 1e-3  # of the width: a dot is so short a line
TITLE_LETTERS = 56
WIDE_SPAN, MIDDLE_SPAN = 30.0, 3.0  # largest weight over smallest: which ticks are read best
TICKS = 5
ROOM = 0.04  # of the weights' range on a log axis, left free at both ends


def weights_chart(pictures: ReplayPictures, words: Words) -> ChartView | None:
    """Both plots side by side; one alone, or None, where there is nothing for the other."""
    points = [p for p in pictures.points if p.weight > 0 and math.isfinite(p.weight)]
    bins = [b for b in pictures.bins if b.finding or b.control]
    if not points and not bins:
        return None
    spec = skeleton("weights")
    spec["config"] = skeleton("stack")["config"]
    spec["config"]["axisY"] = {"domain": True}
    domain = _domain([p.weight for p in points] + [w for b in bins for w in (b.low, b.high)])
    undrawn = len(pictures.points) - len(points)
    worst = _worst_row(pictures, points)
    tokens, shares = spec["hconcat"]
    plots, titles = [], []
    if points:
        titles.append(_tokens_title(worst, undrawn, words))
        _tokens(tokens, points, worst, domain, words)
        plots.append(tokens)
    if bins:
        titles.append(words("replay.chart.shares" if _controls(bins) else "replay.chart.alone"))
        _shares(shares, bins, domain, words)
        plots.append(shares)
    for plot, title in zip(plots, titles, strict=True):
        plot["title"]["text"] = _wrap(title)
    spec["hconcat"] = plots
    alt = words("replay.chart.alt", titles=words("list.semicolon").join(titles))
    return ChartView((spec_svg(spec),), alt)


def _worst_row(pictures: ReplayPictures, points: Sequence[TokenWeight]) -> int | None:
    rows = {point.row for point in points}
    named = [sequence.row for sequence in pictures.worst if sequence.row in rows]
    return next(iter(named), None) if len(rows) > 1 else None


def _tokens_title(worst: int | None, undrawn: int, words: Words) -> str:
    title = words("replay.chart.tokens")
    if worst is not None:
        title += words("list.semicolon") + words("replay.chart.worst", row=f"{worst:,}")
    if undrawn:
        title += words("list.semicolon") + words("replay.chart.undrawn", n=undrawn)
    return title


def _wrap(title: str) -> list[str]:
    narrow = any(ord(letter) > 0x2E7F for letter in title)
    return textwrap.wrap(title, TITLE_LETTERS // 2 if narrow else TITLE_LETTERS)


def _tokens(
    plot: Spec,
    points: Sequence[TokenWeight],
    worst: int | None,
    domain: tuple[float, float],
    words: Words,
) -> None:
    last = max([1, *(point.position for point in points)])
    kept = thinned(points, domain, last)
    data = {
        "one": [{"weight": 1}],
        "others": _dots([p for p in kept if p.row != worst], last),
        "worst": _dots([p for p in kept if p.row == worst], last),
    }
    across = {"scale": {"domain": [0, last], "nice": False}}
    across["axis"] = {"title": words("replay.chart.position"), "tickCount": TICKS, "format": ",d"}
    _fill(plot, data, across, _weight_axis(domain, None))


def thinned(
    points: Sequence[TokenWeight], domain: tuple[float, float], last: int
) -> list[TokenWeight]:
    """At most POINTS of the points, in their order: the largest deviations from 1, and of the
    others the most extreme in each cell of a grid, as coarse as it must be.
    """
    if len(points) <= POINTS:
        return list(points)
    ordered = sorted(points, key=lambda p: -abs(math.log(p.weight)))
    low, span = math.log(domain[0]), math.log(domain[1] / domain[0])
    across, up = CELLS
    while True:
        cells: dict[tuple[int, int], TokenWeight] = {}
        for point in ordered[EXTREMES:]:
            height = (math.log(point.weight) - low) / span
            cells.setdefault((across * point.position // (last + 1), int(up * height)), point)
        if len(cells) <= POINTS - EXTREMES:
            break
        across, up = max(1, across * 4 // 5), max(1, up * 4 // 5)
    kept = {*ordered[:EXTREMES], *cells.values()}
    return [point for point in points if point in kept]


def _dots(points: Sequence[TokenWeight], last: int) -> list[Spec]:
    """Points as one path of dots, which takes a tenth of the room of as many marks."""
    rows: list[Spec] = []
    for point in points:
        weight = float(f"{point.weight:.4g}")
        rows.append({"position": point.position, "weight": weight})
        rows.append({"position": point.position + DOT * last, "weight": weight})
        rows.append({"position": None, "weight": None})
    return rows


def _shares(
    plot: Spec, bins: Sequence[HistogramBin], domain: tuple[float, float], words: Words
) -> None:
    finding, control = sum(b.finding for b in bins), _controls(bins)
    shares = [(b.finding / max(1, finding), b.control / max(1, control)) for b in bins]
    floor = 10.0 ** math.floor(math.log10(min(s for pair in shares for s in pair if s > 0)))
    outline: list[Spec] = []
    for one, (_, share) in zip(bins, shares, strict=True):
        if share > 0:
            outline += [{"weight": edge, "share": share} for edge in (one.low, one.high)]
        else:
            outline.append({"weight": None, "share": None})
    data: dict[str, list[Spec]] = {
        "one": [{"weight": 1}],
        "finding": [
            {"low": one.low, "high": one.high, "share": share, "floor": floor}
            for one, (share, _) in zip(bins, shares, strict=True)
            if share > 0
        ],
        "control": outline if control else [],
    }
    decades = [10.0**i for i in range(round(math.log10(floor)), 1)]
    up = {"scale": {"type": "log", "domain": [floor, 1], "nice": False}}
    up["axis"] = {"title": None, "values": decades, "labelExpr": _PERCENT}
    _fill(plot, data, _weight_axis(domain, words("replay.chart.weight")), up)


_PERCENT = "format(datum.value * 100, '~g') + '\u202f%'"


def _controls(bins: Sequence[HistogramBin]) -> int:
    return sum(b.control for b in bins)


def _fill(plot: Spec, data: dict[str, list[Spec]], across: Spec, up: Spec) -> None:
    del plot["name"]
    plot["layer"] = [layer for layer in plot["layer"] if data[layer["name"]]]
    for layer in plot["layer"]:
        layer["data"] = {"values": data[layer.pop("name")]}
        for channel, settings in (("x", across), ("y", up)):
            if channel in layer["encoding"]:
                layer["encoding"][channel] |= settings


def _weight_axis(domain: tuple[float, float], title: str | None) -> Spec:
    return {
        "scale": {"type": "log", "domain": list(domain), "nice": False},
        "axis": {
            "title": title,
            "values": weight_ticks(*domain),
            "format": "~g",
            "labelOverlap": True,
        },
    }


def _domain(weights: Sequence[float]) -> tuple[float, float]:
    """The weights and 1, with some room; never empty."""
    positive = [w for w in weights if w > 0 and math.isfinite(w)]
    low, high = math.log(min([1.0, *positive])), math.log(max([1.0, *positive]))
    room = ROOM * (high - low) or 0.01
    return math.exp(low - room), math.exp(high + room)


def weight_ticks(low: float, high: float) -> list[float]:
    """Ticks of a log axis: decades, or 1-2-5, or evenly spaced where the range is narrow."""
    if high / low < MIDDLE_SPAN:
        step = nice_step((high - low) / TICKS)
        return [
            round(i * step, 10) for i in range(math.ceil(low / step), math.floor(high / step) + 1)
        ]
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    every = max(1, math.ceil(len(decades) / (2 * TICKS)))
    leads = (1, 2, 5) if high / low < WIDE_SPAN else (1,)
    ticks = [float(f"{lead}e{i}") for i in decades if i % every == 0 for lead in leads]
    return [tick for tick in ticks if low <= tick <= high]
