"""Does a series never move?"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from pydantic import Field

from analyzer.findings.model import Evidence, Onset
from analyzer.findings.numbers import format_value
from analyzer.rulebook.conditions.base import Windowed
from analyzer.rulebook.context import RunView
from analyzer.rulebook.outcome import Outcome, unknown
from analyzer.tables.evidence import Absent


class Constant(Windowed):
    """Has it had the same value for a number of logged steps, perhaps a given one?"""

    kind: ClassVar[str] = "constant"
    series: str
    at: float | None = Field(default=None, description="the value it is stuck at")

    def series_names(self) -> tuple[str, ...]:
        """The series it judges."""
        return (self.series,)

    def judge(self, run: RunView) -> Outcome:
        """The stretches of equal values that are long enough."""
        series = run.series(self.series)
        if isinstance(series, Absent):
            return unknown(series.reason)
        part = self.part_of(series, run)
        if len(part) < max(self.for_, 2):
            return unknown(f"{self.series}: only {len(part)} logged steps, {self.for_} needed")
        edges = np.flatnonzero(np.diff(part.values) != 0) + 1
        starts, ends = np.r_[0, edges], np.r_[edges, len(part)]
        lengths = ends - starts
        right = np.ones(len(starts), bool) if self.at is None else part.values[starts] == self.at
        longest = int(np.argmax(np.where(right, lengths, 0)))
        held = int(lengths[longest]) if right[longest] else 0
        value = float(part.values[starts[longest]])
        text = f"{format_value(value, part.unit)} for {held} steps in a row"
        windows = tuple(
            (int(part.steps[a]), int(part.steps[b - 1]))
            for a, b, length, fits in zip(starts, ends, lengths, right, strict=True)
            if fits and length >= self.for_
        )
        where = "" if self.at is None else f" at {format_value(self.at, part.unit)}"
        evidence = Evidence(
            self.kind,
            self.series,
            part.logged_as,
            part.unit,
            value,
            self.at,
            windows[0] if windows else None,
            text,
            f"the same value{where} for {self.for_} steps",
        )
        if not windows:
            return Outcome("not", (evidence,), margin=f"{self.series}: longest {text}")
        first = windows[0][0]
        return Outcome("holds", (evidence,), windows, Onset(first, first, first))
