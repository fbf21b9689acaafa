"""Does a series never move?"""

from __future__ import annotations

from typing import ClassVar, Literal

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
    at: Literal["min", "max"] | float | None = Field(
        default=None, description="the value it is stuck at; min, max: of all the values of `of`"
    )
    of: str | None = Field(
        default=None,
        description="whose extreme `at` means; the series itself if not given",
    )

    def series_names(self) -> tuple[str, ...]:
        """The series it judges, and the one whose extreme it is held against."""
        return (self.series,) if self.of is None else (self.series, self.of)

    def judge(self, run: RunView) -> Outcome:
        """The stretches of equal values that are long enough."""
        series = run.series(self.series)
        if isinstance(series, Absent):
            return unknown(series.reason)
        part = self.part_of(series, run)
        if len(part) < max(self.for_, 2):
            return unknown(f"{self.series}: only {len(part)} logged steps, {self.for_} needed")
        at = self._value(run)
        if isinstance(at, Outcome):
            return at
        edges = np.flatnonzero(np.diff(part.values) != 0) + 1
        starts, ends = np.r_[0, edges], np.r_[edges, len(part)]
        lengths = ends - starts
        right = np.ones(len(starts), bool) if at is None else part.values[starts] == at
        longest = int(np.argmax(np.where(right, lengths, 0)))
        held = int(lengths[longest]) if right[longest] else 0
        value = float(part.values[starts[longest]])
        text = f"{format_value(value, part.unit)} for {held} steps in a row"
        windows = tuple(
            (int(part.steps[a]), int(part.steps[b - 1]))
            for a, b, length, fits in zip(starts, ends, lengths, right, strict=True)
            if fits and length >= self.for_
        )
        where = "" if at is None else f" at {format_value(at, part.unit)}"
        evidence = Evidence(
            self.kind,
            self.series,
            part.logged_as,
            part.unit,
            value,
            at,
            windows[0] if windows else None,
            text,
            f"the same value{where} for {self.for_} steps",
        )
        if not windows:
            return Outcome("not", (evidence,), margin=f"{self.series}: longest {text}")
        first = windows[0][0]
        return Outcome("holds", (evidence,), windows, Onset(first, first, first))

    def _value(self, run: RunView) -> float | Outcome | None:
        """The value it should be stuck at; None for any."""
        if not isinstance(self.at, str):
            return self.at
        of = run.series(self.of or self.series)
        if isinstance(of, Absent):
            return unknown(of.reason)
        values = of.values[np.isfinite(of.values)]
        if not len(values):
            return unknown(f"{of.name}: no finite value")
        return float(values.min() if self.at == "min" else values.max())
