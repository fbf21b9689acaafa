"""How much a series remembers, and how much less it therefore tells."""

from __future__ import annotations

import math

import numpy as np

from analyzer.statistics.finite import Floats

HIGHEST = 0.995  # an AR(1) beyond it cannot be told from a random walk in 512 points


def lag_correlation(residuals: Floats, lag: int = 1) -> float:
    """Sample autocorrelation of zero-mean residuals at that lag; 0 for a constant."""
    power = float(residuals @ residuals)
    if power == 0.0 or len(residuals) <= lag:
        return 0.0
    return float(residuals[lag:] @ residuals[:-lag]) / power


def log_innovation(residuals: Floats) -> float:
    """ln of the variance that an AR(1) leaves unexplained; very low, not −∞, where none is."""
    rho = lag_correlation(residuals)
    return math.log(max(float(residuals @ residuals) * (1.0 - rho * rho), 1e-300))


def persistence(residuals: Floats, parameters: int, caution: float = 1.0) -> float:
    """ρ of an AR(1) behind residuals of a fit, corrected for bias and taken on the safe side.

    After a fitted line the sample value is too low by (2 + 4ρ)/n (Kendall 1954 and Marriott &
    Pope 1954 give 1 + 3ρ for a mean); p + 2p·ρ is taken for p parameters. `caution` standard
    errors, √((1 − ρ²)/n), are added: with the plain estimate a test on 60 points at ρ = 0.9 is
    wrong ten times as often as it says. Between 0 and HIGHEST.
    """
    n = len(residuals)
    room = n - 2.0 * parameters
    if room < 2.0:
        return HIGHEST
    rho = (n * lag_correlation(residuals) + parameters) / room
    rho = min(max(rho, 0.0), HIGHEST)
    return min(rho + caution * math.sqrt((1.0 - rho * rho) / n), HIGHEST)


def memory(residuals: Floats, parameters: int) -> float:
    """`persistence` at two scales, the greater: of the values, and of means of n^(1/3) of them.

    A slow wandering under white noise, which is what most logged means are, has a small
    correlation from one value to the next and yet a long memory; the means show it. Theirs is
    turned into the ρ of the AR(1) whose sums vary as much.
    """
    n = len(residuals)
    rho = persistence(residuals, parameters)
    size = round(math.cbrt(n))
    blocks = n // size
    power = float(residuals @ residuals) / max(n - parameters, 1)
    if blocks < parameters + 8 or power == 0.0:
        return rho
    means = residuals[: blocks * size].reshape(blocks, size).mean(axis=1)
    slow = size * float(means @ means) / (blocks - parameters) / power
    slow *= long_run(persistence(means, parameters, caution=0.0))
    return max(rho, min((slow - 1.0) / (slow + 1.0), HIGHEST))


def kendall_inflation(n: int, rho: float) -> float:
    """Factor on the variance of Mann–Kendall's S for an AR(1) series, at least 1.

    Hamed & Rao 1998, eq. 10: 1 + 2/(n(n−1)(n−2)) · Σ (n−i)(n−i−1)(n−i−2) · r_i, where r_i is
    the autocorrelation of ranks, (6/π)·asin(ρ^i / 2) for a normal AR(1). They take r_i from the
    sample; on short series that fails (docs/statistics.md), so ρ comes from `persistence`.
    """
    if n < 3:
        return 1.0
    i = np.arange(1.0, n)
    ranks = 6.0 / math.pi * np.arcsin(rho**i / 2.0)
    weights = (n - i) * (n - i - 1) * (n - i - 2)
    return max(1.0, 1.0 + 2.0 * float(weights @ ranks) / (n * (n - 1.0) * (n - 2.0)))


def mean_variance(n: int, rho: float) -> float:
    """Variance of the mean of n values of an AR(1) of unit variance, exactly.

    (1 + 2·Σ (1 − k/n)·ρ^k)/n; tends to ((1 + ρ)/(1 − ρ))/n.
    """
    slow = (1.0 + rho) / (1.0 - rho) / n
    return float(slow - 2.0 * rho * (1.0 - rho**n) / ((1.0 - rho) ** 2 * n * n))


def long_run(rho: float) -> float:
    """Variance of sums of an AR(1) over that of white noise: (1 + ρ)/(1 − ρ)."""
    return (1.0 + rho) / (1.0 - rho)
