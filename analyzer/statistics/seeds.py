"""Several runs of one configuration against several of another."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from analyzer.statistics.bootstrap import REPETITIONS, SEED, Estimate, around
from analyzer.statistics.finite import Floats


@dataclass(frozen=True, slots=True)
class SeedDifference:
    """Interquartile mean of the first minus that of the second, and P(first > second)."""

    difference: Estimate
    improvement: float
    improvement_low: float
    improvement_high: float


def interquartile_mean(scores: Floats) -> Floats:
    """The mean of the middle half of each row; of fewer than four the plain mean.

    A quarter of the scores, rounded down, is left out at both ends (Agarwal et al. 2021).
    """
    cut = scores.shape[-1] // 4
    ordered = np.sort(scores, axis=-1)
    means: Floats = ordered[..., cut : scores.shape[-1] - cut].mean(axis=-1)
    return means


def probability_of_improvement(first: Floats, second: Floats) -> Floats:
    """The share of pairs, one score of each row of both, in which the first is higher.

    Ties count half: the Mann–Whitney statistic over its largest value (Agarwal et al. 2021).
    """
    apart = first[..., :, None] - second[..., None, :]
    share: Floats = ((apart > 0) + 0.5 * (apart == 0)).mean(axis=(-2, -1))
    return share


def seed_difference(
    first: Floats, second: Floats, confidence: float, seed: int = SEED
) -> SeedDifference:
    """Scores of single runs, by a bootstrap stratified by side: each side's runs are drawn anew.

    Drawn deviations are widened by √(m/(m − 1)) for m runs, which a bootstrap of few runs lacks,
    and by Student's quantile. A side of one run takes the spread of the other. Raises ValueError
    where neither side has two.
    """
    freedom = len(first) + len(second) - 2
    if freedom < 1:
        raise ValueError("a spread of seeds needs two runs on one side")
    generator = np.random.default_rng(seed)
    a, b = _drawn(first, second, generator), _drawn(second, first, generator)
    value = float(interquartile_mean(first) - interquartile_mean(second))
    deviations = interquartile_mean(a) - interquartile_mean(b) - value
    share = probability_of_improvement(a, b)
    tail = 0.5 - confidence / 2.0
    low, high = np.quantile(share, [tail, 1.0 - tail])
    return SeedDifference(
        around(value, deviations, freedom, confidence),
        float(probability_of_improvement(first, second)),
        float(low),
        float(high),
    )


def _drawn(own: Floats, other: Floats, generator: np.random.Generator) -> Floats:
    """Bootstraps of one side, one a row."""
    source = own if len(own) > 1 else other
    centre = float(own.mean())
    m = len(source)
    deviations = (source - source.mean()) * math.sqrt(m / (m - 1.0))
    index = generator.integers(0, m, size=(REPETITIONS, len(own)))
    drawn: Floats = centre + deviations[index]
    return drawn
