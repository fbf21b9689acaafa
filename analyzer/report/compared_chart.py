"""The picture of a compared series: both curves with their bands, and the difference below."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from analyzer.compare.model import AXIS_UNITS, Align, Band, Measure, MetricDifference
from analyzer.findings.numbers import format_value
from analyzer.report.charts import ChartView, Spec, skeleton, spec_svg, tick_label
from analyzer.report.scale import Axis, make_axis
from analyzer.report.show import signed
from analyzer.report.words import Words
from analyzer.tables.evidence import Floats

POINTS = 128  # of a smoothed curve, which has nothing finer than a tenth of its length
RIGHT = 0.7  # of the width: a label from here on stands left of its mark


def difference_words(row: Measure, words: Words) -> str:
    """A difference with its interval."""
    d, unit = row.difference, row.unit
    text = words(
        "compared.difference",
        value=signed(d.value, unit),
        low=signed(d.low, unit),
        high=signed(d.high, unit),
    )
    return text.replace("%", words("compared.points")) if unit == "fraction" else text


def compared_chart(
    metric: MetricDifference, role: str, align: Align, verdict: str, words: Words
) -> ChartView:
    """Both panels of a series; `role` names the other side, `verdict` is in the page's words."""
    curves, parting = metric.curves, _parting(metric, align, words)
    titles = (
        words(
            "compared.chart.curves",
            series=words.series(metric.metric),
            logged=metric.logged_as,
            role=role,
        ),
        words(
            "compared.chart.difference",
            difference=difference_words(metric.level, words),
            verdict=verdict,
        ),
    )
    mine, other, apart = (
        _rows(band, curves.places) for band in (curves.mine, curves.other, curves.difference)
    )
    rows = {"mine": mine, "mine-band": mine, "other": other, "other-band": other}
    rows |= {"difference": apart, "band": apart, "zero": [{"value": 0.0}]}
    rows |= {"parting": parting, "parting-label": parting}
    axes = {
        "curves": _axis((curves.mine, curves.other)),
        "difference": _axis((curves.difference,), difference=True),
    }
    spec, panels = skeleton("stack"), skeleton("compared")
    for (name, axis), title in zip(axes.items(), titles, strict=True):
        panel = panels[name]
        panel["title"]["text"] = title
        labels = words(f"compared.axis.{align}") if name == "difference" else None
        across = _across(metric, labels)
        _fill(panel, rows, across, _up(axis, percent=metric.unit == "fraction"))
        spec["vconcat"].append(panel)
    alt = words("chart.alt", titles=words("list.semicolon").join(titles))
    return ChartView((spec_svg(spec),), alt)


def _rows(band: Band, places: Floats) -> list[Spec]:
    kept = np.unique(np.linspace(0, len(places) - 1, POINTS).astype(np.intp))
    columns = (places, band.middle, band.low, band.high)
    return [
        dict(zip(("place", "middle", "low", "high"), row, strict=True))
        for row in np.stack(columns, axis=1)[kept].tolist()
    ]


def _parting(metric: MetricDifference, align: Align, words: Words) -> list[Spec]:
    at = metric.parting
    if at is None:
        return []
    label = words("compared.chart.part.start")
    if at.place > metric.first:
        place = format_value(at.place, AXIS_UNITS[align])
        label = words(f"compared.chart.part.{align}", place=place)
    return [{"place": at.place, "label": label}]


def _axis(bands: Sequence[Band], *, difference: bool = False) -> Axis:
    """Of all that is drawn. What is never below 0 has no axis below it, whatever its band."""
    values = np.concatenate([edge for band in bands for edge in (band.low, band.high)])
    if difference:
        return make_axis(np.append(values, 0.0))
    if min(float(band.middle.min()) for band in bands) >= 0.0:
        values = np.maximum(values, 0.0)
    return make_axis(values)


def _up(axis: Axis, percent: bool) -> Spec:
    return {
        "scale": {
            "type": "log" if axis.log else "linear",
            "domain": [axis.low, axis.high],
            "nice": False,
            "zero": False,
        },
        "axis": {
            "title": None,
            "values": list(axis.ticks),
            "labelOverlap": True,
            "labelExpr": tick_label(axis, percent),
        },
    }


def _across(metric: MetricDifference, title: str | None) -> Spec:
    """The axis of places, with its labels where it has a title."""
    labels = title is not None
    return {
        "scale": {"domain": [metric.first, metric.last], "nice": False},
        "axis": {
            "title": title,
            "titleAnchor": "end",
            "labels": labels,
            "ticks": labels,
            "labelOverlap": True,
            "format": ",d",
        },
    }


def _fill(panel: Spec, rows: Mapping[str, list[Spec]], across: Spec, up: Spec) -> None:
    panel["layer"] = [layer for layer in panel["layer"] if rows[layer["name"]]]
    first, last = across["scale"]["domain"]
    for layer in panel["layer"]:
        layer["data"] = {"values": rows[layer.pop("name")]}
        for channel, settings in (("x", across), ("y", up)):
            if channel in layer["encoding"]:
                layer["encoding"][channel] |= settings
        if layer["mark"]["type"] == "text":
            right = layer["data"]["values"][0]["place"] > first + RIGHT * (last - first)
            layer["mark"]["align"] = "right" if right else "left"
