"""Steps that an experiment needs: against the textbook's formula and a simulation."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from noise_series import ar1, white

from analyzer.statistics.bootstrap import with_spread
from analyzer.statistics.curves import curve_difference
from analyzer.statistics.power import (
    MOST_SEEDS,
    MOST_STEPS,
    Noise,
    detectable,
    noise_of,
    seeds_needed,
    steps_needed,
)
from analyzer.statistics.seeds import seed_difference

KNOWN = 10**9  # values from which a noise is as good as known


def test_white_noise_as_in_a_textbook() -> None:
    # Two means of m values differ by 0.1 σ: m = 2·((1.95996 + 0.84162)/0.1)² = 1570, n = 5 m.
    # A ρ of 0 is taken as one standard error of n = 8026 above it, 0.01116: (1 + ρ)/(1 − ρ) times.
    wanted = 5 * 2 * (2.80158 / 0.1) ** 2 * (1.01116 / 0.98884)
    assert steps_needed(Noise(1.0, 0.0, KNOWN), 0.1, 0.95) == pytest.approx(wanted, rel=0.005)


def test_memory_costs_its_long_run_variance() -> None:
    # At ρ = 0.5 sums vary three times as much; the standard error of ρ at 10,000 is 0.00866.
    rho = 0.5 + math.sqrt(0.75 / 10_000)
    wanted = 2.80158 * math.sqrt(2 * (1 + rho) / (1 - rho) / 2000)
    assert detectable(Noise(1.0, 0.5, KNOWN), 10_000, 0.95) == pytest.approx(wanted, rel=0.01)


def test_more_noise_more_certainty_and_smaller_effects_cost_steps() -> None:
    noise = Noise(0.03, 0.2, 150)
    steps = steps_needed(noise, 0.05, 0.95)
    assert steps is not None
    strict, small = steps_needed(noise, 0.05, 0.998), steps_needed(noise, 0.025, 0.95)
    assert strict is not None and small is not None
    assert steps < strict < small
    # Nothing but the ratio of effect and noise counts.
    assert steps_needed(Noise(0.06, 0.2, 150), 0.1, 0.95) == steps


def test_a_short_run_is_less_sure_of_its_noise() -> None:
    known, short = Noise(1.0, 0.3, KNOWN), Noise(1.0, 0.3, 40)
    # `rho` of the short run has its own caution in it already; that of the plan must not add to it.
    assert detectable(short, 40, 0.95) < detectable(known, 40, 0.95)


def test_what_no_plan_reaches() -> None:
    assert steps_needed(Noise(1.0, 0.9, 200), 0.01, 0.95) is None
    assert detectable(Noise(1.0, 0.9, 200), MOST_STEPS, 0.95) > 0.01
    assert steps_needed(Noise(0.0, 0.0, 200), 0.01, 0.95) == 20
    with pytest.raises(ValueError, match="positive"):
        steps_needed(Noise(1.0, 0.0, 200), 0.0, 0.95)


def test_noise_is_what_is_left_of_a_learning_curve() -> None:
    curve = 3.0 * (1.0 - np.exp(-np.arange(400) / 100))
    found = [noise_of(curve + 0.2 * row) for row in ar1(5, 20, 400, 0.4)]
    assert np.median([noise.sigma for noise in found]) == pytest.approx(0.2, rel=0.1)
    # Taken on the safe side, by one standard error or more.
    assert 0.4 < np.median([noise.rho for noise in found]) < 0.6
    with pytest.raises(ValueError, match="20 values"):
        noise_of(white(1, 19))


@pytest.mark.parametrize(("rho", "confidence"), [(0.0, 0.95), (0.3, 0.95), (0.3, 0.998)])
def test_what_is_called_detectable_is_found_in_four_of_five(rho: float, confidence: float) -> None:
    effect, found = 2.0, 0
    for k, seen in enumerate(ar1(9, 40, 150, rho)):
        steps = steps_needed(noise_of(seen), effect, confidence)
        assert steps is not None
        first, second = ar1(100 + k, 2, steps, rho)
        grows = effect * np.clip(np.arange(steps) / (0.8 * steps), 0, 1)
        x = np.arange(float(steps))
        level = curve_difference(x, first + grows, second, confidence, rising=False).level
        found += level.low > 0
    assert found >= 32


def test_what_seeds_may_do_no_number_of_steps_takes_away() -> None:
    # In the limit √2·0.1·(t + z) with 20 degrees of freedom: 2.0860 and 0.8416.
    seeds = Noise(1.0, 0.0, KNOWN, 0.1, 20)
    assert detectable(seeds, MOST_STEPS, 0.95) == pytest.approx(0.41402, rel=0.05)
    assert steps_needed(seeds, 0.4, 0.95) is None
    steps = steps_needed(seeds, 0.6, 0.95)
    assert steps is not None and steps > (steps_needed(Noise(1.0, 0.0, KNOWN), 0.6, 0.95) or 0)


def test_seeds_a_side_by_hand() -> None:
    # Without step noise: (t + z)·0.1·√(2/k). k = 3: (2.7764 + 0.8416)·0.0816 = 0.2954.
    alone = Noise(0.0, 0.0, KNOWN, 0.1, 20)
    assert seeds_needed(alone, 100, 0.296, 0.95) == 3
    # k = 4: (2.4469 + 0.8416)·0.1·√(0.5/0.84) = 0.2537.
    assert seeds_needed(alone, 100, 0.295, 0.95) == 4
    assert seeds_needed(alone, 100, 0.253, 0.95) == 5
    assert seeds_needed(alone, 100, 0.01, 0.95) is None
    assert MOST_SEEDS == 8


def test_seeds_that_are_called_enough_find_it_in_four_of_five() -> None:
    noise, effect = Noise(1.0, 0.0, KNOWN, 0.3, 20), 1.0
    k = seeds_needed(noise, 100, effect, 0.95)
    assert k is not None and 2 <= k <= 5
    generator, found = np.random.default_rng(4), 0
    for _ in range(60):
        levels = generator.normal(0.0, math.hypot(0.3, 1 / math.sqrt(20)), (2, k))
        found += seed_difference(levels[0] + effect, levels[1], 0.95).difference.low > 0
    assert found >= 48


def test_one_run_a_side_with_seeds_in_its_interval_finds_it_in_four_of_five() -> None:
    effect, spread = 1.2, 0.2
    noise = replace(noise_of(white(2, 150)), seeds=spread, seeds_freedom=20)
    steps = steps_needed(noise, effect, 0.95)
    assert steps is not None
    generator, found, x = np.random.default_rng(6), 0, np.arange(float(steps))
    for _ in range(60):
        a, b = generator.standard_normal((2, steps)) + generator.normal(0, spread, (2, 1))
        level = curve_difference(x, a + effect, b, 0.95, rising=False).level
        found += with_spread(level, math.sqrt(2) * spread, 20, 0.95).low > 0
    assert found >= 48
