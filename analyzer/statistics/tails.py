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
