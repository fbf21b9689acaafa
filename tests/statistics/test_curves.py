"""Differences of curves: values by hand, false differences on equal pairs, true ones found."""

from __future__ import annotations

import numpy as np
import pytest
from noise_series import ar1, white

from analyzer.statistics.curves import curve_difference, half_way, measures, reach_place, rises
from analyzer.statistics.fdr import survivors


def test_measures_by_hand() -> None:
    x = np.arange(50.0)
    level, rise, area = measures(x) @ (2.0 + 0.1 * x)
    assert level == pytest.approx(2.0 + 0.1 * 44.5)  # the last ten: 40 to 49
    assert rise == pytest.approx(4.9)  # 0.1 over 49 places
    assert area == pytest.approx((2.0 + 6.9) / 2)


def test_the_area_by_trapezoids_over_uneven_gaps() -> None:
    x = np.array([0.0, 1.0, 3.0, 7.0, *range(8, 16)])
    values = np.zeros(12)
    values[:4] = 2.0, 4.0, 0.0, 6.0
    # 3 + 4 + 12, and 3 down to the zero at 8, over 15
    assert float(measures(x)[2] @ values) == pytest.approx((3 + 4 + 12 + 3) / 15)


def test_half_of_the_rise_by_hand() -> None:
    x = np.arange(101.0)
    quick, slow = np.clip(x / 50.0, 0, 1), x / 100.0
    # Means of the first fifth (20 values): 0.19 and 0.095; of the last: 1 and 0.905.
    target = half_way([quick, slow])
    assert target == pytest.approx(((0.19 + 0.095) / 2 + 0.905) / 2)
    assert reach_place(x, np.stack([quick, slow]), target) == pytest.approx(
        [50 * target, 100 * target], abs=1e-9
    )


def test_only_a_clear_rise_has_a_half() -> None:
    assert rises(np.arange(60.0) + white(1, 60))
    assert not rises(white(2, 60))
    assert not rises(-np.arange(60.0))
    assert not rises(np.ones(60))


@pytest.mark.parametrize(("n", "rho"), [(100, 0.0), (100, 0.7), (200, 0.7), (60, 0.5)])
def test_forty_equal_pairs_give_at_most_two_false_differences(n: int, rho: float) -> None:
    shared = 3.0 * (1.0 - np.exp(-np.arange(n) / (n / 4)))  # a learning curve that both have
    x, false = np.arange(float(n)), 0
    for a, b in zip(ar1(31, 40, n, rho), ar1(32, 40, n, rho), strict=True):
        found = curve_difference(x, shared + a, shared + b, 0.95, rising=True)
        rows = [r for r in (found.level, found.rise, found.area, found.reach) if r is not None]
        false += any(survivors([row.p_value for row in rows], 0.05))
    assert false <= 2


def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    n, x = 150, np.arange(150.0)
    outside = np.zeros(3)
    for a, b in zip(ar1(41, 200, n, 0.7), ar1(42, 200, n, 0.7), strict=True):
        found = curve_difference(x, a + 0.5, b, 0.95, rising=False)
        truths = ((found.level, 0.5), (found.rise, 0.0), (found.area, 0.5))
        outside += [not row.low <= truth <= row.high for row, truth in truths]
    # 5 % of 200, and three standard errors of that count above it
    assert np.all(outside <= 10 + 3 * np.sqrt(10))
    assert outside.sum() > 0


def test_a_true_difference_is_found() -> None:
    n, x = 200, np.arange(200.0)
    grows = 3.0 * x / x[-1]
    found = [
        curve_difference(x, a + grows, b, 0.95, rising=False)
        for a, b in zip(ar1(51, 20, n, 0.5), ar1(52, 20, n, 0.5), strict=True)
    ]
    assert sum(f.level.low > 0 and f.rise.low > 0 and f.area.low > 0 for f in found) >= 16


def test_a_run_that_explodes_is_told_from_one_that_does_not() -> None:
    """The difference is a drift, not a memory that hides it."""
    x = np.arange(200.0)
    late = 1000.0 * np.clip((x - 150) / 50, 0, 1)
    found = curve_difference(
        x, 700 + late + 20 * white(1, 200), 700 + 20 * white(2, 200), 0.95, False
    )
    assert found.level.low > 400 and found.rise.low > 0


def test_equal_curves_differ_by_exactly_nothing() -> None:
    x = np.arange(40.0)
    found = curve_difference(x, 0.1 * x, 0.1 * x, 0.95, rising=False)
    assert (found.level.low, found.level.high, found.level.p_value) == (0.0, 0.0, 1.0)
    apart = curve_difference(x, 0.1 * x + 1, 0.1 * x, 0.95, rising=False)
    assert apart.level.value == pytest.approx(1.0)
    assert apart.level.p_value == 0.0


def test_the_same_input_gives_the_same_interval() -> None:
    x, a, b = np.arange(80.0), white(1, 80), white(2, 80)
    assert curve_difference(x, a, b, 0.95, True) == curve_difference(x, a, b, 0.95, True)


def test_too_few_places_are_refused() -> None:
    with pytest.raises(ValueError, match="20 places"):
        curve_difference(np.arange(19.0), np.ones(19), np.ones(19), 0.95, rising=False)
