"""Exact and rank tests of two groups, against scipy and by simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats

from analyzer.statistics.two_groups import fisher, mann_whitney

TABLES = [(3, 1, 1, 3), (12, 5, 30, 53), (0, 10, 7, 3), (0, 20, 0, 20), (200, 300, 100, 400)]


@pytest.mark.parametrize("cells", TABLES)
def test_fisher_is_that_of_scipy(cells: tuple[int, int, int, int]) -> None:
    a, b, c, d = cells
    expected = scipy.stats.fisher_exact(np.array([[a, b], [c, d]])).pvalue
    assert fisher(a, b, c, d).p == pytest.approx(expected, rel=1e-9)


def test_the_odds_ratio_has_an_interval_with_empty_cells_too() -> None:
    found = fisher(12, 5, 30, 53)
    assert found.effect == pytest.approx(12.5 * 53.5 / (5.5 * 30.5))
    half = 1.959964 * math.sqrt(1 / 12.5 + 1 / 5.5 + 1 / 30.5 + 1 / 53.5)
    assert math.log(found.high / found.effect) == pytest.approx(half, rel=1e-6)
    assert math.log(found.effect / found.low) == pytest.approx(half, rel=1e-6)
    empty = fisher(0, 10, 7, 3)
    assert 0.0 < empty.low < empty.effect < empty.high < 1.0


@pytest.mark.parametrize("seed", range(4))
def test_mann_whitney_is_that_of_scipy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = np.floor(9 * rng.random(17)) + seed / 2
    y = np.floor(9 * rng.random(30))
    expected = scipy.stats.mannwhitneyu(x, y, method="asymptotic")
    found = mann_whitney(x, y)
    assert found.p == pytest.approx(expected.pvalue, rel=1e-9)
    assert found.effect == pytest.approx(2 * expected.statistic / (17 * 30) - 1)
    assert found.low < found.effect < found.high


def test_groups_that_do_not_overlap_and_such_that_are_equal() -> None:
    apart = mann_whitney(np.arange(10.0, 20.0), np.arange(10.0))
    assert (apart.effect, apart.high) == pytest.approx((1.0, 1.0))
    assert 0.5 < apart.low < 1.0
    below = mann_whitney(np.arange(10.0), np.arange(10.0, 20.0))
    assert (below.low, below.high) == pytest.approx((-1.0, -apart.low))
    same = mann_whitney(np.ones(8), np.ones(9))
    assert (same.p, same.effect) == (1.0, 0.0)


@pytest.mark.parametrize("shift", [0.0, 1.0])
def test_the_interval_covers_the_true_effect(shift: float) -> None:
    truth = 2 * scipy.stats.norm.cdf(shift / math.sqrt(2)) - 1  # P(x > y) of two normals
    rng = np.random.default_rng(7)
    pairs = [(rng.normal(shift, 1, 20), rng.normal(0, 1, 30)) for _ in range(600)]
    found = [mann_whitney(x, y) for x, y in pairs]
    covered = sum(f.low <= truth <= f.high for f in found)
    # 95 % of 600 are 570; three standard errors are 16.
    assert 554 <= covered <= 586
