"""Do two series move together?"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from analyzer.statistics.autocorrelation import persistence
from analyzer.statistics.finite import Floats, Steps
from analyzer.statistics.ramp import PARAMETERS, PLACE_95, Ramp
from analyzer.statistics.rank import spearman, standard_ranks
from analyzer.statistics.trend import Trend, trend

FEWEST = 20
REPETITIONS = 499
SEED = 20_210_607
EULER = 0.5772156649015329
# A delay counts where it raises the correlation by more than this.
CLEARER = 0.02


@dataclass(frozen=True, eq=False)
class Comovement:
    """How two series on the same steps move with one another; `lag` > 0: the second follows."""

    rho: float  # Spearman of the levels at that lag
    lag: int
    rho_changes: float  # Spearman of the changes, at the lag where it is largest
    p_drift: float  # neither or only one drifts, or not at the same time
    p_changes: float  # the changes have nothing to do with one another
    overlap: float  # share of the shorter movement that falls into the longer one
    apart: float  # by how much −2·ln(likelihood) rises where one ends before the other starts
    first: Trend
    second: Trend

    @property
    def p_value(self) -> float:
        """Of the two ways to move together, the clearer one; doubled for looking twice."""
        return min(1.0, 2.0 * min(self.p_drift, self.p_changes))


def comovement(
    steps: Steps, first: Floats, second: Floats, max_lag: int = 10, seed: int = SEED
) -> Comovement:
    """Co-movement of two series in their drifts or in their step-to-step changes.

    Two series that merely both drift are correlated whatever they have to do with one another,
    and so are two with long memories. So the correlation of levels says how closely they move,
    and the p-value comes from elsewhere: from drifts at the same time (the larger p of the two
    trends, where at least half of the shorter movement falls into the longer one, and where it
    is not likely that one ended before the other started), or from a block bootstrap of the
    changes. Raises ValueError for fewer than FEWEST points.
    """
    if len(steps) < FEWEST:
        raise ValueError(f"a co-movement needs {FEWEST} points, not {len(steps)}")
    max_lag = min(max_lag, len(steps) // 4)
    rho, lag = lagged_spearman(first, second, max_lag)
    trends = trend(steps, first), trend(steps, second)
    slack = min(max_lag, len(steps) // 10)
    overlap = movement_overlap(*trends, slack)
    apart = sequence_loss(trends[0].ramp, trends[1].ramp, slack)
    same_time = overlap >= 0.5 and apart > PLACE_95
    together = same_time and _sign(trends[0]) * _sign(trends[1]) * rho > 0.0
    p_drift = max(trends[0].p_value, trends[1].p_value) if together else 1.0
    rho_changes, p_changes = changes_test(
        trends[0].ramp.residuals, trends[1].ramp.residuals, max_lag, seed
    )
    if rho_changes * rho < 0.0:
        p_changes = 1.0
    return Comovement(rho, lag, rho_changes, p_drift, p_changes, overlap, apart, *trends)


def _sign(of: Trend) -> float:
    return math.copysign(1.0, of.ramp.change)


def lagged_spearman(first: Floats, second: Floats, max_lag: int) -> tuple[float, int]:
    """The largest Spearman correlation in size over lags of up to `max_lag` points, and its lag.

    The smallest lag is taken unless a greater one is clearer.
    """
    best, at = spearman(first, second), 0
    for lag in range(1, max_lag + 1):
        for signed in (lag, -lag):
            ahead, behind = (first, second) if signed > 0 else (second, first)
            rho = spearman(ahead[:-lag], behind[lag:])
            if abs(rho) > abs(best) + CLEARER:
                best, at = rho, signed
    return best, at


def movement_overlap(first: Trend, second: Trend, slack: int) -> float:
    """The share of the shorter movement (ramp start to end) within the longer one, each widened
    by half of `slack` points on both sides."""
    spans = [(of.ramp.start - slack / 2.0, of.ramp.end + slack / 2.0) for of in (first, second)]
    shared = min(end for _, end in spans) - max(start for start, _ in spans)
    return max(0.0, shared) / max(1.0, min(end - start for start, end in spans))


def sequence_loss(first: Ramp, second: Ramp, slack: int) -> float:
    """The least rise of −2·ln(likelihood) that puts more than `slack` points between the end of
    one movement and the start of the other, whichever comes first; infinite where no place is
    left for that.

    Fitted corners of weak drifts are far off, so that halves of a run can seem to overlap.
    """
    losses = []
    for early, late in ((first, second), (second, first)):
        latest = np.minimum.accumulate(late.start_loss[::-1])[::-1]
        sums = early.end_loss[: -slack - 1] + latest[slack + 1 :]
        losses.append(float(sums.min()) if len(sums) else math.inf)
    return min(losses)


def quasi_differences(residuals: Floats) -> Floats:
    """e(t) − ρ·e(t−1) with the series' own ρ: what is new at each step.

    First differences where ρ is near 1; for white noise these would add a memory it has not.
    """
    rho = persistence(residuals, PARAMETERS, caution=0.0)
    new: Floats = residuals[1:] - rho * residuals[:-1]
    return new


def changes_test(
    first: Floats, second: Floats, max_lag: int, seed: int = SEED
) -> tuple[float, float]:
    """Spearman of the quasi-differences at their best lag, and the p-value of its size.

    Takes what the drifts leave. Haugh 1976 correlates what an autoregression leaves of each
    series. The null distribution of the largest correlation over all lags comes from a circular
    block bootstrap (Politis & Romano 1992) of one series, blocks of n^(1/3); a Gumbel
    distribution with the bootstrap's mean and variance continues it beyond 1/REPETITIONS.
    """
    a = standard_ranks(quasi_differences(first))
    b = standard_ranks(quasi_differences(second))
    observed = _cross_correlations(a, b[None, :], max_lag)[0]
    at = int(np.abs(observed).argmax())
    sizes = np.abs(_cross_correlations(a, _resampled(b, seed), max_lag)).max(axis=1)
    scale = float(sizes.std()) * math.sqrt(6.0) / math.pi
    if scale == 0.0:
        return 0.0, 1.0
    place = float(sizes.mean()) - EULER * scale
    p_value = -math.expm1(-math.exp(-(abs(float(observed[at])) - place) / scale))
    return float(observed[at]), p_value


def _resampled(values: Floats, seed: int) -> Floats:
    """REPETITIONS circular block bootstraps of the values, one a row, of unit length."""
    n = len(values)
    length = round(math.cbrt(n))
    starts = np.random.default_rng(seed).integers(0, n, size=(REPETITIONS, -(-n // length)))
    index = (starts[:, :, None] + np.arange(length)).reshape(REPETITIONS, -1)[:, :n] % n
    drawn = values[index]
    drawn = drawn - drawn.mean(axis=1, keepdims=True)
    unit: Floats = drawn / np.maximum(np.linalg.norm(drawn, axis=1, keepdims=True), 1e-12)
    return unit


def _cross_correlations(a: Floats, rows: Floats, max_lag: int) -> Floats:
    """Circular correlations of `a` with each row at lags −max_lag … max_lag, one row each."""
    n = len(a)
    product = np.conj(np.fft.rfft(a)) * np.fft.rfft(rows, axis=1)
    full = np.fft.irfft(product, n, axis=1)
    return np.concatenate([full[:, n - max_lag :], full[:, : max_lag + 1]], axis=1)
