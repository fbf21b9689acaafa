"""A limit's label keeps off the data."""

from __future__ import annotations

import numpy as np

from analyzer.report.placement import place
from analyzer.report.scale import make_axis

ACROSS = np.linspace(0, 1, 101)


def test_the_label_goes_where_the_data_are_not() -> None:
    """Data run along the limit at the left and lie far below at the right."""
    values = np.where(ACROSS < 0.5, 5.2, 1.0)
    axis = make_axis(values, (("limit: 5", 5.0),))
    (placed,) = place(axis, ACROSS, values, 600, 60)
    assert not placed.left


def test_a_label_stays_inside_the_plot() -> None:
    """A limit at the top of the axis has its label below."""
    values = np.linspace(0, 1, 101)
    axis = make_axis(values, (("limit: 1", 1.0),))
    (placed,) = place(axis, ACROSS, values, 600, 60)
    assert not placed.above


def test_two_near_limits_have_their_labels_on_opposite_sides() -> None:
    values = np.full(101, 1.0) + np.linspace(-0.08, 0.08, 101)
    axis = make_axis(values, (("low: 0.99", 0.99), ("high: 1.01", 1.01)))
    low, high = place(axis, ACROSS, values, 600, 60)
    assert not low.above and high.above
