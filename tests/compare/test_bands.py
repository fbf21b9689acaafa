"""Bands of the curves that are drawn, worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from analyzer.compare.bands import drawn_curves

PLACES = np.arange(40.0)


def test_of_several_seeds_the_interval_of_their_mean() -> None:
    levels = np.array([0.3, 0.5, 0.4, 0.1, 0.1])
    found = drawn_curves(PLACES, np.repeat(levels[:, None], 40, axis=1), 3, spread=9.0)
    # Standard deviation 0.1 of three: its mean has 0.1/√3, with two degrees of freedom.
    reach = stats.t(2).ppf(0.975) * 0.1 / 3**0.5
    assert found.mine.middle == pytest.approx(0.4)
    assert found.mine.high == pytest.approx(0.4 + reach)
    assert found.other.low == pytest.approx(0.1)
    # Of the difference, three degrees of freedom: five runs less two sides.
    assert found.difference.low == pytest.approx(0.3 - stats.t(3).ppf(0.975) * 0.1 / 3**0.5)


def test_a_side_of_one_takes_the_spread_of_the_other() -> None:
    rows = np.repeat(np.array([0.3, 0.5, 0.1])[:, None], 40, axis=1)
    found = drawn_curves(PLACES, rows, 2, spread=9.0)
    assert found.other.high - 0.1 == pytest.approx(stats.t(1).ppf(0.975) * 0.2 / 2**0.5)


def test_of_one_run_each_the_spread_that_is_assumed() -> None:
    rows = np.stack([np.full(40, 0.5), np.full(40, 0.2)])
    found = drawn_curves(PLACES, rows, 1, spread=0.1)
    t = stats.t(20).ppf(0.975)
    assert found.mine.low == pytest.approx(0.5 - 0.1 * t)
    assert found.difference.high == pytest.approx(0.3 + 0.1 * 2**0.5 * t)


def test_the_noise_of_a_smoothed_curve_is_that_of_its_mean() -> None:
    noise = np.random.default_rng(4).normal(0.0, 1.0, (2, 4000))
    found = drawn_curves(np.arange(4000.0), noise, 1, spread=0.0)
    width = 2 * 200 + 1
    t = stats.t(20).ppf(0.975)
    half = (found.mine.high - found.mine.middle)[2000]
    assert half == pytest.approx(t / width**0.5, rel=0.1)
    # The last value stands alone.
    assert (found.mine.high - found.mine.middle)[-1] == pytest.approx(t, rel=0.05)
