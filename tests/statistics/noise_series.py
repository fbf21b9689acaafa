"""Series made for tests of statistics: always the same for a seed."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def white(seed: int, n: int) -> Floats:
    """Normal noise of unit variance."""
    return np.random.default_rng(seed).standard_normal(n)


def ar1(seed: int, repetitions: int, n: int, rho: float) -> Floats:
    """Stationary AR(1) series of unit variance, one a row."""
    shocks = np.random.default_rng(seed).standard_normal((repetitions, n))
    series = shocks.copy()
    for t in range(1, n):
        series[:, t] = rho * series[:, t - 1] + np.sqrt(1 - rho**2) * shocks[:, t]
    return series


def ramp(n: int, start: int, end: int, height: float) -> Floats:
    """0 up to `start`, then straight up to `height` at `end`."""
    return height * np.clip((np.arange(n) - start) / (end - start), 0.0, 1.0)
