"""Two sides' curves as they are drawn: smoothed, with bands."""

from __future__ import annotations

import numpy as np

from analyzer.compare.model import CONFIDENCE, Band, DrawnCurves
from analyzer.compare.seed_spread import FREEDOM
from analyzer.statistics.autocorrelation import mean_variance, persistence
from analyzer.statistics.curves import smoothed
from analyzer.statistics.finite import Floats
from analyzer.statistics.tails import student_quantile

TAIL = 0.5 + CONFIDENCE / 2.0


def drawn_curves(places: Floats, curves: Floats, split: int, spread: float) -> DrawnCurves:
    """The first `split` rows are one side's runs, the others the other's.

    A side of several runs: their mean, and Student's interval of it from their spread, place by
    place; a side of one takes the spread of the other. One run each: the noise of the smoothed
    curve and `spread`, the standard deviation assumed between seeds.
    """
    reach = curves.shape[1] // 20
    smooth = smoothed(curves, reach)
    mine, other = smooth[:split], smooth[split:]
    if len(curves) > 2:
        sides = [_variance(mine, other), _variance(other, mine)]
        freedoms = [_freedom(mine, other), _freedom(other, mine)]
        whole = len(curves) - 2
    else:
        sides = [_noise(curves[i] - smooth[i], reach) + spread**2 for i in range(2)]
        freedoms, whole = [FREEDOM, FREEDOM], FREEDOM
    a, b = mine.mean(axis=0), other.mean(axis=0)
    return DrawnCurves(
        places,
        _band(a, sides[0], freedoms[0]),
        _band(b, sides[1], freedoms[1]),
        _band(a - b, sides[0] + sides[1], whole),
    )


def _band(middle: Floats, variance: Floats, freedom: int) -> Band:
    reach = student_quantile(TAIL, freedom) * np.sqrt(variance)
    return Band(middle, middle - reach, middle + reach)


def _freedom(own: Floats, other: Floats) -> int:
    return len(own if len(own) > 1 else other) - 1


def _variance(own: Floats, other: Floats) -> Floats:
    """Of the mean of a side's runs, at each place."""
    spread: Floats = (own if len(own) > 1 else other).var(axis=0, ddof=1) / len(own)
    return spread


def _noise(residuals: Floats, reach: int) -> Floats:
    """Variance of the smoothed curve at each place, from what smoothing leaves of a run."""
    n, width = len(residuals), 2 * max(2, reach) + 1
    here = np.arange(n)
    widths = np.minimum(width, 2 * np.minimum(here, here[::-1]) + 1)
    rho = persistence(residuals, 1)
    shares = {w: mean_variance(w, rho) for w in set(widths.tolist())}
    # The mean takes its own share of white noise along.
    variance = float(residuals.var()) / (1.0 - 1.0 / width)
    return variance * np.array([shares[w] for w in widths.tolist()])
