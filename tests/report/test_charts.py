"""The chart's specification and its SVG."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest
from report_parts import series

from analyzer.report.charts import Chart, Panel, chart_spec, chart_svg, drawn
from analyzer.report.scale import make_axis
from analyzer.tables.evidence import Series


def panel(one: Series, limits: tuple[tuple[str, float], ...] = ()) -> Panel:
    values = one.values[np.isfinite(one.values)]
    axis = make_axis(values, limits)
    return Panel((one.logged_as,), "wrong", (one,), axis, one.unit == "fraction", 60)


def chart(*panels: Panel, **changes: Any) -> Chart:
    values: dict[str, Any] = {
        "panels": panels,
        "span": (0, 99),
        "onset": 60,
        "onset_label": "onset: step 60",
        "affected": ((60, 99),),
        "attempts": (),
        "axis_title": "training step",
    } | changes
    return Chart(**values)


def marks(spec: dict[str, Any], shape: str) -> list[list[dict[str, Any]]]:
    """Rows of every layer of that mark in the first panel."""
    layers = spec["vconcat"][0]["layer"]
    return [layer["data"]["values"] for layer in layers if layer["mark"]["type"] == shape]


def test_values_that_are_not_finite_are_marked_at_their_steps() -> None:
    values = [0.1] * 100
    values[10] = values[11] = float("nan")
    values[50] = float("inf")
    spec = chart_spec(chart(panel(series("x", "fraction", "a/x", values))))
    points = [[row["step"] for row in rows] for rows in marks(spec, "point")]
    assert [10, 11] in points and [50] in points
    (line,) = marks(spec, "line")
    assert len(line) == 97
    assert len({row["piece"] for row in line}) == 3


def test_limits_are_dashed_and_named_and_the_onset_is_not() -> None:
    one = series("x", "fraction", "a/x", np.linspace(0, 0.4, 100).tolist())
    spec = chart_spec(chart(panel(one, (("limit: 5 %", 0.05),))))
    rules = [layer for layer in spec["vconcat"][0]["layer"] if layer["mark"]["type"] == "rule"]
    dashed = [rule for rule in rules if "strokeDash" in rule["mark"]]
    assert [rule["data"]["values"] for rule in dashed] == [[{"value": 0.05}]]
    assert [r["data"]["values"] for r in rules if r not in dashed] == [[{"step": 60}]]
    labels = {row["label"] for rows in marks(spec, "text") for row in rows}
    assert labels == {"limit: 5 %", "onset: step 60"}


def test_labels_of_crowded_attempts_are_left_out_and_their_lines_kept() -> None:
    one = series("x", "1", "a/x", [1.0, 2.0] * 50)
    attempts = ((20, "attempt 2"), (22, "attempt 3"), (40, "attempt 4"))
    spec = chart_spec(chart(panel(one), onset=None, attempts=attempts))
    assert [{"step": 20}, {"step": 22}, {"step": 40}] in marks(spec, "rule")
    labels = [row["label"] for rows in marks(spec, "text") for row in rows]
    assert labels == ["attempt 2", "attempt 4"]


def test_short_stretches_are_widened_and_joined() -> None:
    """At 1,000 steps a stretch is drawn at least four steps wide."""
    one = series("x", "1", "a/x", [1.0, 2.0] * 500)
    spec = chart_spec(
        chart(panel(one), span=(0, 1000), affected=((100, 100), (103, 103), (500, 600)))
    )
    (rows,) = marks(spec, "rect")
    assert rows == [{"from": 98, "to": 105}, {"from": 500, "to": 600}]


def test_a_long_line_has_at_most_400_points_in_the_svg() -> None:
    values = np.sin(np.arange(5000) / 50)
    values[2500] = 40
    one = series("x", "1", "a/x", values.tolist())
    assert len(drawn(one)[0]) <= 400
    svg = chart_svg(chart(panel(one), span=(0, 4999), onset=None, affected=()))
    longest = max(len(re.findall("[ML]", path)) for path in re.findall(r' d="([^"]*)"', svg))
    assert 300 < longest <= 400


def test_the_svg_is_text_that_loads_nothing() -> None:
    one = series("x", "fraction", "ppo_actor/x/avg", np.linspace(0, 0.4, 100).tolist())
    svg = chart_svg(chart(panel(one, (("limit: 5 %", 0.05),))))
    for text in ("ppo_actor/x/avg", "onset: step 60", "limit: 5 %", "training step", "40\u202f%"):
        assert text in svg
    assert "viewBox" in svg and "IBM Plex Sans" in svg
    assert not re.search(r'(?:href|src|id)="', svg)
    assert not re.search(r"\d\.\d{4}", svg)


def test_a_name_from_the_log_cannot_become_markup() -> None:
    one = series("x", "1", "<script>alert(1)</script>", [1.0, 2.0] * 50)
    tags: list[str] = []
    parser = HTMLParser()
    parser.handle_starttag = lambda tag, attrs: tags.append(tag)  # type: ignore[method-assign]
    parser.feed(chart_svg(chart(panel(one))))
    assert "script" not in tags and "svg" in tags


@pytest.mark.parametrize("values", [[float("nan")] * 100, [3.0], []])
def test_odd_series_are_drawn(values: list[float]) -> None:
    assert "<svg" in chart_svg(chart(panel(series("x", "tokens", "a/x", values))))
