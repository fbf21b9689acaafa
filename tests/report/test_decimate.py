"""Decimation keeps spikes; pieces break at gaps and at values that are not finite."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from analyzer.report.decimate import POINTS, keep_extremes, pieces


def test_a_short_line_is_kept_whole() -> None:
    assert keep_extremes(np.arange(400.0)).tolist() == list(range(400))


def test_a_spike_of_one_step_survives() -> None:
    values = np.zeros(5000)
    values[3217], values[41] = 9.0, -7.0
    kept = keep_extremes(values)
    assert len(kept) <= POINTS
    assert {41, 3217} <= set(kept.tolist())
    assert kept[0] == 0 and kept[-1] == 4999


def test_four_of_ten_by_hand() -> None:
    """One stretch between the ends: its lowest is at 3, its highest at 6."""
    values = np.array([5.0, 4, 4, 1, 4, 4, 8, 4, 4, 5])
    assert keep_extremes(values, points=4).tolist() == [0, 3, 6, 9]


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=3000), st.integers(4, 400))
def test_extremes_are_always_kept(numbers: list[float], points: int) -> None:
    values = np.array(numbers)
    kept = keep_extremes(values, points)
    assert len(kept) <= max(points, 1)
    assert values[kept].min() == values.min() and values[kept].max() == values.max()
    assert (np.diff(kept) > 0).all()


def test_a_line_breaks_at_nan_and_at_a_gap() -> None:
    steps = np.array([0, 1, 2, 3, 4, 20, 21])
    values = np.array([1.0, 1, np.nan, 1, 1, 1, 1])
    numbers = pieces(steps, values)
    drawn = numbers[np.isfinite(values)]
    assert [len(set(part)) for part in (drawn[:2], drawn[2:4], drawn[4:])] == [1, 1, 1]
    assert len(set(drawn.tolist())) == 3


def test_a_sparse_series_has_no_gaps() -> None:
    """An evaluation every twelve steps is one line."""
    assert set(pieces(np.arange(0, 240, 12), np.ones(20)).tolist()) == {0}


def test_no_values_no_pieces() -> None:
    assert len(pieces(np.zeros(0, dtype=np.int64), np.zeros(0))) == 0
