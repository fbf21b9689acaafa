"""How many steps two runs need before a difference of their last levels is likely to be seen."""

from __future__ import annotations

import math
from dataclasses import dataclass

from analyzer.statistics.autocorrelation import HIGHEST, mean_variance, memory
from analyzer.statistics.bootstrap import block_freedom, block_length
from analyzer.statistics.curves import FEWEST, end_points
from analyzer.statistics.finite import Floats
from analyzer.statistics.noise import without_outliers
from analyzer.statistics.ramp import PARAMETERS, fit_ramp
from analyzer.statistics.tails import quantile, student_quantile
from analyzer.statistics.trend import without_drift

POWER = 0.8
MOST_STEPS = 20_000  # beyond it a number of steps is no plan
MOST_SEEDS = 8  # a side
TRIMMED = 0.84  # efficiency of the mean of the middle half of normal values


@dataclass(frozen=True, slots=True)
class Noise:
    """What a series scatters by from step to step about its drift, and how long it remembers."""

    sigma: float
    rho: float  # of an AR(1), on the safe side for `places` values
    places: int
    seeds: float = 0.0  # standard deviation of the last level between seeds
    seeds_freedom: int = 1  # degrees of freedom that it is known with


def noise_of(values: Floats) -> Noise:
    """The noise of a run's series, its drift and its outliers taken off.

    `values` are finite. Raises ValueError for fewer than FEWEST values.
    """
    n = len(values)
    if n < FEWEST:
        raise ValueError(f"the noise of a run needs {FEWEST} values")
    calm = without_outliers(values)
    residuals, parameters = without_drift(calm, fit_ramp(calm))
    sigma = math.sqrt(float(residuals @ residuals) / (n - parameters))
    return Noise(sigma, memory(residuals, parameters), n)


def detectable(noise: Noise, steps: int, confidence: float, power: float = POWER) -> float:
    """The difference of the last levels of two runs of so many steps that is seen with `power`.

    (t + z)·√2·σ·√v with Student's two-sided quantile t of the block bootstrap's degrees of freedom
    and the normal quantile z of the power, as for a two-sample comparison of means (Cohen 1988);
    v is the variance of a mean over the last fifth of an AR(1)'s values, with the shares that
    `curve_difference` gives back for blocks and for the drift that it takes off. What seeds may do
    is added in quadrature, as `with_spread` does. Both runs are taken to be as noisy as this one.
    """
    run, freedom = _level_error(noise, steps)
    error = math.hypot(run, noise.seeds)
    if noise.seeds > 0.0:
        joint = run**4 / freedom + noise.seeds**4 / noise.seeds_freedom
        freedom = max(1, math.floor(error**4 / joint))
    return _reach(confidence, freedom, power) * math.sqrt(2.0) * error


def _level_error(noise: Noise, steps: int) -> tuple[float, int]:
    """Standard error of one run's last level as a comparison estimates it, and its freedom."""
    short = math.sqrt((1.0 - noise.rho**2) / steps) - math.sqrt((1.0 - noise.rho**2) / noise.places)
    rho = min(noise.rho + max(short, 0.0), HIGHEST)  # a shorter run has more to be careful about
    whole = mean_variance(steps, rho)
    kept = 1.0 - PARAMETERS * whole / mean_variance(block_length(steps, rho), rho)
    share = steps / end_points(steps) * whole / max(kept, 0.05)
    return math.sqrt(share) * noise.sigma, block_freedom(steps, rho, PARAMETERS)


def _reach(confidence: float, freedom: int, power: float) -> float:
    return student_quantile(0.5 + confidence / 2.0, freedom) + quantile(power)


def steps_needed(
    noise: Noise, effect: float, confidence: float, power: float = POWER
) -> int | None:
    """The fewest steps from which on a difference of that size is detectable; at least FEWEST.

    None where MOST_STEPS are not enough. Raises ValueError for an effect that is not positive.
    """
    if effect <= 0.0:
        raise ValueError("an effect is a positive number")
    if detectable(noise, MOST_STEPS, confidence, power) > effect:
        return None
    low, high = FEWEST - 1, MOST_STEPS
    while high - low > 1:
        middle = (low + high) // 2
        seen = detectable(noise, middle, confidence, power) <= effect
        low, high = (low, middle) if seen else (middle, high)
    return high


def seeds_needed(
    noise: Noise, steps: int, effect: float, confidence: float, power: float = POWER
) -> int | None:
    """The fewest seeds a side, each of so many steps, with which such a difference is detectable.

    Their levels are compared by Student's t of 2k − 2 degrees of freedom; of four or more the
    interquartile mean is taken, which varies more than the mean. None where MOST_SEEDS are too few.
    """
    run, _ = _level_error(noise, steps)
    one = math.hypot(run, noise.seeds)
    for k in range(2, MOST_SEEDS + 1):
        error = one * math.sqrt(2.0 / k / (TRIMMED if k >= 4 else 1.0))
        if _reach(confidence, 2 * k - 2, power) * error <= effect:
            return k
    return None
