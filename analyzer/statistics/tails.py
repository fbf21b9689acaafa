"""Tails of the normal distribution, from the standard library: scipy.stats takes 1 s to import."""

from __future__ import annotations

import math
from statistics import NormalDist

_STANDARD = NormalDist()


def two_sided(z: float) -> float:
    """P(|Z| ≥ |z|) of a standard normal Z."""
    return math.erfc(abs(z) / math.sqrt(2.0))


def below(z: float) -> float:
    """P(Z ≤ z) of a standard normal Z."""
    return 0.5 * math.erfc(-z / math.sqrt(2.0))


def quantile(p: float) -> float:
    """The z with P(Z ≤ z) = p, for 0 < p < 1."""
    return _STANDARD.inv_cdf(p)


def binomial_two_sided(hits: int, trials: int) -> float:
    """P of a count at least as far from trials / 2 as `hits`, for a fair coin."""
    extreme = min(hits, trials - hits)
    tail = sum(math.comb(trials, k) for k in range(extreme + 1)) / 2.0**trials
    return min(1.0, 2.0 * tail)


def student_two_sided(t: float, df: int) -> float:
    """P(|T| ≥ |t|) of Student's t with a whole number of degrees of freedom, at least 1.

    Abramowitz & Stegun 26.7.3 and 26.7.4: a finite series in cos²θ with tan θ = t/√df.
    """
    theta = math.atan2(abs(t), math.sqrt(df))
    square = math.cos(theta) ** 2
    odd = df % 2
    term = total = math.cos(theta) if odd else 1.0
    for k in range(3 if odd else 2, df - 1, 2):
        term *= square * (k - 1) / k
        total += term
    if not odd:
        return max(0.0, 1.0 - math.sin(theta) * total)
    inside = theta + (math.sin(theta) * total if df > 1 else 0.0)
    return max(0.0, 1.0 - 2.0 / math.pi * inside)


def student_quantile(p: float, df: int) -> float:
    """The t with P(T ≤ t) = p, for 0.5 ≤ p < 1, by bisection."""
    low, high = 0.0, 1.0
    while 1.0 - student_two_sided(high, df) / 2.0 < p:
        low, high = high, 2.0 * high
    for _ in range(60):
        middle = (low + high) / 2.0
        below_p = 1.0 - student_two_sided(middle, df) / 2.0 < p
        low, high = (middle, high) if below_p else (low, middle)
    return high
