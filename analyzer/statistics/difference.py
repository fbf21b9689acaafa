"""Do two series stand at different levels?"""

from __future__ import annotations

import math
from dataclasses import dataclass

from analyzer.statistics.autocorrelation import mean_variance, memory, persistence
from analyzer.statistics.bootstrap import Estimate
from analyzer.statistics.finite import Floats
from analyzer.statistics.noise import without_outliers
from analyzer.statistics.tails import quantile, student_quantile, student_two_sided, two_sided

FEWEST = 10


@dataclass(frozen=True, slots=True)
class Difference:
    """The mean of the first minus the mean of the second, with a confidence interval."""

    value: float
    low: float
    high: float
    p_value: float  # two-sided, of no difference


def level_difference(first: Floats, second: Floats, confidence: float = 0.99) -> Difference:
    """Welch's difference of means with the memory of each series allowed for.

    The variance of a mean is that of an AR(1) with a persistence on the safe side; outliers are
    put on the running median. The noise within a run is all that it knows: what another seed
    would have given is not in it. Raises ValueError for fewer than FEWEST values.
    """
    if min(len(first), len(second)) < FEWEST:
        raise ValueError(f"a difference of levels needs {FEWEST} values of each")
    variance = _variance_of_mean(first) + _variance_of_mean(second)
    value = float(without_outliers(first).mean() - without_outliers(second).mean())
    error = math.sqrt(variance)
    reach = quantile(0.5 + confidence / 2) * error
    p_value = two_sided(value / error) if error else float(value == 0.0)
    return Difference(value, value - reach, value + reach, p_value)


def _variance_of_mean(values: Floats) -> float:
    calm = without_outliers(values)
    residuals = calm - calm.mean()
    rho = max(persistence(residuals, 1), memory(residuals, 1))
    share = mean_variance(len(calm), rho)
    variance = float(residuals @ residuals) / (len(calm) - 1)
    # The sample's own mean takes a share of a long memory along.
    return variance * share / max(1.0 - share, 0.05)


def few_difference(
    first: Floats, second: Floats, sigma: float, known: int, confidence: float
) -> Estimate:
    """The difference of means of a few values each, whose noise σ comes from `known` values.

    For evaluations that lie many steps apart and so have no memory of one another. Student's
    quantile with half as many degrees of freedom as there are steps between the known values, since
    a median of such steps tells about that much less than their squares would. Raises ValueError
    for fewer than three known values, or a side without any.
    """
    if known < 3 or not len(first) or not len(second):
        raise ValueError("a difference of few values needs some of each, and three for the noise")
    freedom = max(1, (known - 1) // 2)
    value = float(first.mean() - second.mean())
    error = sigma * math.sqrt(1.0 / len(first) + 1.0 / len(second))
    reach = student_quantile(0.5 + confidence / 2, freedom) * error
    p_value = student_two_sided(value / error, freedom) if error else float(value == 0.0)
    return Estimate(value, value - reach, value + reach, p_value, error, freedom)
