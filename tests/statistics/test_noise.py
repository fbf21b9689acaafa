from __future__ import annotations

import math

import numpy as np
import pytest
from noise_series import ar1, ramp, white
from scipy import ndimage, stats

from analyzer.statistics.finite import finite
from analyzer.statistics.noise import (
    detrended,
    difference_sigma,
    effective_size,
    mad_sigma,
    running_median,
    samples_for,
    sampling_noise,
    without_outliers,
)


def test_finite_drops_and_counts() -> None:
    kept = finite([3, 5, 6, 9], [1.0, math.nan, math.inf, -2.0])
    assert (list(kept.steps), list(kept.values), kept.dropped) == ([3, 9], [1.0, -2.0], 2)


def test_mad_sigma_is_that_of_scipy() -> None:
    values = white(1, 501)
    expected = stats.median_abs_deviation(values, scale="normal")
    assert mad_sigma(values) == pytest.approx(expected)
    assert mad_sigma(np.array([])) == 0.0


def test_difference_sigma_by_hand() -> None:
    # Differences 2, −1, 3, −2: sizes 2, 1, 3, 2, median 2.
    values = np.array([0.0, 2.0, 1.0, 4.0, 2.0])
    assert difference_sigma(values) == pytest.approx(1.482602218505602 * 2 / math.sqrt(2))


def test_difference_sigma_does_not_see_drift_and_jumps() -> None:
    noise = white(2, 2000)
    moved = noise + ramp(2000, 300, 900, 40.0) + np.where(np.arange(2000) > 1500, 90.0, 0.0)
    assert difference_sigma(moved) == pytest.approx(1.0, abs=0.06)


def test_difference_sigma_of_few_distinct_values() -> None:
    # One difference of ten is not 0: the mean size 0.1 stands in for the median.
    values = np.array([0.0] * 6 + [1.0] * 5)
    assert difference_sigma(values) == pytest.approx(math.sqrt(math.pi / 2) * 0.1 / math.sqrt(2))
    assert difference_sigma(np.ones(9)) == 0.0


def test_difference_sigma_of_memory() -> None:
    rho = 0.8
    series = ar1(3, 1, 20_000, rho)[0]
    assert difference_sigma(series) == pytest.approx(math.sqrt(1 - rho), rel=0.03)


@pytest.mark.parametrize("window", [3, 7, 21])
def test_running_median_is_that_of_scipy(window: int) -> None:
    values = white(4, 60)
    expected = ndimage.median_filter(values, window, mode="mirror")
    np.testing.assert_allclose(running_median(values, window), expected)


def test_running_median_of_few_values() -> None:
    np.testing.assert_array_equal(running_median(np.array([5.0]), 9), [5.0])
    np.testing.assert_array_equal(running_median(np.array([5.0, 1.0]), 9), [5.0, 1.0])
    np.testing.assert_array_equal(running_median(np.array([5.0, 1.0, 3.0]), 9), [1.0, 3.0, 1.0])


def test_detrended_keeps_the_noise_and_drops_the_drift() -> None:
    noise = white(5, 400)
    left = detrended(noise + ramp(400, 50, 350, 30.0))
    assert left.std() == pytest.approx(1.0, abs=0.08)


def test_outliers_go_and_steps_stay() -> None:
    values = white(6, 100)
    values[50:] += 10.0
    values[20] = 60.0
    calm = without_outliers(values)
    assert calm[20] == np.median(values[17:24])
    np.testing.assert_array_equal(np.delete(calm, 20), np.delete(values, 20))


def test_effective_size_by_hand() -> None:
    assert effective_size(100, 0.5) == pytest.approx(100 / 3)
    assert effective_size(100, 0.0) == 100


def test_sampling_noise_is_that_of_the_binomial() -> None:
    assert sampling_noise(0.3, 512) == pytest.approx(stats.binom(512, 0.3).std() / 512)


@pytest.mark.parametrize(("rate", "sigma"), [(0.5, 0.05), (0.21, 0.018), (0.9, 0.011)])
def test_samples_for_is_the_smallest_batch(rate: float, sigma: float) -> None:
    n = samples_for(rate, sigma)
    assert sampling_noise(rate, n) <= sigma < sampling_noise(rate, n - 1)
