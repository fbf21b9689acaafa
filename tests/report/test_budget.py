"""How much fits on page one."""

from __future__ import annotations

import pytest

from analyzer.report.budget import (
    CHART,
    LEAST_CHART,
    LEAST_SCALE,
    chart_scale,
    fits,
    further_notes,
    room_for_chart,
    table_lines,
    text_lines,
)


def test_lines_of_text() -> None:
    assert text_lines(["a" * 104, "a" * 105, ""]) == 3


def test_a_chinese_letter_is_as_wide_as_two() -> None:
    assert text_lines(["长" * 52]) == 1 and text_lines(["长" * 53]) == 2


def test_a_row_of_a_table_has_white_space() -> None:
    """A head and two rows of one line each, half a line of space in each of the three."""
    assert table_lines([("a", "b"), ("a", "b")], (40, 9)) == pytest.approx(4.5)
    assert table_lines([("a", "b" * 10), ("a", "b")], (40, 9)) == pytest.approx(5.5)
    assert table_lines([], (40, 9)) == 0


def test_a_chart_shrinks_to_what_is_left() -> None:
    assert chart_scale(CHART) == 1 and chart_scale(CHART + 9) == 1
    assert chart_scale(LEAST_CHART) == chart_scale(0) == LEAST_SCALE
    assert LEAST_SCALE < chart_scale((CHART + LEAST_CHART) / 2) < 1


def test_a_page_without_chart_holds_more() -> None:
    room = room_for_chart(30, headings=2)
    assert not fits(room, panels=3) and fits(room, panels=0)
    assert fits(LEAST_CHART, panels=3) and not fits(LEAST_CHART, panels=4)


def test_a_fourth_panel_takes_room() -> None:
    assert chart_scale(CHART, panels=4) < chart_scale(CHART, panels=3)


def test_notes_beyond_three_lines_take_room() -> None:
    assert further_notes([("between 159–162", "epoch 7")]) == 0
    long = ("between 159–162", "2026-03-04 21:21:30 UTC", "epoch 7")
    assert further_notes([("x",), long]) == 1
    assert further_notes([]) == 0
