"""What a finding asks of the replay: which series, which steps, and where it would be healthy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from analyzer.findings.model import ConfigChange

Pick = Literal["worst", "first", "last"]


@dataclass(frozen=True, slots=True)
class Limit:
    """Where a rule calls a series healthy: from `low` to `high`, both belonging to it."""

    series: str
    low: float
    high: float

    def beyond(self, value: float) -> bool:
        """Is the value where the rule fires? NaN is nowhere."""
        return value < self.low or value > self.high


@dataclass(frozen=True, slots=True)
class Question:
    """A finding, as far as a replay can say anything about it."""

    finding: str  # its id
    series: str  # whose steps are replayed
    pick: Pick
    steps: int  # at most so many
    windows: tuple[tuple[int, int], ...]  # where it holds; empty: the whole run
    evidence: tuple[tuple[int, int], ...]  # where one of its conditions holds
    onset: int | None
    limits: tuple[Limit, ...]
    metrics: tuple[str, ...]  # canonical or derived names that its evidence rests on
    says_metric_wrong: bool  # the rule itself says that the log misleads
    changes: tuple[ConfigChange, ...]  # of its remedies

    def holds_at(self, step: int) -> bool:
        """Does the finding hold at this step?"""
        return not self.windows or _within(step, self.windows)

    def touches(self, step: int) -> bool:
        """Does it hold, or one of its conditions alone?"""
        return self.holds_at(step) or _within(step, self.evidence)

    def limit_of(self, name: str) -> Limit | None:
        """The rule's limit for a series."""
        return next((limit for limit in self.limits if limit.series == name), None)


def _within(step: int, windows: tuple[tuple[int, int], ...]) -> bool:
    return any(low <= step <= high for low, high in windows)
