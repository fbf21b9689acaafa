"""How noisy a series is, whatever its drift, and how noisy a mean of rewards must be."""

from __future__ import annotations

import math

import numpy as np

from analyzer.statistics.finite import Floats

# A normal variable's standard deviation over its median absolute deviation, 1 / Φ⁻¹(3/4), and
# over its mean absolute value, √(π/2).
MAD_TO_SIGMA = 1.482602218505602
MEAN_TO_SIGMA = math.sqrt(math.pi / 2)
MEDIAN_ERROR = math.sqrt(math.pi / 2)  # standard error of a median over that of a mean

# Statistical error of ln σ̂ times √n: of the sample standard deviation, and of the MAD
# (Rousseeuw & Croux 1993: the MAD has 36.7 % of its efficiency).
LOG_ERROR_STD = 1 / math.sqrt(2)
LOG_ERROR_MAD = LOG_ERROR_STD / math.sqrt(0.367)


# Points of the median that drift is taken off with; more would cost seconds and gain nothing.
WIDEST = 101


def mad_sigma(values: Floats) -> float:
    """Standard deviation from the median absolute deviation; 0 where half the values agree."""
    if len(values) == 0:
        return 0.0
    return MAD_TO_SIGMA * float(np.median(np.abs(values - np.median(values))))


def difference_sigma(values: Floats, lag: int = 1) -> float:
    """σ of step-to-step noise: the MAD of differences over `lag` points, over √2.

    Blind to drift and to a few jumps. For an AR(1) series of standard deviation s it is
    s·√(1 − ρ^lag). Where most differences are zero (a series of few distinct values) their mean
    absolute value takes the place of the median. 0 for no more than `lag` values.
    """
    if len(values) <= lag:
        return 0.0
    size = np.abs(values[lag:] - values[:-lag])
    typical = MAD_TO_SIGMA * float(np.median(size))
    return (typical or MEAN_TO_SIGMA * float(size.mean())) / math.sqrt(2)


def running_median(values: Floats, window: int) -> Floats:
    """The median of the `window` values around each one; `window` is odd.

    The ends are mirrored, so that the result has the length of `values`.
    """
    window = min(window, len(values) - 1 + len(values) % 2)
    if window < 3:
        return values.copy()
    padded = np.pad(values, window // 2, mode="reflect")
    return np.median(np.lib.stride_tricks.sliding_window_view(padded, window), axis=1)


def detrended(values: Floats) -> Floats:
    """What is left when a running median is taken off: of a tenth of the series, 11 to WIDEST.

    The median of w neighbours follows drift and jumps and takes about 0.4/w of white noise's
    variance along, which is left uncorrected.
    """
    window = min(max(11, len(values) // 10), WIDEST) | 1
    return values - running_median(values, window)


def without_outliers(values: Floats, sigmas: float = 5.0) -> Floats:
    """Values further than `sigmas` noise from the running median of 7 are put on that median.

    A Hampel filter with one σ for the series; it keeps steps and ramps, and drops a spike of up
    to three points.
    """
    typical = difference_sigma(values)
    middle = running_median(values, 7)
    return np.where(np.abs(values - middle) > sigmas * typical, middle, values)


def effective_size(n: int, rho: float) -> float:
    """How many independent values tell as much about the mean as n of an AR(1) with ρ ≥ 0.

    n·(1 − ρ)/(1 + ρ), the first order of Bayley & Hammersley 1946.
    """
    return n * (1.0 - rho) / (1.0 + rho)


def sampling_noise(rate: float, n: float) -> float:
    """σ of the mean of n independent 0/1 rewards at rate p: √(p(1 − p)/n).

    Samples of one prompt tend to agree, which makes the mean of a batch noisier than this;
    graded rewards on [0, 1] of the same mean vary less.
    """
    return math.sqrt(rate * (1.0 - rate) / n)


def samples_for(rate: float, sigma: float) -> int:
    """The smallest n for which the mean of n 0/1 rewards at rate p has a σ of at most `sigma`."""
    return math.ceil(rate * (1.0 - rate) / sigma**2 - 1e-9)
