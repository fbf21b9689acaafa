"""Do two series move together?"""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from analyzer.findings.model import Evidence, Onset
from analyzer.findings.numbers import MINUS
from analyzer.rulebook.conditions.base import Windowed
from analyzer.rulebook.conditions.wording import p_text
from analyzer.rulebook.context import RunView
from analyzer.rulebook.outcome import Outcome, unknown
from analyzer.statistics.comove import FEWEST, Comovement, comovement
from analyzer.statistics.finite import Floats, Steps, finite
from analyzer.statistics.ramp import departure, held_until
from analyzer.statistics.reduce import bucket_medians
from analyzer.tables.evidence import Absent, Series

BUCKETS = 512


class Together(Windowed):
    """Do they drift at the same time, or do their changes from step to step agree?"""

    kind: ClassVar[str] = "together"
    series: tuple[str, str]
    sign: Literal["same", "opposite"] = "same"
    min_rho: float = Field(default=0.5, ge=0, le=1, description="Spearman's ρ of the levels")
    max_lag: int = Field(default=10, ge=0, description="logged steps one may follow the other by")
    confidence: float = Field(default=0.99, gt=0.5, lt=1)

    def series_names(self) -> tuple[str, ...]:
        """The two series it judges."""
        return self.series

    def judge(self, run: RunView) -> Outcome:
        """By rank correlation, the drifts' windows and a block bootstrap, on the steps of both."""
        parts = []
        for name in self.series:
            series = run.series(name)
            if isinstance(series, Absent):
                return unknown(series.reason)
            parts.append(self.part_of(series, run))
        steps, (first, second) = _joint(parts[0], parts[1])
        if len(steps) < FEWEST:
            return unknown(
                f"{' and '.join(self.series)}: only {len(steps)} steps in common, {FEWEST} needed"
            )
        found = comovement(steps, first, second, self.max_lag)
        text = self._words(found)
        wanted = 1 if self.sign == "same" else -1
        holds = wanted * found.rho >= self.min_rho and found.p_value <= 1 - self.confidence
        if not holds:
            evidence = self._evidence(parts, found, None, text)
            margin = f"{' and '.join(self.series)}: {text}"
            return Outcome("not", (evidence,), p_value=found.p_value, margin=margin)
        window, onset = _span(steps, first, second, found)
        return Outcome(
            "holds",
            (self._evidence(parts, found, window, text),),
            (window,),
            onset,
            p_value=found.p_value,
            confidence=1 - found.p_value,
        )

    def _words(self, found: Comovement) -> str:
        text = f"rank correlation {_rho(found.rho)}"
        if found.lag:
            names = self.series if found.lag > 0 else self.series[::-1]
            text += f", {names[1]} {abs(found.lag)} logged steps after {names[0]}"
        text += f", of the changes {_rho(found.rho_changes)}"
        if found.p_drift < found.p_changes:
            text += ", drifts at the same time"
        return f"{text}, {p_text(found.p_value)}"

    def _evidence(
        self,
        parts: list[Series],
        found: Comovement,
        window: tuple[int, int] | None,
        text: str,
    ) -> Evidence:
        limit = self.min_rho if self.sign == "same" else -self.min_rho
        relation = "≥" if self.sign == "same" else "≤"
        return Evidence(
            self.kind,
            ", ".join(self.series),
            ", ".join(part.logged_as for part in parts),
            "1",
            found.rho,
            limit,
            window,
            text,
            f"move together, rank correlation {relation} {_rho(limit)}",
        )


def _joint(first: Series, second: Series) -> tuple[Steps, tuple[Floats, ...]]:
    """The steps at which both are finite, with the values of both."""
    a, b = finite(first.steps, first.values), finite(second.steps, second.values)
    steps, in_a, in_b = np.intersect1d(a.steps, b.steps, assume_unique=True, return_indices=True)
    return bucket_medians(steps, a.values[in_a], b.values[in_b], buckets=BUCKETS)


def _span(
    steps: Steps, first: Floats, second: Floats, found: Comovement
) -> tuple[tuple[int, int], Onset]:
    """Where both have drifted; all judged steps where only their changes agree."""
    if found.p_drift > found.p_changes:
        whole = int(steps[0]), int(steps[-1])
        return whole, Onset(whole[0], whole[0], whole[0])
    drifts = [(found.first.ramp, first), (found.second.ramp, second)]
    late, values = max(drifts, key=lambda drift: drift[0].start)
    end = min(held_until(v, ramp) for ramp, v in drifts)
    low = min(late.start_low, departure(values, late))
    window = int(steps[late.start]), int(steps[max(end, late.start)])
    return window, Onset(window[0], int(steps[low]), int(steps[late.start_high]))


def _rho(value: float) -> str:
    return f"{value:.2f}".replace("-", MINUS)
