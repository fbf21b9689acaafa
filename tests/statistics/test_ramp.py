from __future__ import annotations

import numpy as np
import pytest
from noise_series import ar1, ramp, white

from analyzer.statistics.ramp import departure, fit_ramp, held_until, start_interval


def squares(values: np.ndarray, start: int, end: int) -> float:
    """What least squares leaves of the values, from a solver that knows nothing of ramps."""
    shape = np.clip((np.arange(len(values)) - start) / (end - start), 0, 1)
    design = np.column_stack([np.ones(len(values)), shape])
    left = values - design @ np.linalg.lstsq(design, values, rcond=None)[0]
    return float(left @ left)


@pytest.mark.parametrize("seed", range(4))
def test_is_the_best_of_all_ramps(seed: int) -> None:
    n = 16
    values = white(seed, n) + ramp(n, 5, 9, 4.0)
    allowed = [(a, b) for a in range(n) for b in range(a + 1, n) if 2.5 <= (a + b) / 2 <= n - 3.5]
    best = min(allowed, key=lambda corners: squares(values, *corners))
    found = fit_ramp(values)
    assert (found.start, found.end) == best
    assert float(found.residuals @ found.residuals) == pytest.approx(squares(values, *best))


def test_levels_of_a_noiseless_ramp() -> None:
    found = fit_ramp(7.0 + ramp(100, 30, 70, -5.0))
    assert (found.start, found.end) == (30, 70)
    assert (found.before, found.after) == pytest.approx((7.0, 2.0))
    assert found.change == pytest.approx(-5.0)


def test_a_line_and_a_step_are_ramps() -> None:
    line = fit_ramp(np.linspace(0, 1, 60))
    assert (line.start, line.end) == (0, 59)
    step = fit_ramp(np.repeat([0.0, 1.0], [25, 35]), widest=1)
    assert (step.start, step.end) == (24, 25)


def test_interval_of_the_start_covers_it_nineteen_times_of_twenty() -> None:
    n, start = 120, 50
    covered = []
    for noise in ar1(51, 200, n, 0.3):
        found = fit_ramp(noise + ramp(n, start, 90, 8.0))
        covered.append(found.start_low <= start <= found.start_high)
    assert np.mean(covered) >= 0.93


def test_too_few_values() -> None:
    with pytest.raises(ValueError, match="needs 7 values"):
        fit_ramp(np.arange(6.0))


def test_constant_has_a_ramp_of_no_height() -> None:
    found = fit_ramp(np.full(20, 3.0))
    assert found.change == 0.0
    assert 0 <= found.start_low <= found.start_high < 20


def test_departure_of_a_gentle_start() -> None:
    t = np.arange(240)
    curve = 1 / (1 + np.exp(-(t - 140) / 25))
    values = curve + 0.01 * white(52, 240)
    found = fit_ramp(values)
    # Four standard errors of a median of five points are 0.02, which the curve passes at step 45.
    assert 25 <= departure(values, found) <= 65 < found.start


def test_departure_of_a_sharp_start() -> None:
    values = ramp(100, 60, 90, 10.0) + 0.1 * white(53, 100)
    found = fit_ramp(values)
    assert abs(departure(values, found) - 60) <= 2


def test_held_until_the_end_or_until_it_goes_back() -> None:
    stays = ramp(200, 40, 80, 5.0) + 0.3 * white(54, 200)
    assert held_until(stays, fit_ramp(stays)) == 199
    back = stays.copy()
    back[150:] -= 5.0
    assert held_until(back, fit_ramp(stays)) == pytest.approx(149, abs=3)


def test_a_start_is_not_before_a_learning_curve_leaves_its_level() -> None:
    t = np.arange(500)
    curve = 12 * (1 - np.exp(-np.clip(t - 200, 0, None) / 83)) + white(66, 500)
    found = fit_ramp(curve)
    low, high = start_interval(curve, found)
    assert found.start_high < 200  # a straight line through the bend starts before it
    assert low <= 200 <= high <= 215
