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


@dataclass(frozen=True, slots=True)
class Noise:
    """What a series scatters by from step to step about its drift, and how long it remembers."""

    sigma: float
    rho: float  # of an AR(1), on the safe side for `places` values
    places: int


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
    `curve_difference` gives back for blocks and for the drift that it takes off. Both runs are
    taken to be as noisy as this one.
    """
    short = math.sqrt((1.0 - noise.rho**2) / steps) - math.sqrt((1.0 - noise.rho**2) / noise.places)
    rho = min(noise.rho + max(short, 0.0), HIGHEST)  # a shorter run has more to be careful about
    whole = mean_variance(steps, rho)
    kept = 1.0 - PARAMETERS * whole / mean_variance(block_length(steps, rho), rho)
    share = steps / end_points(steps) * whole / max(kept, 0.05)
    freedom = block_freedom(steps, rho, PARAMETERS)
    reach = student_quantile(0.5 + confidence / 2.0, freedom) + quantile(power)
    return reach * math.sqrt(2.0 * share) * noise.sigma


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
