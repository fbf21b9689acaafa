"""Does a series drift, how much, and since when?"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np
import numpy.typing as npt
from numpy.polynomial import legendre

from analyzer.statistics.autocorrelation import kendall_inflation, log_innovation, memory
from analyzer.statistics.finite import Floats, Steps
from analyzer.statistics.noise import without_outliers
from analyzer.statistics.ramp import PARAMETERS, Ramp, fit_ramp
from analyzer.statistics.tails import binomial_two_sided, quantile, two_sided

Indices = npt.NDArray[np.intp]

FEWEST = 10
RAMP_PRICE = 3.0
MOST_CURVED = 7  # degree; a learning curve or an S over the run is within 1 % of its range


@dataclass(frozen=True, eq=False)
class Trend:
    """A monotone drift, tested; slopes are per step."""

    p_value: float  # two-sided
    slope: float
    slope_low: float
    slope_high: float
    rho: float  # persistence that the test reckons with
    span: int  # steps from the first value to the last
    ends: float  # median of the last twentieth minus that of the first
    ramp: Ramp

    @property
    def change(self) -> float:
        """Theil–Sen slope times the span, in the series' unit."""
        return self.slope * self.span

    @property
    def size(self) -> float:
        """`change`, or the difference of the ends where that is greater.

        The median slope does not see a rise that takes less than a third of the steps.
        """
        return self.ends if abs(self.ends) > abs(self.change) else self.change

    @property
    def change_interval(self) -> tuple[float, float]:
        """The slope's confidence interval times the span."""
        return self.slope_low * self.span, self.slope_high * self.span


@lru_cache(maxsize=4)
def _pairs(n: int) -> tuple[Indices, Indices]:
    first, second = np.triu_indices(n, 1)
    return first, second


def pair_slopes(steps: Steps, values: Floats) -> Floats:
    """The slopes of all pairs of points, per step."""
    first, second = _pairs(len(values))
    slopes: Floats = (values[second] - values[first]) / (steps[second] - steps[first])
    return slopes


def kendall_s(values: Floats, slopes: Floats) -> tuple[int, float]:
    """Mann–Kendall's S (pairs that rise minus pairs that fall) and its variance for independent
    values, corrected for ties: (n(n−1)(2n+5) − Σ t(t−1)(2t+5))/18 (Kendall 1975)."""
    s = int(np.count_nonzero(slopes > 0.0)) - int(np.count_nonzero(slopes < 0.0))
    n = len(values)
    ties = np.unique(values, return_counts=True)[1].astype(np.float64)
    tied = float((ties * (ties - 1) * (2 * ties + 5)).sum())
    return s, (n * (n - 1.0) * (2 * n + 5) - tied) / 18.0


def theil_sen(slopes: Floats, rank_error: float) -> tuple[float, float, float]:
    """The median of all pairs' slopes, and the slopes `rank_error` ranks of S beside it.

    With z·√Var(S) as `rank_error` these are the confidence limits of Sen 1968.
    """
    m = len(slopes)
    low = min(max(round((m - rank_error) / 2.0) - 1, 0), m - 1)
    high = min(max(round((m + rank_error) / 2.0), 0), m - 1)
    left, right = (m - 1) // 2, m // 2
    ordered = np.partition(slopes, sorted({low, high, left, right}))
    middle = (ordered[left] + ordered[right]) / 2.0
    return float(middle), float(ordered[low]), float(ordered[high])


@lru_cache(maxsize=16)
def _polynomials(n: int) -> Floats:
    """Orthonormal polynomials of degree 0 to MOST_CURVED over n points, one a column."""
    basis, _ = np.linalg.qr(legendre.legvander(np.linspace(-1.0, 1.0, n), MOST_CURVED))
    return basis


def without_drift(values: Floats, ramp: Ramp) -> tuple[Floats, int]:
    """What is left when the drift is taken off, whatever its curve, and how many parameters it has.

    The drift is a line, a ramp, or a polynomial of odd degree: the one with the least
    n·ln(innovation variance) + price, where each coefficient costs ln n as in BIC, and the
    ramp's two corners RAMP_PRICE·ln n, since they are searched for. Left in, a curved drift
    would pass for a long memory and hide itself.
    """
    n = len(values)
    basis = _polynomials(n)
    weights = basis.T @ values
    chosen, parameters = values - basis[:, :2] @ weights[:2], 2
    least = n * log_innovation(chosen)
    candidates = [(ramp.residuals, PARAMETERS, RAMP_PRICE)]
    for degree in range(3, min(MOST_CURVED, n // 10) + 1, 2):
        left = values - basis[:, : degree + 1] @ weights[: degree + 1]
        candidates.append((left, degree + 1, degree - 1.0))
    for left, count, price in candidates:
        score = n * log_innovation(left) + price * math.log(n)
        if score < least:
            chosen, parameters, least = left, count, score
    return chosen, parameters


def block_sign_p(values: Floats) -> float:
    """p of the signs of changes between medians of up to 17 blocks of at least four values.

    For a random walk the signs are those of fair coins; for a series that returns to its mean
    they alternate more, so that the test then errs on the safe side. It sees what Mann–Kendall
    cannot once memory is allowed for: a smooth drift with hardly any noise on it.
    """
    blocks = min(17, len(values) // 4)
    if blocks < 3:
        return 1.0
    edges = np.linspace(0, len(values), blocks + 1).astype(int)
    middles = [np.median(values[a:b]) for a, b in pairwise(edges)]
    changes = np.diff(middles)
    return binomial_two_sided(int((changes > 0).sum()), int((changes != 0).sum()))


def trend(steps: Steps, values: Floats, confidence: float = 0.99) -> Trend:
    """Mann–Kendall's test with the memory of the series allowed for, and Theil–Sen's slope.

    Var(S) is inflated as by Hamed & Rao 1998 with the autocorrelation of an AR(1), estimated on
    what is left of the drift and taken on the safe side; the same inflation widens the slope's
    two-sided interval at `confidence`. The p-value is the smaller of that test's and of
    `block_sign_p`, doubled where the latter is used. Raises ValueError for fewer than FEWEST.
    """
    if len(values) < FEWEST:
        raise ValueError(f"a trend needs {FEWEST} values, not {len(values)}")
    calm = without_outliers(values)
    ramp = fit_ramp(calm)
    rho = memory(*without_drift(calm, ramp))
    slopes = pair_slopes(steps, values)
    s, variance = kendall_s(values, slopes)
    spread = math.sqrt(variance * kendall_inflation(len(values), rho))
    z = max(abs(s) - 1, 0) / spread if spread > 0.0 else 0.0
    p_value = min(two_sided(z), 2.0 * block_sign_p(values))
    slope, low, high = theil_sen(slopes, quantile(0.5 + confidence / 2) * spread)
    tail = max(5, len(values) // 20)
    ends = float(np.median(values[-tail:]) - np.median(values[:tail]))
    return Trend(p_value, slope, low, high, rho, int(steps[-1] - steps[0]), ends, ramp)
