"""The vertical axis, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from analyzer.report.scale import make_axis, nice_step


@pytest.mark.parametrize(
    ("rough", "step"), [(0.9, 1), (1, 1), (1.1, 2), (2.1, 5), (7, 10), (0.03, 0.05), (841, 1000)]
)
def test_a_step_is_the_next_of_one_two_five(rough: float, step: float) -> None:
    assert nice_step(rough) == pytest.approx(step)


def test_lengths_start_at_zero_and_hold_their_limit() -> None:
    axis = make_axis(np.array([700.0, 3900.0]), (("cap", 4206.0),))
    assert (axis.low, axis.high) == (0, 5000)
    assert axis.ticks == (0, 1000, 2000, 3000, 4000, 5000)
    assert axis.limits == (("cap", 4206.0),) and axis.off_scale == ()


def test_a_weight_near_one_does_not_start_at_zero() -> None:
    axis = make_axis(np.array([0.998, 1.09]))
    assert axis.low == pytest.approx(0.98) and axis.high == pytest.approx(1.10)
    assert axis.decimals == 2


def test_a_limit_that_would_flatten_the_data_is_off_the_scale() -> None:
    """Data of 0.001 under a limit of 1 would fill a thousandth of the axis."""
    axis = make_axis(np.array([0.0005, 0.001]), (("limit", 1.0),))
    assert axis.limits == () and axis.off_scale == (("limit", 1.0),)
    assert axis.high == pytest.approx(0.001)


def test_a_constant_series_has_room_and_its_limit() -> None:
    axis = make_axis(np.full(5, 0.3), (("limit", 0.05),))
    assert axis.low <= 0.05 and axis.high >= 0.3 and axis.limits
    zero = make_axis(np.zeros(5))
    assert zero.low < 0 < zero.high


def test_a_spike_of_many_medians_is_drawn_in_decades() -> None:
    axis = make_axis(np.array([1.2] * 50 + [900.0]))
    assert axis.log and axis.ticks == (1, 10, 100, 1000)


def test_zero_has_no_decade() -> None:
    assert not make_axis(np.array([0.0] * 5 + [1e-9] * 5 + [900.0])).log


def test_no_values_give_an_axis_around_the_limit() -> None:
    axis = make_axis(np.zeros(0), (("limit", 5.0),))
    assert axis.low < 5 < axis.high and axis.limits
