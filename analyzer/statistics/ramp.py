"""The ramp: level, then a straight rise or fall, then level again.

A line over the whole series, a hinge (flat, then linear) and a step are ramps too, so one search
says where a movement starts, where it ends, and whether it was a drift or a jump.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from analyzer.statistics.autocorrelation import long_run, persistence
from analyzer.statistics.finite import Floats
from analyzer.statistics.noise import MEDIAN_ERROR, difference_sigma, running_median

PARAMETERS = 4  # two levels, two corners
FEWEST = 3  # values that a level needs on each side of the middle of the ramp
# 95 % of the likelihood-ratio statistic at a break's true place, −2·ln(1 − √0.95)
# (Hansen 2000, theorem 2; Eo & Morley 2015 for breaks in time series).
PLACE_95 = 7.352


@dataclass(frozen=True, eq=False)
class Ramp:
    """Indices into the series; the first level ends at `start`, the second begins at `end`."""

    start: int
    end: int
    start_low: int  # 95 % interval of the start
    start_high: int
    end_low: int
    end_high: int
    before: float
    after: float
    residuals: Floats
    # By how much −2·ln(likelihood) rises where the start, or the end, is put at that index.
    start_loss: Floats
    end_loss: Floats

    @property
    def change(self) -> float:
        """The second level minus the first."""
        return self.after - self.before


@lru_cache(maxsize=16)
def _grid(n: int) -> tuple[Floats, Floats]:
    """For all corners (a, b): 1/(b − a), and 1/Σ(r − r̄)² of the ramp; −1 where it is not
    allowed."""
    a = np.arange(n)[:, None]
    b = np.arange(n)[None, :]
    allowed = (b > a) & (a + b >= 2 * FEWEST - 1) & (a + b <= 2 * (n - FEWEST) - 1)
    width = np.where(b > a, b - a, 1).astype(np.float64)
    total = (width - 1) / 2 + (n - b)
    squares = (width - 1) * (2 * width - 1) / (6 * width) + (n - b)
    power = np.where(allowed, squares - total**2 / n, -1.0)
    return 1.0 / width, 1.0 / power


def _gains(values: Floats) -> Floats:
    """For all corners (a, b): by how much the ramp lowers the sum of squares, negative where it is
    not allowed.

    With S and M the prefix sums of x − x̄ and t·(x − x̄), Σ r·x is
    (M_b − M_a₊₁ − a·(S_b − S_a₊₁))/(b − a) − S_b.
    """
    n = len(values)
    narrow, inverse_power = _grid(n)
    t = np.arange(n, dtype=np.float64)
    centred = values - values.mean()
    sums = np.concatenate([[0.0], np.cumsum(centred)])
    moments = np.concatenate([[0.0], np.cumsum(t * centred)])
    product: Floats = np.multiply.outer(-t, sums[:n])
    product += moments[:n]
    product += (t * sums[1:] - moments[1:])[:, None]
    product *= narrow
    product -= sums[:n]
    product *= product
    product *= inverse_power
    return product


def _shape(n: int, start: int, end: int) -> Floats:
    return np.clip((np.arange(n, dtype=np.float64) - start) / (end - start), 0.0, 1.0)


def fit_ramp(values: Floats, widest: int | None = None) -> Ramp:
    """The ramp of least squares, over all pairs of corners at most `widest` apart.

    The intervals of its corners are where the profile of the sum of squares stays within PLACE_95
    times the long-run variance of the residuals. Raises ValueError for fewer than 7 values.
    """
    n = len(values)
    if n < 2 * FEWEST + 1:
        raise ValueError(f"a ramp needs {2 * FEWEST + 1} values, not {n}")
    gains = _gains(values)
    if widest is not None:
        gains[_grid(n)[0] * (widest + 0.5) < 1.0] = -1.0
    start, end = divmod(int(gains.argmax()), n) if gains.max() > 0.0 else (0, n - 1)
    shape = _shape(n, start, end)
    middle, level = float(values.mean()), float(shape.mean())
    rise = float((shape - level) @ (values - middle)) / float((shape - level) @ (shape - level))
    before = middle - rise * level
    residuals = values - middle - rise * (shape - level)
    best = max(float(gains.max()), 0.0)
    noise = long_run_variance(residuals)
    start_gains, end_gains = gains.max(axis=1), gains.max(axis=0)
    enough = max(best - PLACE_95 * noise, 0.0)
    starts = np.flatnonzero(start_gains >= enough)
    ends = np.flatnonzero(end_gains >= enough)
    unit = max(noise, 1e-9 * best, 1e-300)
    return Ramp(
        start,
        end,
        int(starts[0]),
        int(starts[-1]),
        int(ends[0]),
        int(ends[-1]),
        before,
        before + rise,
        residuals,
        np.maximum(best - start_gains, 0.0) / unit,
        np.maximum(best - end_gains, 0.0) / unit,
    )


def long_run_variance(residuals: Floats, parameters: int = PARAMETERS) -> float:
    """Variance of the residuals times (1 + ρ)/(1 − ρ): what their sums vary by, a value."""
    n = len(residuals)
    variance = float(residuals @ residuals) / max(n - parameters, 1)
    return variance * long_run(persistence(residuals, parameters, caution=0.0))


def departure(values: Floats, ramp: Ramp, until: int | None = None) -> int:
    """The last index, not after `until` (the ramp's start unless told), where a running median of 5
    is still within two of its standard errors of the first level; 0 where there is none.

    A drift that begins gently has left its level before the straight ramp does.
    """
    smooth = running_median(values, 5)
    error = 2.0 * MEDIAN_ERROR * difference_sigma(values) / math.sqrt(5)
    beyond = (smooth - ramp.before) * math.copysign(1.0, ramp.change) > error
    level = np.flatnonzero(~beyond[: (ramp.start if until is None else until) + 1])
    return int(level[-1]) if len(level) else 0


def start_interval(values: Floats, ramp: Ramp) -> tuple[int, int]:
    """Indices between which the movement starts, whether the drift is straight or curved.

    The 95 % interval of a straight ramp's start, and where the series is last seen on its first
    level, before that start and up to the ramp's end: the best ramp through a gentle beginning
    starts too late, through a steep one too early.
    """
    low = min(ramp.start_low, departure(values, ramp))
    return low, max(ramp.start_high, departure(values, ramp, ramp.end))


def held_until(values: Floats, ramp: Ramp) -> int:
    """The last index at which the drift still stands: the end, or where the series goes back.

    It has gone back where, after the ramp's end, a twentieth of the series (at least 5 points)
    in a row has a running median on the old level's side of half the change.
    """
    n = len(values)
    patience = max(5, n // 20)
    half = ramp.before + ramp.change / 2.0
    smooth = running_median(values, patience | 1)
    back = (smooth - half) * math.copysign(1.0, ramp.change) < 0.0
    back[: ramp.end] = False
    runs = np.convolve(back, np.ones(patience), mode="valid")
    returned = np.flatnonzero(runs > patience - 0.5)
    return int(returned[0]) - 1 if len(returned) else n - 1
