"""False alarms at the nominal 1 %, and what is still found; bench/statistics_rates.py has more."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from noise_series import Floats, ar1, ramp

from analyzer.statistics.comove import comovement
from analyzer.statistics.shift import shifts
from analyzer.statistics.trend import trend

LIMITS = {0.0: 0.02, 0.7: 0.02, 0.9: 0.05}
CELLS = [(n, rho) for n in (60, 100, 200, 500) for rho in LIMITS]
NOMINAL = 0.01


def rate(rows: Floats, p_value: Callable[[Floats], float]) -> float:
    """Share of the rows with a p-value of at most NOMINAL."""
    return float(np.mean([p_value(row) <= NOMINAL for row in rows]))


def trend_p(row: Floats) -> float:
    return trend(np.arange(len(row)), row).p_value


def shift_p(row: Floats) -> float:
    return min((shift.p_value for shift in shifts(row)), default=1.0)


@pytest.mark.parametrize(("n", "rho"), CELLS)
def test_trend(n: int, rho: float) -> None:
    repetitions = 80 if n == 500 else 250
    assert rate(ar1(101, repetitions, n, rho), trend_p) <= LIMITS[rho]


@pytest.mark.parametrize(("n", "rho"), CELLS)
def test_shift(n: int, rho: float) -> None:
    repetitions = 60 if n == 500 else 200
    assert rate(ar1(102, repetitions, n, rho), shift_p) <= LIMITS[rho]


@pytest.mark.parametrize(("n", "rho"), CELLS)
def test_together(n: int, rho: float) -> None:
    repetitions = 20 if n == 500 else 60
    second = iter(ar1(104, repetitions, n, rho))

    def together_p(row: Floats) -> float:
        return comovement(np.arange(n), row, next(second)).p_value

    assert rate(ar1(103, repetitions, n, rho), together_p) <= 0.02


@pytest.mark.parametrize(("rho", "change", "wanted"), [(0.0, 3.0, 0.95), (0.7, 8.0, 0.90)])
def test_trends_that_are_found(rho: float, change: float, wanted: float) -> None:
    assert rate(ar1(105, 300, 100, rho) + np.linspace(0, change, 100), trend_p) > wanted


@pytest.mark.parametrize(("n", "height"), [(100, 3.0), (240, 2.0), (60, 5.0)])
def test_jumps_that_are_found(n: int, height: float) -> None:
    step = np.where(np.arange(n) >= n // 2, height, 0.0)
    assert rate(ar1(106, 150, n, 0.0) + step, shift_p) > 0.95


def test_movements_that_are_found_together() -> None:
    move = ramp(200, 60, 140, 4.0)
    second = iter(ar1(108, 60, 200, 0.5) + move)

    def together_p(row: Floats) -> float:
        found = comovement(np.arange(200), row, next(second))
        return found.p_value if found.rho >= 0.5 else 1.0

    assert rate(ar1(107, 60, 200, 0.5) + move, together_p) > 0.95
