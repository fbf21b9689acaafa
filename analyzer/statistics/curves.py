"""How two curves on the same places differ: at the end, in their rise, over all, in time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analyzer.statistics.autocorrelation import mean_variance, memory, persistence
from analyzer.statistics.bootstrap import Estimate, around, block_draws, block_freedom
from analyzer.statistics.finite import Floats
from analyzer.statistics.ramp import fit_ramp
from analyzer.statistics.trend import without_drift

FEWEST = 20  # places that two curves must share
END = 5  # the level is that of the last fifth
LEAST_END = 10  # … and of no fewer values
SIGMAS = 3.0  # a rise must be so clear for its half to have a place
REACHES = 499  # bootstraps of the time to a level


@dataclass(frozen=True, slots=True)
class CurveDifference:
    """First minus second. `reach` is None where the curves do not both rise clearly."""

    level: Estimate
    rise: Estimate
    area: Estimate
    reach: Estimate | None
    rho: float


def end_points(n: int) -> int:
    """How many values the level at the end is the mean of."""
    return max(LEAST_END, n // END)


def measures(x: Floats) -> Floats:
    """Weights over the places x, ascending: rows are the level, the rise and the area.

    Level: the mean of the last fifth. Rise: the least-squares slope times the span. Area: the
    trapezoids under the curve over the span, which is a mean height. All are in the unit of the
    values.
    """
    n = len(x)
    level = np.zeros(n)
    level[-end_points(n) :] = 1.0 / end_points(n)
    centred = x - x.mean()
    span = float(x[-1] - x[0])
    rise = centred / float(centred @ centred) * span
    gaps = np.diff(x)
    area = (np.r_[gaps, 0.0] + np.r_[0.0, gaps]) / (2.0 * span)
    return np.stack([level, rise, area])


def curve_difference(
    x: Floats, first: Floats, second: Floats, confidence: float, rising: bool
) -> CurveDifference:
    """The differences of two single runs with block-bootstrap intervals.

    The values are subtracted place by place, so that a learning curve that both share is gone; the
    drift of the difference is taken off, and what is left is drawn in blocks. It holds the noise
    of both runs, its memory taken on the safe side. A run that drifts away from its twin by chance
    is not told from one that has cause to: what other seeds would have given is not in it.
    `rising`: also where they are at half of the rise. Raises ValueError for fewer than FEWEST
    places.
    """
    n = len(x)
    if n < FEWEST:
        raise ValueError(f"a difference of curves needs {FEWEST} places")
    apart = first - second
    weights = measures(x)
    residuals, parameters = without_drift(apart, fit_ramp(apart))
    if float(np.abs(residuals).max()) <= 1e-12 * float(np.abs(apart).max()):
        residuals = np.zeros(n)  # what rounding leaves is no noise
    rho = memory(residuals, parameters)
    drawn = block_draws(residuals, rho, parameters)
    freedom = block_freedom(n, rho, parameters)
    level, rise, area = (around(float(w @ apart), drawn @ w, freedom, confidence) for w in weights)
    reach = _reach(x, first, second, drawn, freedom, confidence) if rising else None
    return CurveDifference(level, rise, area, reach, rho)


def rises(curve: Floats) -> bool:
    """Does the last fifth stand above the first by SIGMAS of the noise about the smoothed curve?"""
    n, ends = len(curve), end_points(len(curve))
    noise = curve - smoothed(curve[None], n // 10)[0]
    spread = 2.0 * float(noise @ noise) / n * mean_variance(ends, persistence(noise, 1))
    return float(curve[-ends:].mean() - curve[:ends].mean()) > SIGMAS * math.sqrt(spread)


def half_way(curves: Sequence[Floats]) -> float:
    """Half of the way from where the curves begin to the lowest of their last levels."""
    ends = end_points(len(curves[0]))
    start = float(np.mean([curve[:ends].mean() for curve in curves]))
    return (start + min(float(curve[-ends:].mean()) for curve in curves)) / 2.0


def reach_place(x: Floats, curves: Floats, target: float) -> Floats:
    """How far along x each curve (rows), smoothed over a tenth, comes before it is at the target.

    The length of x on which it is below the target, from the first place on: of a rising curve the
    place where it crosses, with parts of a gap by a straight line. The first crossing itself would
    be that of the noise.
    """
    smooth = smoothed(np.atleast_2d(curves), len(x) // 20)
    left, right = target - smooth[:, :-1], target - smooth[:, 1:]
    below = np.maximum(left, 0.0) + np.maximum(right, 0.0)
    whole = np.abs(left) + np.abs(right)
    crossing = np.sign(left) * np.sign(right) < 0
    share = np.where(crossing, below / np.where(whole > 0, whole, 1.0), (left + right > 0) * 1.0)
    return np.asarray(x[0] + share @ np.diff(x), dtype=np.float64)


def smoothed(rows: Floats, most: int) -> Floats:
    """Means of 2k + 1 values around each in its row, k being `most` and at least 2; at the ends of
    as many as there are on both sides.
    """
    n = rows.shape[1]
    reach = np.minimum(max(2, most), np.minimum(np.arange(n), np.arange(n)[::-1]))
    sums = np.concatenate([np.zeros((len(rows), 1)), np.cumsum(rows, axis=1)], axis=1)
    here = np.arange(n)
    means: Floats = (sums[:, here + reach + 1] - sums[:, here - reach]) / (2 * reach + 1)
    return means


def _reach(
    x: Floats, first: Floats, second: Floats, drawn: Floats, freedom: int, confidence: float
) -> Estimate | None:
    """Places of the first minus places of the second at half of the rise that both make."""
    if not (rises(first) and rises(second)):
        return None
    target = half_way((first, second))
    noise = drawn[:REACHES] / math.sqrt(2.0), drawn[REACHES : 2 * REACHES] / math.sqrt(2.0)
    smooth = smoothed(np.stack([first, second]), len(x) // 10)
    a, b = reach_place(x, np.stack([first, second]), target)
    drawn_a = reach_place(x, smooth[0] + noise[0], target)
    drawn_b = reach_place(x, smooth[1] - noise[1], target)
    deviations = drawn_a - drawn_b
    return around(float(a - b), deviations - np.median(deviations), freedom, confidence)
