"""NaN and infinity."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from analyzer.findings.model import Evidence, Onset
from analyzer.findings.numbers import format_value
from analyzer.rulebook.conditions.base import Windowed
from analyzer.rulebook.context import RunView
from analyzer.rulebook.outcome import Outcome, unknown
from analyzer.rulebook.windows import windows_of
from analyzer.tables.evidence import Absent


class Nonfinite(Windowed):
    """Is it NaN or infinite, for a number of logged steps?"""

    kind: ClassVar[str] = "nonfinite"
    series: str

    def series_names(self) -> tuple[str, ...]:
        """The series it judges."""
        return (self.series,)

    def judge(self, run: RunView) -> Outcome:
        """The windows without a finite value."""
        series = run.series(self.series)
        if isinstance(series, Absent):
            return unknown(series.reason)
        part = self.part_of(series, run)
        if not len(part):
            return unknown(f"{self.series}: no logged step to judge")
        bad = ~np.isfinite(part.values)
        windows = windows_of(part.steps, bad, self.for_, self.allow_gaps)
        count = int(bad.sum())
        text = f"{count} of {len(part)} values are NaN or infinite"
        value = float(part.values[bad][0]) if count else None
        if value is not None:
            text += f", first {format_value(value, part.unit)} at step {part.steps[bad][0]}"
        evidence = Evidence(
            self.kind,
            self.series,
            part.logged_as,
            part.unit,
            value,
            None,
            windows[0] if windows else None,
            text,
            f"NaN or infinite for {self.for_} steps in a row",
        )
        if not windows:
            return Outcome("not", (evidence,), margin=f"{self.series}: {text}")
        first = windows[0][0]
        return Outcome("holds", (evidence,), tuple(windows), Onset(first, first, first))
