"""Block bootstraps of a residual series, and intervals from them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from analyzer.statistics.autocorrelation import mean_variance
from analyzer.statistics.finite import Floats
from analyzer.statistics.tails import quantile, student_quantile, student_two_sided

REPETITIONS = 1999
SEED = 20_261_130
LEAST_KEPT = 0.05  # of a variance that blocks keep; a longer memory is not to be bootstrapped


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with a confidence interval, and the two-sided p-value of its being 0.

    `error`: its standard error, known with so many degrees of freedom.
    """

    value: float
    low: float
    high: float
    p_value: float
    error: float
    freedom: int


def block_length(n: int, rho: float) -> int:
    """Points of a block for a mean of n values of an AR(1): (√6·ρ/(1 − ρ²))^(2/3)·n^(1/3).

    Carlstein 1986. At least 1; at most a quarter of the series, so that there are blocks to draw.
    """
    best: float = (math.sqrt(6.0) * rho / (1.0 - rho * rho)) ** (2.0 / 3.0) * math.cbrt(n)
    return max(1, min(math.ceil(best), n // 4))


def block_draws(
    residuals: Floats, rho: float, parameters: int, repetitions: int = REPETITIONS, seed: int = SEED
) -> Floats:
    """Circular block bootstraps of what a fit left, one a row: shape (repetitions, n).

    Politis & Romano 1992. Blocks cut the memory at their ends, and a fit takes a share of a long
    memory along; the draws are widened by what an AR(1) of that ρ loses by both in its mean.
    """
    n = len(residuals)
    length = block_length(n, rho)
    starts = np.random.default_rng(seed).integers(0, n, size=(repetitions, -(-n // length)))
    index = (starts[:, :, None] + np.arange(length)).reshape(repetitions, -1)[:, :n] % n
    whole = mean_variance(n, rho)
    kept = length / n * (mean_variance(length, rho) - parameters * whole)
    drawn: Floats = residuals[index] * math.sqrt(whole / max(kept, LEAST_KEPT * whole))
    return drawn


def block_freedom(n: int, rho: float, parameters: int) -> int:
    """Degrees of freedom of a spread that is known from so many blocks, at least 1."""
    return max(1, n // block_length(n, rho) - parameters)


def around(value: float, deviations: Floats, freedom: int, confidence: float) -> Estimate:
    """The interval of a value whose bootstrap deviates so from it.

    Quantiles of the deviations, turned about the value (a basic interval) and widened by Student's
    quantile over the normal one, since the deviations come from few independent parts.
    """
    tail = 0.5 + confidence / 2.0
    wider = student_quantile(tail, freedom) / quantile(tail)
    low, high = np.quantile(deviations, [1.0 - tail, tail]) * wider
    error = float(deviations.std())
    p_value = student_two_sided(value / error, freedom) if error else float(value == 0.0)
    return Estimate(value, value - float(high), value - float(low), p_value, error, freedom)


def with_spread(found: Estimate, spread: float, freedom: int, confidence: float) -> Estimate:
    """The same number where it also varies with a standard deviation `spread`, added in quadrature.

    Both halves of the interval grow alike; Student's quantile has the degrees of freedom of
    Welch 1947 and Satterthwaite 1946, `freedom` being those that the spread is known with.
    """
    if spread == 0.0:
        return found
    error = math.hypot(found.error, spread)
    joint = error**4 / (found.error**4 / found.freedom + spread**4 / freedom)
    whole = max(1, math.floor(joint))
    tail = 0.5 + confidence / 2.0
    reach = student_quantile(tail, whole)
    p_value = student_two_sided(found.value / error, whole)
    if found.error == 0.0:
        low, high = found.value - reach * error, found.value + reach * error
    else:
        wider = reach / student_quantile(tail, found.freedom) * error / found.error
        low = found.value - wider * (found.value - found.low)
        high = found.value + wider * (found.high - found.value)
    return Estimate(found.value, low, high, p_value, error, whole)
