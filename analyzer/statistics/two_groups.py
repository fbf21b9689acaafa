"""Two groups told apart by a property of their members: exact and rank tests, effects."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from analyzer.statistics.finite import Floats
from analyzer.statistics.rank import average_ranks
from analyzer.statistics.tails import quantile, two_sided

_Z = quantile(0.975)
_EQUAL = 1.0 + 1e-7  # probabilities this close are equal but for rounding


@dataclass(frozen=True, slots=True)
class Separation:
    """A two-sided p-value, and the size of the effect with its 95 % interval."""

    p: float
    effect: float
    low: float
    high: float


def fisher(a: int, b: int, c: int, d: int) -> Separation:
    """Fisher's exact test of the table ((a, b), (c, d)), and its odds ratio.

    The p-value sums the tables that are no likelier than this one. The odds ratio is
    (a + ½)(d + ½) / ((b + ½)(c + ½)), finite for empty cells (Haldane 1956), its interval that of
    its logarithm (Woolf 1955).
    """
    first, second, column = a + b, c + d, a + c
    logs = np.r_[0.0, np.cumsum(np.log(np.arange(1, first + second + 1)))]

    def ways(n: int, k: np.ndarray) -> Floats:
        chosen: Floats = logs[n] - logs[k] - logs[n - k]
        return chosen

    k = np.arange(max(0, column - second), min(first, column) + 1)
    whole = ways(first + second, np.asarray(column))
    chances = np.exp(ways(first, k) + ways(second, column - k) - whole)
    p = float(chances[chances <= chances[a - k[0]] * _EQUAL].sum())
    cells = [count + 0.5 for count in (a, b, c, d)]
    ratio = math.log(cells[0] * cells[3] / (cells[1] * cells[2]))
    half = _Z * math.sqrt(sum(1.0 / cell for cell in cells))
    low, high = math.exp(ratio - half), math.exp(ratio + half)
    return Separation(min(1.0, p), math.exp(ratio), low, high)


def mann_whitney(x: Floats, y: Floats) -> Separation:
    """The rank test of Mann and Whitney (1947), and the rank-biserial correlation.

    The p-value is that of the normal approximation, with the correction for ties and for
    continuity. The effect is P(x > y) − P(x < y), from −1 to 1; its interval is Newcombe's (2006,
    method 5) for P(x > y) + ½P(x = y).
    """
    m, n = len(x), len(y)
    ranks = average_ranks(np.r_[x, y])
    u = float(ranks[:m].sum()) - m * (m + 1) / 2.0
    _, counts = np.unique(np.r_[x, y], return_counts=True)
    total = m + n
    ties = float((counts.astype(np.float64) ** 3 - counts).sum()) / (total * (total - 1))
    variance = m * n / 12.0 * (total + 1 - ties)
    excess = max(0.0, abs(u - m * n / 2.0) - 0.5)
    p = two_sided(excess / math.sqrt(variance)) if variance > 0.0 else 1.0
    area = u / (m * n)
    low, high = _area_interval(area, m, n)
    return Separation(p, 2.0 * area - 1.0, 2.0 * low - 1.0, 2.0 * high - 1.0)


def _area_interval(area: float, m: int, n: int) -> tuple[float, float]:
    """The areas that lie no more than z standard errors, each its own, from the one found."""
    others = (m + n) / 2.0 - 1.0

    def error(a: float) -> float:
        spread = 1.0 + others * ((1.0 - a) / (2.0 - a) + a / (1.0 + a))
        return _Z * math.sqrt(a * (1.0 - a) * spread / (m * n))

    low = _crossing(lambda a: area - a <= error(a), 0.0, area)
    high = 1.0 - _crossing(lambda b: (1.0 - area) - b <= error(1.0 - b), 0.0, 1.0 - area)
    return low, high


def _crossing(holds: Callable[[float], bool], low: float, high: float) -> float:
    """The least value up to `high`, where it holds, from which it holds."""
    for _ in range(50):
        middle = (low + high) / 2.0
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
