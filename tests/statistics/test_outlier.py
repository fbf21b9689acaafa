"""Outliers: σ against its formula, and what noise of any memory makes of it."""

from __future__ import annotations

import numpy as np
import pytest
from noise_series import ar1, white

from analyzer.statistics.outlier import heights, outlier_sigma


@pytest.mark.parametrize(("rho", "lag"), [(0.0, 1), (0.5, 3), (0.9, 3)])
def test_sigma_of_an_ar1_is_that_of_differences(rho: float, lag: int) -> None:
    values = ar1(131, 1, 20_000, rho)[0]
    assert outlier_sigma(values) == pytest.approx(np.sqrt(1 - rho**lag), rel=0.05)


@pytest.mark.parametrize("rho", [0.7, 0.9, 1.0])
@pytest.mark.parametrize(("n", "repetitions"), [(50, 400), (2000, 60)])
def test_six_sigma_are_not_reached_by_noise_with_a_memory(
    rho: float, n: int, repetitions: int
) -> None:
    walk = white(132, repetitions * n).reshape(repetitions, n).cumsum(axis=1)
    rows = walk if rho == 1.0 else ar1(133, repetitions, n, rho)
    assert np.mean([np.abs(heights(row)[0]).max() > 6.0 for row in rows]) <= 0.01


def test_a_spike_in_noise_keeps_its_height() -> None:
    values = white(134, 400)
    values[200] += 12.0
    height, usual = heights(values)
    assert height.argmax() == 200
    assert 9.0 < height[200] < 14.0
    assert abs(usual[200]) < 1.5


def test_the_only_other_value_of_a_constant_stands_out_downwards() -> None:
    values = np.full(40, 3.0)
    values[20] = 2.0
    height, _ = heights(values)
    assert height.argmin() == 20
    assert height[20] < -6.0
    assert not np.any(np.delete(height, 20))


def test_a_constant_has_no_height() -> None:
    assert not np.any(heights(np.full(30, 2.5))[0])
