"""Does a series jump, where, and by how much?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from analyzer.statistics.autocorrelation import (
    log_innovation,
    long_run,
    mean_variance,
    memory,
    persistence,
)
from analyzer.statistics.finite import Floats
from analyzer.statistics.noise import (
    MEDIAN_ERROR,
    difference_sigma,
    mad_sigma,
    without_outliers,
)
from analyzer.statistics.partition import change_points
from analyzer.statistics.ramp import fit_ramp
from analyzer.statistics.tails import two_sided

FEWEST = 20
SMALLEST_SEGMENT = 5
PENALTY = 2.0  # c of c·σ²·ln n
CHANGE_PRICE = 3.0  # of a change, in ln n: a level, and a place that was searched for
# The largest of the statistics of all places behaves like that of so many independent ones; and
# so many standard errors are added to ρ. Both from simulation (bench/statistics_rates.py).
PLACES = 25
CAUTION = 1.5
# A jump makes at least this share of the change between two levels when each side may have a
# slope of its own; otherwise the change is a drift.
JUMP_SHARE = 0.5
BOUNDARY_ERROR = 2.0  # standard error of a line's value at its end over that of a mean


@dataclass(frozen=True, slots=True)
class Shift:
    """A jump of the mean; indices into the series."""

    at: int  # the first value of the new level
    low: int  # 95 % interval of `at`
    high: int
    before: float  # median of the segment before, and after
    after: float
    sigma: float  # robust noise of the two segments around their levels
    p_value: float

    @property
    def change(self) -> float:
        """The new level minus the old."""
        return self.after - self.before

    @property
    def effect(self) -> float:
        """The change in units of the noise, signed; infinite where there is none."""
        if self.sigma == 0.0:
            return math.copysign(math.inf, self.change) if self.change else 0.0
        return self.change / self.sigma


def shifts(values: Floats, penalty: float = PENALTY) -> list[Shift]:
    """All jumps of the mean, in order; drifts are left out.

    Change points of squared error with penalty c·σ²·λ·ln n: σ from first differences, λ for the
    memory of the series. Each is then tested against its two neighbouring segments with the
    variance of means of an AR(1), over PLACES places. Raises ValueError for fewer than FEWEST.
    """
    if len(values) < FEWEST:
        raise ValueError(f"a shift needs {FEWEST} values, not {len(values)}")
    calm = without_outliers(values)
    edges = [0, *_segments(calm, penalty), len(values)]
    residuals = _residuals(calm, edges)
    means = len(edges) - 1
    rho = max(persistence(residuals, 2 * means, CAUTION), memory(residuals, means))
    places = [(edges[k - 1], edges[k], edges[k + 1]) for k in range(1, len(edges) - 1)]
    tested = (_tested(calm, place, residuals, rho) for place in places)
    return [shift for shift in tested if shift is not None]


def _segments(calm: Floats, penalty: float) -> list[int]:
    """Change points, with the memory of the series allowed for.

    Change points look like memory, and memory looks like change points. So all are taken that
    white noise would allow, the weakest are undone one by one, and ρ is that of the stage with
    the least n·ln(innovation variance) + CHANGE_PRICE·ln n a change.
    """
    n = len(calm)
    cost = penalty * difference_sigma(calm) ** 2 * math.log(n)
    if cost == 0.0:
        return []
    edges = [0, *change_points(calm, cost, SMALLEST_SEGMENT), n]
    stages = []
    while True:
        left = _residuals(calm, edges)
        price = CHANGE_PRICE * (len(edges) - 2) * math.log(n)
        stages.append((n * log_innovation(left) + price, 2 * (len(edges) - 1), left))
        if len(edges) == 2:
            break
        edges.pop(_weakest(calm, edges))
    _, parameters, left = min(stages, key=lambda stage: stage[0])
    variance = 1.0 / (1.0 - persistence(left, parameters, 0.0))  # over that of differences
    inflation = long_run(persistence(left, parameters, CAUTION))
    return change_points(calm, cost * variance * inflation, SMALLEST_SEGMENT)


def _weakest(values: Floats, edges: Sequence[int]) -> int:
    """The place in `edges` of the change that lowers the squared error least."""

    def gain(k: int) -> float:
        left, right = values[edges[k - 1] : edges[k]], values[edges[k] : edges[k + 1]]
        weight = len(left) * len(right) / (len(left) + len(right))
        return weight * float(left.mean() - right.mean()) ** 2

    return min(range(1, len(edges) - 1), key=gain)


def _residuals(values: Floats, edges: Sequence[int]) -> Floats:
    """The values minus the mean of their segment."""
    return np.concatenate([values[a:b] - values[a:b].mean() for a, b in pairwise(edges)])


def _tested(
    calm: Floats, ends: tuple[int, int, int], residuals: Floats, rho: float
) -> Shift | None:
    """The best step between the outer two of `ends`, and whether noise could make it; None for a
    drift.

    The largest p of three counts: by means and by medians, since either alone is fooled by heavy
    tails, and by the gap between straight lines through the two sides, which a drift has not.
    """
    step = fit_ramp(calm[ends[0] : ends[2]], widest=1)
    at = ends[0] + step.start + 1
    before, after = calm[ends[0] : at], calm[at : ends[2]]
    levels = (float(np.median(before)), float(np.median(after)))
    gap = _boundary(after[::-1]) - _boundary(before)
    if gap * (levels[1] - levels[0]) < JUMP_SHARE * (levels[1] - levels[0]) ** 2:
        return None
    near = _residuals(calm[ends[0] : ends[2]], [0, len(before), ends[2] - ends[0]])
    deviation = math.sqrt(max(_variance(residuals), _variance(near)))
    sigma = mad_sigma(near) or math.sqrt(_variance(near))
    error = mean_variance(len(before), rho) + mean_variance(len(after), rho)
    error = math.sqrt(error / max(1.0 - mean_variance(len(calm), rho), 0.05))
    by_mean = _z(float(after.mean() - before.mean()), deviation * error)
    by_median = _z(levels[1] - levels[0], MEDIAN_ERROR * sigma * error)
    by_gap = _z(gap, BOUNDARY_ERROR * deviation * error)
    p_value = PLACES * two_sided(min(by_mean, by_median, by_gap))
    low, high = ends[0] + step.start_low + 1, ends[0] + step.start_high + 1
    return Shift(at, low, high, *levels, sigma, min(1.0, p_value))


def _variance(residuals: Floats) -> float:
    return float(residuals @ residuals) / (len(residuals) - 2)


def _z(difference: float, error: float) -> float:
    if difference == 0.0:
        return 0.0
    return abs(difference) / error if error > 0.0 else math.inf


def _boundary(values: Floats) -> float:
    """Where a straight line through the values stands half a step after the last one."""
    t = np.arange(len(values)) - (len(values) - 1) / 2.0
    slope = float(t @ values) / float(t @ t)
    return float(values.mean()) + slope * len(values) / 2.0
