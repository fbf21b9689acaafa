from __future__ import annotations

import math

import numpy as np
import pytest
from noise_series import ar1

from analyzer.statistics.autocorrelation import (
    HIGHEST,
    kendall_inflation,
    lag_correlation,
    log_innovation,
    long_run,
    mean_variance,
    memory,
    persistence,
)


def test_lag_correlation_by_hand() -> None:
    # (1·(−1) + (−1)·1 + 1·(−1)) / 4
    assert lag_correlation(np.array([1.0, -1.0, 1.0, -1.0])) == pytest.approx(-0.75)
    assert lag_correlation(np.array([1.0, -1.0, 1.0, -1.0]), lag=2) == pytest.approx(0.5)
    assert lag_correlation(np.zeros(5)) == 0.0


def test_log_innovation_by_hand() -> None:
    values = np.array([1.0, -1.0, 1.0, -1.0])
    assert log_innovation(values) == pytest.approx(math.log(4 * (1 - 0.75**2)))
    assert math.isfinite(log_innovation(np.zeros(4)))


@pytest.mark.parametrize("rho", [0.3, 0.7, 0.9])
def test_persistence_is_nearer_than_the_plain_estimate(rho: float) -> None:
    n = 60
    t = np.arange(n) - (n - 1) / 2
    line = [x - x.mean() - t * (t @ x) / (t @ t) for x in ar1(11, 1500, n, rho)]
    plain = float(np.mean([lag_correlation(e) for e in line]))
    corrected = float(np.mean([persistence(e, 2, caution=0.0) for e in line]))
    assert plain < rho - 0.04
    assert abs(corrected - rho) < (rho - plain) / 2


def test_caution_is_standard_errors() -> None:
    residuals = ar1(12, 1, 400, 0.5)[0]
    residuals -= residuals.mean()
    rho = persistence(residuals, 2, caution=0.0)
    expected = rho + 2 * math.sqrt((1 - rho**2) / 400)
    assert persistence(residuals, 2, caution=2.0) == pytest.approx(expected)


def test_persistence_has_bounds() -> None:
    assert persistence(np.array([1.0, -1.0] * 20), 2, caution=0.0) == 0.0
    assert persistence(np.linspace(-1, 1, 50), 2) == HIGHEST
    assert persistence(np.array([0.0, 1.0, -1.0]), 2) == HIGHEST


def test_memory_sees_slow_wandering_under_noise() -> None:
    slow = ar1(13, 1, 400, 0.97)[0] + 1.5 * ar1(14, 1, 400, 0.0)[0]
    slow -= slow.mean()
    assert persistence(slow, 2) < 0.6
    assert memory(slow, 2) > 0.8


def test_memory_is_persistence_for_white_noise_mostly() -> None:
    rows = ar1(15, 100, 200, 0.0)
    same = [memory(x - x.mean(), 2) < 0.35 for x in rows]
    assert np.mean(same) > 0.9


def test_kendall_inflation_by_the_sum_as_printed() -> None:
    n, rho = 6, 0.4
    total = sum(
        (n - i) * (n - i - 1) * (n - i - 2) * 6 / math.pi * math.asin(rho**i / 2)
        for i in range(1, n)
    )
    assert kendall_inflation(n, rho) == pytest.approx(1 + 2 * total / (n * (n - 1) * (n - 2)))
    assert kendall_inflation(50, 0.0) == 1.0
    assert kendall_inflation(2, 0.9) == 1.0


def test_kendall_inflation_is_the_variance_of_s() -> None:
    n, rho = 50, 0.6
    first, second = np.triu_indices(n, 1)
    s = [np.sign(x[second] - x[first]).sum() for x in ar1(16, 4000, n, rho)]
    independent = n * (n - 1) * (2 * n + 5) / 18
    assert np.var(s) / independent == pytest.approx(kendall_inflation(n, rho), rel=0.06)


@pytest.mark.parametrize(("n", "rho"), [(1, 0.5), (5, 0.0), (40, 0.9)])
def test_mean_variance_is_that_of_the_covariance_matrix(n: int, rho: float) -> None:
    lags = np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
    assert mean_variance(n, rho) == pytest.approx((rho**lags).sum() / n**2)


def test_long_run_is_the_limit_of_mean_variance() -> None:
    assert mean_variance(100_000, 0.7) * 100_000 == pytest.approx(long_run(0.7), rel=1e-3)
