"""Several seeds a side."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from analyzer.statistics.seeds import (
    interquartile_mean,
    probability_of_improvement,
    seed_difference,
)


@pytest.mark.parametrize("n", [1, 3, 4, 7, 8, 10])
def test_the_interquartile_mean_is_scipy_s_trimmed_mean(n: int) -> None:
    scores = np.random.default_rng(n).standard_normal(n)
    assert interquartile_mean(scores) == pytest.approx(stats.trim_mean(scores, 0.25))


def test_probability_of_improvement_by_hand() -> None:
    # 3 beats both, 1 beats neither and ties once: (2 + 0.5) of 4
    found = probability_of_improvement(np.array([3.0, 1.0]), np.array([1.0, 2.0]))
    assert float(found) == pytest.approx(2.5 / 4)
    u = stats.mannwhitneyu([3.0, 1.0], [1.0, 2.0]).statistic
    assert float(found) == pytest.approx(u / 4)


@pytest.mark.parametrize(("mine", "other"), [(2, 2), (3, 3), (5, 5), (1, 4)])
def test_equal_configurations_differ_no_more_often_than_said(mine: int, other: int) -> None:
    generator = np.random.default_rng(7)
    repetitions = 200
    outside = 0
    for _ in range(repetitions):
        found = seed_difference(
            generator.standard_normal(mine), generator.standard_normal(other), 0.95
        ).difference
        outside += not found.low <= 0.0 <= found.high
    assert outside <= 0.05 * repetitions + 3 * np.sqrt(0.05 * repetitions)


def test_a_difference_of_three_sigmas_is_found_with_five_seeds() -> None:
    generator = np.random.default_rng(8)
    found = [
        seed_difference(3 + generator.standard_normal(5), generator.standard_normal(5), 0.95)
        for _ in range(20)
    ]
    assert sum(f.difference.low > 0 for f in found) >= 16
    assert all(f.improvement_low <= f.improvement <= f.improvement_high for f in found)


def test_one_run_on_each_side_knows_no_seeds() -> None:
    with pytest.raises(ValueError, match="two runs on one side"):
        seed_difference(np.ones(1), np.ones(1), 0.95)
