"""What a count says of a rate, without an assumption on the distribution."""

from __future__ import annotations

import math

_HALVINGS = 60


def upper_bound(events: int, trials: int, confidence: float = 0.95) -> float:
    """The rate that is not exceeded with this confidence, after so many events in trials.

    Clopper and Pearson's one-sided bound: the rate p at which so few events or fewer have the
    probability 1 − confidence; for no event 1 − (1 − confidence)^(1/n), about 3/n at 95 %. It holds
    as well for a limit that was put just above all but `events` of the trials' own values (Wilks,
    Annals of Mathematical Statistics 12, 1941): that share of a distribution follows the same Beta
    law. 1 where there is no trial.
    """
    if not trials or events >= trials:
        return 1.0
    low, high = events / trials, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if _at_most(events, trials, middle) > 1 - confidence:
            low = middle
        else:
            high = middle
    return high


def trials_needed(rate: float, confidence: float = 0.95) -> int:
    """How many trials without an event it takes to say that the rate is not exceeded."""
    return math.ceil(math.log(1 - confidence) / math.log1p(-rate))


def _at_most(events: int, trials: int, rate: float) -> float:
    """The probability of so few events or fewer."""
    if rate >= 1:
        return 0.0
    terms = (
        math.lgamma(trials + 1)
        - math.lgamma(k + 1)
        - math.lgamma(trials - k + 1)
        + (k * math.log(rate) if k else 0.0)
        + (trials - k) * math.log1p(-rate)
        for k in range(events + 1)
    )
    return math.fsum(map(math.exp, terms))
