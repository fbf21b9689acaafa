from __future__ import annotations

import numpy as np
import pytest
from noise_series import white
from scipy import stats

from analyzer.statistics.rank import average_ranks, spearman, standard_ranks


def test_ranks_with_ties_are_those_of_scipy() -> None:
    values = np.array([3.0, 1.0, 3.0, 2.0, 2.0, 2.0, -1.0])
    np.testing.assert_array_equal(average_ranks(values), stats.rankdata(values))


@pytest.mark.parametrize("digits", [8, 0])
def test_spearman_is_that_of_scipy(digits: int) -> None:
    a, b = white(31, 80), white(32, 80)
    a, b = np.round(a, digits), np.round(a + b, digits)
    assert spearman(a, b) == pytest.approx(stats.spearmanr(a, b).statistic)


def test_constant_has_no_correlation() -> None:
    assert spearman(np.ones(9), np.arange(9.0)) == 0.0
    assert not standard_ranks(np.ones(4)).any()
