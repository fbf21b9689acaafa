"""Does this run differ from another one?"""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from analyzer.findings.model import Evidence, Onset
from analyzer.findings.numbers import format_value
from analyzer.rulebook.conditions.base import Windowed
from analyzer.rulebook.conditions.wording import p_text, signed
from analyzer.rulebook.context import RunView
from analyzer.rulebook.outcome import Outcome, unknown
from analyzer.statistics.difference import FEWEST, Difference, level_difference
from analyzer.statistics.finite import finite
from analyzer.tables.evidence import Absent, Floats, Series

Role = Literal["sync", "testset", "baseline", "sibling"]


class Differs(Windowed):
    """Is this run's level above or below that of the run in a role, over the judged steps?"""

    kind: ClassVar[str] = "differs"
    series: str
    against: Role
    direction: Literal["up", "down", "either"] = "either"
    min_effect: float = Field(default=0.0, ge=0, description="in the series' unit")
    confidence: float = Field(default=0.99, gt=0.5, lt=1)

    def series_names(self) -> tuple[str, ...]:
        """The series it judges, in both runs."""
        return (self.series,)

    def judge(self, run: RunView) -> Outcome:
        """holds and not by the interval of the difference; unknown where it allows both."""
        other = run.other(self.against)
        if other is None:
            return unknown(f"no run was given in the role of {self.against}")
        mine, theirs = run.series(self.series), other.series(self.series)
        if isinstance(mine, Absent):
            return unknown(mine.reason)
        if isinstance(theirs, Absent):
            return unknown(f"{self.series} is not logged in the {self.against} run")
        part = self.part_of(mine, run)
        a, b = self._common(part, theirs)
        if min(len(a), len(b)) < FEWEST:
            return unknown(f"{self.series}: fewer than {FEWEST} steps that both runs logged")
        return self._outcome(part, a, b, level_difference(a, b, self.confidence))

    def _common(self, mine: Series, theirs: Series) -> tuple[Floats, Floats]:
        """The finite values of both at the steps that both logged."""
        steps = np.intersect1d(mine.steps, theirs.steps, assume_unique=True)
        a = mine.values[np.searchsorted(mine.steps, steps)]
        b = theirs.values[np.searchsorted(theirs.steps, steps)]
        both = np.isfinite(a) & np.isfinite(b)
        kept = finite(steps[both], a[both])
        return kept.values, b[both]

    def _outcome(self, part: Series, a: Floats, b: Floats, found: Difference) -> Outcome:
        unit = part.unit
        between = f"{signed(found.low, unit)} to {signed(found.high, unit)}"
        text = (
            f"{format_value(float(a.mean()), unit)} against {format_value(float(b.mean()), unit)}: "
            f"{signed(found.value, unit)} ({between}), {p_text(found.p_value)}"
        )
        window = (int(part.steps[0]), int(part.steps[-1]))
        evidence = Evidence(
            self.kind,
            self.series,
            part.logged_as,
            unit,
            found.value,
            self.min_effect,
            window,
            text,
            self._needed(unit),
        )
        if self._beyond(found):
            onset = Onset(window[0], window[0], window[0])
            return Outcome(
                "holds",
                (evidence,),
                (window,),
                onset,
                p_value=found.p_value,
                confidence=self.confidence,
            )
        if self._excluded(found):
            return Outcome("not", (evidence,), margin=f"{self.series}: {text}")
        return unknown(f"not separable from the {self.against} run: {self.series} {text}")

    def _needed(self, unit: str) -> str:
        way = {"up": "above", "down": "below", "either": "off"}[self.direction]
        size = f" by more than {format_value(self.min_effect, unit)}" if self.min_effect else ""
        return f"{way} the {self.against} run{size}"

    def _beyond(self, found: Difference) -> bool:
        """Is the whole interval a difference that counts?"""
        up = self.direction != "down" and found.low > self.min_effect
        down = self.direction != "up" and found.high < -self.min_effect
        return up or down

    def _excluded(self, found: Difference) -> bool:
        """Does the whole interval lie where no difference counts?"""
        low = -np.inf if self.direction == "up" else -self.min_effect
        high = np.inf if self.direction == "down" else self.min_effect
        return bool(low <= found.low and found.high <= high)
