"""Did one series begin to move before another?"""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from analyzer.findings.model import Evidence, Onset
from analyzer.rulebook.conditions.base import Condition
from analyzer.rulebook.context import RunView
from analyzer.rulebook.outcome import Outcome, unknown
from analyzer.statistics.finite import Finite, finite
from analyzer.statistics.ramp import start_interval
from analyzer.statistics.trend import Trend, trend
from analyzer.tables.evidence import Absent

FEWEST = 20
BUCKETS = 512


class Order(Condition):
    """Does the drift of the first series start before that of the second, and not too long?"""

    kind: ClassVar[str] = "order"
    first: str = Field(description="the one that has to begin")
    then: str = Field(description="the one that has to follow")
    within: int | None = Field(default=None, ge=1, description="steps between the two at most")
    confidence: float = Field(default=0.99, gt=0.5, lt=1)

    def series_names(self) -> tuple[str, ...]:
        """The two series it judges."""
        return self.first, self.then

    def judge(self, run: RunView) -> Outcome:
        """By the intervals of the steps where the two drifts start."""
        moved = []
        for name in self.series_names():
            series = run.series(name, BUCKETS)
            if isinstance(series, Absent):
                return unknown(series.reason)
            points = finite(series.steps, series.values)
            if len(points) < FEWEST:
                return unknown(f"{name}: only {len(points)} logged steps, {FEWEST} needed")
            drift = trend(points.steps, points.values, self.confidence)
            moved.append((points, drift, series.logged_as))
        return self._compare(moved)

    def _compare(self, moved: list[tuple[Finite, Trend, str]]) -> Outcome:
        (_, drift_a, logged_a), (b, drift_b, logged_b) = moved
        p_value = max(drift_a.p_value, drift_b.p_value)
        starts = [_start(points, drift) for points, drift, _ in moved]
        text = (
            f"{self.first} from step {starts[0].step} ({starts[0].low}–{starts[0].high}), "
            f"{self.then} from step {starts[1].step} ({starts[1].low}–{starts[1].high})"
        )
        needed = f"{self.first} starts first"
        if self.within is not None:
            needed += f", at most {self.within} steps earlier"
        gap = starts[1].step - starts[0].step
        in_time = self.within is None or gap <= self.within
        window = (starts[1].step, int(b.steps[-1]))
        evidence = Evidence(
            self.kind,
            ", ".join(self.series_names()),
            f"{logged_a}, {logged_b}",
            "steps",
            float(gap),
            None if self.within is None else float(self.within),
            window,
            text,
            needed,
        )
        margin = f"{self.first} and {self.then}: {text}"
        if p_value > 1 - self.confidence:
            return Outcome(
                "not", (evidence,), p_value=p_value, margin=f"{margin}; one of them has no drift"
            )
        if starts[0].high < starts[1].low and in_time:
            return Outcome(
                "holds", (evidence,), (window,), starts[1], p_value=p_value, confidence=1 - p_value
            )
        if starts[1].high < starts[0].low or (starts[0].high < starts[1].low and not in_time):
            return Outcome("not", (evidence,), p_value=p_value, margin=margin)
        return unknown(f"cannot tell which began first: {text}")


def _start(points: Finite, drift: Trend) -> Onset:
    low, high = start_interval(points.values, drift.ramp)
    steps = points.steps
    return Onset(int(steps[drift.ramp.start]), int(steps[low]), int(steps[high]))
