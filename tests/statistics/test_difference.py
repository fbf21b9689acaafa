"""Differences of levels: against Welch's test on white noise, and false alarms with memory."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from analyzer.statistics.difference import few_difference, level_difference
from analyzer.statistics.noise import difference_sigma


def ar1(generator: np.random.Generator, n: int, rho: float) -> np.ndarray:
    values = np.empty(n)
    values[0] = generator.standard_normal()
    steps = generator.standard_normal(n) * np.sqrt(1 - rho**2)
    for i in range(1, n):
        values[i] = rho * values[i - 1] + steps[i]
    return values


def test_it_is_near_welch_s_on_long_white_noise() -> None:
    generator = np.random.default_rng(3)
    a, b = 1 + generator.standard_normal(2000), 1.1 + 2 * generator.standard_normal(2000)
    found = level_difference(a, b)
    welch = stats.ttest_ind(a, b, equal_var=False)
    low, high = welch.confidence_interval(0.99)
    assert found.value == pytest.approx(a.mean() - b.mean(), abs=0.01)
    # The persistence is taken on the safe side, so the interval is a little wider.
    assert 1.0 <= (found.high - found.low) / (high - low) < 1.25


@pytest.mark.parametrize("n", [60, 200])
@pytest.mark.parametrize(("rho", "limit"), [(0.0, 0.02), (0.7, 0.02), (0.9, 0.05)])
def test_false_alarms_at_one_percent(n: int, rho: float, limit: float) -> None:
    generator = np.random.default_rng(77)
    repetitions = 600
    alarms = sum(
        level_difference(ar1(generator, n, rho), ar1(generator, n, rho)).p_value <= 0.01
        for _ in range(repetitions)
    )
    # Three standard errors of the count above the rate allowed.
    assert alarms <= repetitions * limit + 3 * np.sqrt(repetitions * limit)


def test_power() -> None:
    generator = np.random.default_rng(5)
    found = [
        level_difference(ar1(generator, 200, 0.5) + 1.0, ar1(generator, 200, 0.5)).p_value <= 0.01
        for _ in range(200)
    ]
    assert np.mean(found) > 0.95


def test_too_few_values_are_refused() -> None:
    with pytest.raises(ValueError, match="10 values"):
        level_difference(np.ones(9), np.ones(20))


def test_few_values_by_hand() -> None:
    # Means 0.6 and 0.5; σ·√(1/4 + 1/1) = 0.02·1.1180; t of 4 degrees at 97.5 % is 2.7764.
    found = few_difference(np.full(4, 0.6), np.array([0.5]), 0.02, 9, 0.95)
    assert found.value == pytest.approx(0.1)
    assert found.high - found.value == pytest.approx(0.062081, rel=1e-4)
    assert found.p_value == pytest.approx(2 * stats.t.sf(0.1 / 0.0223607, 4), rel=1e-4)
    assert few_difference(np.ones(2), np.ones(1), 0.0, 3, 0.95).p_value == 1.0
    with pytest.raises(ValueError, match="few values"):
        few_difference(np.ones(2), np.ones(0), 0.1, 9, 0.95)


@pytest.mark.parametrize("known", [5, 10, 20])
def test_equal_few_values_differ_in_one_of_twenty_at_most(known: int) -> None:
    generator, alarms = np.random.default_rng(8), 0
    for _ in range(1000):
        mine, baseline = generator.standard_normal(known), generator.standard_normal(1)
        end = mine[-max(3, known // 5) :]
        alarms += few_difference(end, baseline, difference_sigma(mine), known, 0.95).p_value <= 0.05
    assert alarms <= 70
