from __future__ import annotations

import pytest
from scipy import stats

from analyzer.statistics.tails import (
    below,
    binomial_two_sided,
    quantile,
    student_quantile,
    student_two_sided,
    two_sided,
)


@pytest.mark.parametrize("z", [-6.0, -1.0, 0.0, 0.5, 2.576, 8.0])
def test_normal_tails_are_those_of_scipy(z: float) -> None:
    assert below(z) == pytest.approx(stats.norm.cdf(z), rel=1e-12)
    assert two_sided(z) == pytest.approx(2 * stats.norm.sf(abs(z)), rel=1e-12)


def test_quantile_undoes_below() -> None:
    assert quantile(0.975) == pytest.approx(1.959963984540054)
    assert below(quantile(0.001)) == pytest.approx(0.001)


@pytest.mark.parametrize(("hits", "trials"), [(0, 5), (1, 16), (8, 16), (9, 16), (16, 16), (0, 0)])
def test_coin_is_that_of_scipy(hits: int, trials: int) -> None:
    expected = stats.binomtest(hits, trials, 0.5).pvalue if trials else 1.0
    assert binomial_two_sided(hits, trials) == pytest.approx(expected)


@pytest.mark.parametrize("df", [1, 2, 3, 4, 9, 40])
def test_student_s_tails_are_scipy_s(df: int) -> None:
    for t in (0.0, 0.7, 2.5, -8.0):
        assert student_two_sided(t, df) == pytest.approx(2 * stats.t.sf(abs(t), df), abs=1e-12)
    for p in (0.6, 0.975, 0.9995):
        assert student_quantile(p, df) == pytest.approx(stats.t.ppf(p, df), rel=1e-9)
