from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from noise_series import ar1, ramp, white
from scipy import stats

from analyzer.statistics.trend import (
    block_sign_p,
    kendall_s,
    pair_slopes,
    theil_sen,
    trend,
)


def test_s_is_kendalls() -> None:
    values = white(61, 70)
    steps = np.arange(70)
    s, variance = kendall_s(values, pair_slopes(steps, values))
    assert s == round(stats.kendalltau(steps, values).statistic * 70 * 69 / 2)
    assert variance == 70 * 69 * 145 / 18


def test_variance_with_ties_is_that_of_all_permutations() -> None:
    values = [1.0, 1.0, 2.0, 3.0, 3.0, 3.0]
    steps = np.arange(6)
    all_s = [kendall_s(v := np.array(p), pair_slopes(steps, v))[0] for p in permutations(values)]
    _, variance = kendall_s(v := np.array(values), pair_slopes(steps, v))
    assert variance == pytest.approx(np.var(all_s))
    assert np.mean(all_s) == pytest.approx(0.0)


@pytest.mark.parametrize("n", [20, 37, 80])
def test_slope_and_interval_are_theil_sens(n: int) -> None:
    rng = np.random.default_rng(n)
    steps = np.cumsum(rng.integers(1, 4, n))
    values = 0.3 * steps + rng.standard_normal(n)
    slopes = pair_slopes(steps, values)
    _, variance = kendall_s(values, slopes)
    expected = stats.theilslopes(values, steps, 0.95)
    found = theil_sen(slopes, stats.norm.ppf(0.975) * np.sqrt(variance))
    assert found == pytest.approx((expected[0], expected[2], expected[3]))


def test_memory_makes_the_interval_wider() -> None:
    steps = np.arange(200)
    calm = trend(steps, ar1(62, 1, 200, 0.0)[0])
    slow = trend(steps, ar1(62, 1, 200, 0.8)[0])
    assert slow.rho > 0.6
    assert calm.rho < 0.4
    assert slow.slope_high - slow.slope_low > 1.8 * (calm.slope_high - calm.slope_low)


def test_interval_of_the_change_covers_it() -> None:
    steps = np.arange(100)
    covered = []
    for noise in ar1(63, 150, 100, 0.5):
        low, high = trend(steps, noise + 0.04 * steps, confidence=0.9).change_interval
        covered.append(low <= 0.04 * 99 <= high)
    assert np.mean(covered) >= 0.88


def test_change_is_in_the_units_of_the_series() -> None:
    steps = np.arange(0, 1000, 10)
    found = trend(steps, 5.0 + 0.02 * steps + 0.001 * white(64, 100))
    assert found.change == pytest.approx(0.02 * 990, rel=1e-3)
    assert found.span == 990


def test_size_sees_a_late_rise() -> None:
    steps = np.arange(240)
    late = ramp(240, 200, 225, 1.0) + 0.05 * white(65, 240)
    found = trend(steps, late)
    assert found.p_value < 1e-4
    assert abs(found.change) < 0.2
    assert found.size == pytest.approx(1.0, abs=0.1)


@pytest.mark.parametrize("noise", [0.1, 0.03, 0.003, 0.0])
def test_curved_drift_is_no_memory(noise: float) -> None:
    t = np.arange(240)
    curve = 0.42 - 0.12 * (1 - np.exp(-t / 60)) + 0.12 * noise * white(66, 240)
    assert trend(t, curve).p_value < 1e-4


def test_constant_and_two_values() -> None:
    steps = np.arange(30)
    still = trend(steps, np.full(30, 2.0))
    assert (still.p_value, still.change, still.size) == (1.0, 0.0, 0.0)
    flips = trend(steps, np.arange(30.0) % 2)
    assert flips.p_value > 0.5


def test_block_signs_by_hand() -> None:
    # 68 values make 17 blocks of four and 16 changes, all up: 2 · 2^−16.
    assert block_sign_p(np.arange(68.0)) == pytest.approx(2 * 2.0**-16)
    assert block_sign_p(np.zeros(68)) == 1.0
    assert block_sign_p(np.arange(11.0)) == 1.0


def test_too_few_values() -> None:
    with pytest.raises(ValueError, match="needs 10 values"):
        trend(np.arange(9), np.arange(9.0))
