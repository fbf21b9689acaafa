"""Do two series move together?"""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from analyzer.findings.model import Evidence, Onset
from analyzer.findings.numbers import MINUS
from analyzer.rulebook.conditions.base import Windowed
from analyzer.rulebook.context import RunView
from analyzer.rulebook.outcome import Outcome, unknown
from analyzer.statistics.comove import FEWEST, Comovement, comovement
from analyzer.tables.evidence import Absent, Series, Steps

BUCKETS = 512


class Together(Windowed):
    """Do two series rise and fall together, or against each other, perhaps with a lag?"""

    kind: ClassVar[str] = "together"
    series: tuple[str, str]
    sign: Literal["same", "opposite"] = "same"
    min_rho: float = Field(default=0.5, ge=0, le=1, description="Spearman's ρ of the levels")
    max_lag: int = Field(default=10, ge=0, description="logged steps")
    confidence: float = Field(default=0.99, gt=0.5, lt=1)

    def series_names(self) -> tuple[str, ...]:
        """The two series it judges."""
        return self.series

    def judge(self, run: RunView) -> Outcome:
        """By drifts at the same time or by changes that go together, on their common steps."""
        found = [run.series(name, BUCKETS) for name in self.series]
        for series in found:
            if isinstance(series, Absent):
                return unknown(series.reason)
        first, second = (self.part_of(s, run) for s in found if isinstance(s, Series))
        steps = np.intersect1d(first.steps, second.steps, assume_unique=True)
        a = first.values[np.searchsorted(first.steps, steps)]
        b = second.values[np.searchsorted(second.steps, steps)]
        finite = np.isfinite(a) & np.isfinite(b)
        steps, a, b = steps[finite], a[finite], b[finite]
        names = " and ".join(self.series)
        if len(steps) < FEWEST:
            return unknown(f"{names}: only {len(steps)} common steps, {FEWEST} needed")
        if np.ptp(a) == 0 or np.ptp(b) == 0:
            return Outcome("not", p_value=1.0, margin=f"{names}: one of them never moves")
        moved = comovement(steps, a, b, self.max_lag)
        return self._outcome(first, second, steps, moved)

    def _outcome(self, first: Series, second: Series, steps: Steps, moved: Comovement) -> Outcome:
        rho = moved.rho if self.sign == "same" else -moved.rho
        holds = rho >= self.min_rho and moved.p_value <= 1 - self.confidence
        window = _window(steps, moved)
        lag = "no lag" if moved.lag == 0 else f"lag {abs(moved.lag)}"
        p = "p < 0.001" if moved.p_value < 0.001 else f"p = {moved.p_value:.2g}"
        text = f"ρ {_rho(moved.rho)} on levels, {_rho(moved.rho_changes)} on changes, {lag}, {p}"
        evidence = Evidence(
            self.kind,
            ", ".join(self.series),
            f"{first.logged_as}, {second.logged_as}",
            "1",
            moved.rho,
            self.min_rho,
            window if holds else None,
            text,
            f"ρ ≥ {self.min_rho:g}" if self.sign == "same" else f"ρ ≤ {MINUS}{self.min_rho:g}",
        )
        if not holds:
            margin = f"{' and '.join(self.series)}: {text}"
            return Outcome("not", (evidence,), p_value=moved.p_value, margin=margin)
        onset = Onset(window[0], window[0], window[0])
        confidence = 1 - moved.p_value
        return Outcome(
            "holds", (evidence,), (window,), onset, p_value=moved.p_value, confidence=confidence
        )


def _window(steps: Steps, moved: Comovement) -> tuple[int, int]:
    """From where both have left their first level, or all of it where only changes tell."""
    if moved.p_changes < moved.p_drift:
        return int(steps[0]), int(steps[-1])
    return int(steps[max(moved.first.ramp.start, moved.second.ramp.start)]), int(steps[-1])


def _rho(value: float) -> str:
    return f"{value:.2f}".replace("-", MINUS)
