"""The pictures of a replay."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import pytest
from replay_parts import bins, points, worst

from analyzer.findings.replayed import HistogramBin, ReplayPictures, TokenWeight
from analyzer.report.replay_chart import (
    EXTREMES,
    POINTS,
    thinned,
    weight_ticks,
    weights_chart,
)
from analyzer.report.words import load_words

WORDS = load_words("en")


def test_two_thousand_points_and_forty_bins_stay_below_40_kb() -> None:
    assert len(points()) == 2000
    chart = weights_chart(ReplayPictures(points(), bins(), worst()), WORDS)
    assert chart is not None and len(chart.svgs[0].encode()) < 40_000
    assert "row 3, which deviates most" in chart.alt and "line: control" in chart.alt


def test_thinning_keeps_the_largest_deviations_and_one_of_each_cell() -> None:
    made = points()
    kept = thinned(made, (0.5, 6.0), 3720)
    assert len(kept) <= POINTS and kept == [p for p in made if p in set(kept)]
    deviation = [abs(math.log(p.weight)) for p in made]
    cutoff = sorted(deviation)[-EXTREMES]
    assert {p for p, d in zip(made, deviation, strict=True) if d >= cutoff} <= set(kept)
    assert thinned(made[:POINTS], (0.5, 6.0), 3720) == list(made[:POINTS])


def test_ticks_are_decades_or_even_steps() -> None:
    assert weight_ticks(0.08, 12) == [0.1, 1, 10]
    assert weight_ticks(0.4, 5.5) == [0.5, 1, 2, 5]
    assert weight_ticks(0.97, 1.03) == pytest.approx([0.98, 1.0, 1.02])


def test_weights_that_have_no_place_on_a_log_axis_are_counted() -> None:
    odd = tuple(TokenWeight(0, i, w) for i, w in enumerate((0.0, math.inf, math.nan, 1.5)))
    chart = weights_chart(ReplayPictures(odd), WORDS)
    assert chart is not None and "3 tokens without a finite weight above 0" in chart.alt


def test_equal_weights_are_drawn() -> None:
    assert weights_chart(ReplayPictures((TokenWeight(0, 0, 1.0),)), WORDS) is not None


def test_nothing_to_draw_is_no_chart() -> None:
    assert weights_chart(ReplayPictures(), WORDS) is None
    empty = (HistogramBin(0.9, 1.1, 0, 0),)
    assert weights_chart(ReplayPictures((), empty), WORDS) is None


def test_a_histogram_without_a_control_has_no_line() -> None:
    alone = tuple(replace(one, control=0) for one in bins())
    chart = weights_chart(ReplayPictures((), alone), WORDS)
    assert chart is not None and "control" not in chart.alt
    assert not re.search(r'<path[^>]*fill="none"[^>]*stroke="#1b1b1f"', chart.svgs[0])
