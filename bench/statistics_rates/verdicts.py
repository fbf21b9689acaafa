"""What each condition's test says of a pair of series, and what the plain alternatives say."""

from __future__ import annotations

import numpy as np
import ruptures
from scipy import stats

from analyzer.statistics.comove import comovement
from analyzer.statistics.difference import level_difference
from analyzer.statistics.finite import Steps
from analyzer.statistics.noise import detrended, mad_sigma
from analyzer.statistics.outlier import heights
from analyzer.statistics.ramp import start_interval
from analyzer.statistics.reduce import bucket_medians
from analyzer.statistics.shift import shifts
from analyzer.statistics.trend import Trend, trend
from statistics_rates.simulated import Floats, Pair

NOMINAL = 0.01
BUCKETS = 512  # trend, shift, together and order see no more points than this
SPIKE_Z = 6.0  # what the condition asks for unless told otherwise
SPREAD_RATIO = 2.0
PELT_PENALTY = 3.0
PELT_LONGEST = 500
SPREAD_LONGEST = 500  # its running median of a tenth of the series takes a second beyond

TESTS = ("trend", "shift", "spike", "spread", "together", "order", "differs")
QUICK = ("spread", "differs")  # of which many pairs can be had
SLOW = tuple(test for test in TESTS if test not in QUICK)
PLAIN = {
    "trend": ("OLS slope", "last value"),
    "shift": ("Pelt",),
    "together": ("Spearman",),
    "differs": ("Welch",),
}


def reduced(pair: Pair) -> tuple[Steps, Pair]:
    """Medians of equal counts where the series is longer than BUCKETS, as a run's tables give."""
    steps, (first, second) = bucket_medians(np.arange(len(pair[0])), *pair, buckets=BUCKETS)
    return steps, (first, second)


def judged(pair: Pair, tests: tuple[str, ...] = TESTS) -> dict[str, list[bool]]:
    """Test → whether it fires at the nominal 1 %: for each of the two series, or for the pair."""
    answers: dict[str, list[bool]] = {}
    steps, short = reduced(pair)
    if "together" in tests:
        moved = comovement(steps, *short)
        trends = moved.first, moved.second
        answers["together"] = [moved.p_value <= NOMINAL]
    elif "trend" in tests or "order" in tests:
        trends = trend(steps, short[0]), trend(steps, short[1])
    if "trend" in tests:
        answers["trend"] = [of.p_value <= NOMINAL for of in trends]
    if "order" in tests:
        answers["order"] = [_ordered(short, trends)]
    if "shift" in tests:
        answers["shift"] = [any(jump.p_value <= NOMINAL for jump in shifts(x)) for x in short]
    if "spike" in tests:
        answers["spike"] = [bool(np.abs(heights(x)[0]).max() > SPIKE_Z) for x in pair]
    if "spread" in tests and len(pair[0]) <= SPREAD_LONGEST:
        answers["spread"] = [_noisier(x) for x in pair]
    if "differs" in tests:
        answers["differs"] = [level_difference(*pair).p_value <= NOMINAL]
    return {test: answers[test] for test in tests if test in answers}


def _ordered(pair: Pair, trends: tuple[Trend, Trend]) -> bool:
    """As the condition `order` has it, for steps that both have."""
    if max(of.p_value for of in trends) > NOMINAL:
        return False
    _, high = start_interval(pair[0], trends[0].ramp)
    low, _ = start_interval(pair[1], trends[1].ramp)
    return high < low


def _noisier(values: Floats) -> bool:
    """As the condition `spread` with `relative_to: first_window` and `above: 2` has it."""
    residuals = detrended(values)
    start = residuals[: max(20, len(values) // 10)]
    return mad_sigma(residuals) > SPREAD_RATIO * mad_sigma(start)


def plainly(pair: Pair, tests: tuple[str, ...] = TESTS) -> dict[str, list[bool]]:
    """Alternative → whether it fires, on the series as they are."""
    answers: dict[str, list[bool]] = {}
    if "trend" in tests:
        steps = np.arange(len(pair[0]))
        slopes = [stats.linregress(steps, x).pvalue for x in pair]
        answers["OLS slope"] = [bool(p <= NOMINAL) for p in slopes]
        answers["last value"] = [bool(x[-1] > threshold(x)) for x in pair]
    if "together" in tests:
        answers["Spearman"] = [bool(stats.spearmanr(*pair).pvalue <= NOMINAL)]
    if "differs" in tests:
        welch = stats.ttest_ind(*pair, equal_var=False).pvalue
        answers["Welch"] = [bool(welch <= NOMINAL)]
    return answers


def threshold(values: Floats) -> float:
    """Mean and three standard deviations of the first quarter."""
    quarter = values[: len(values) // 4]
    return float(quarter.mean() + 3.0 * quarter.std(ddof=1))


def pelt(values: Floats) -> list[int]:
    """Change points of ruptures' Pelt as it comes: model l2, min_size 2, jump 5, penalty
    3·ln n times the variance of the whole series."""
    penalty = PELT_PENALTY * np.log(len(values)) * float(values.var())
    found = ruptures.Pelt(model="l2").fit(values).predict(pen=penalty)
    return [int(at) for at in found[:-1]]
