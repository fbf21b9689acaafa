"""Does a series have isolated outliers?"""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from analyzer.findings.model import Evidence, Onset
from analyzer.findings.numbers import format_value
from analyzer.rulebook.conditions.base import Windowed
from analyzer.rulebook.context import RunView
from analyzer.rulebook.outcome import Outcome, unknown
from analyzer.statistics.finite import Finite, finite
from analyzer.statistics.outlier import heights
from analyzer.tables.evidence import Absent, Floats, Series

FEWEST = 20


class Spike(Windowed):
    """Do single values stand out from their neighbours, often enough?"""

    kind: ClassVar[str] = "spike"
    series: str
    direction: Literal["up", "down", "either"] = "up"
    z: float = Field(default=6.0, gt=0, description="robust σ of single steps")
    min_ratio: float | None = Field(default=None, gt=1, description="of a value to its neighbours")
    at_least: int = Field(default=1, ge=1, description="outliers")
    growing: bool = Field(
        default=False, description="the last third has more or higher ones than the first"
    )

    def series_names(self) -> tuple[str, ...]:
        """The series it judges."""
        return (self.series,)

    def judge(self, run: RunView) -> Outcome:
        """Values further than `z` noise from the median of their neighbours."""
        series = run.series(self.series)
        if isinstance(series, Absent):
            return unknown(series.reason)
        part = self.part_of(series, run)
        points = finite(part.steps, part.values)
        if len(points) < FEWEST:
            return unknown(f"{self.series}: only {len(points)} logged steps, {FEWEST} needed")
        height = self._height(points.values)
        found = np.flatnonzero(height > self.z)
        holds = len(found) >= self.at_least and (not self.growing or _grows(height, self.z))
        evidence = self._evidence(part, points, found, holds)
        if not holds:
            return Outcome("not", (evidence,), margin=f"{self.series}: {evidence.text}")
        steps = points.steps[found]
        first = int(steps[0])
        windows = tuple((int(step), int(step)) for step in steps)
        return Outcome("holds", (evidence,), windows, Onset(first, first, first))

    def _height(self, values: Floats) -> Floats:
        """How far each value stands out, in σ; 0 where it does not by `min_ratio`."""
        signed, usual = heights(values)
        if self.direction == "either":
            height = np.abs(signed)
        else:
            height = signed if self.direction == "up" else -signed
        if self.min_ratio is not None:
            high = np.maximum(np.abs(values), np.abs(usual))
            low = np.minimum(np.abs(values), np.abs(usual))
            height = np.where(high >= self.min_ratio * low, height, 0.0)
        return height

    def _evidence(self, part: Series, points: Finite, found: np.ndarray, holds: bool) -> Evidence:
        text = "no value stands out"
        worst: float | None = None
        window = None
        if len(found):
            values, steps = points.values[found], points.steps[found]
            at = int(np.argmin(values) if self.direction == "down" else np.argmax(np.abs(values)))
            worst = float(values[at])
            count = "1 outlier" if len(found) == 1 else f"{len(found)} outliers"
            shown = format_value(worst, part.unit)
            usual = format_value(float(np.median(points.values)), part.unit)
            text = f"{count}, the largest {shown} at step {steps[at]}, where {usual} is usual"
            window = (int(steps[0]), int(steps[-1])) if holds else None
        plural = "" if self.at_least == 1 else "s"
        needed = f"≥ {self.at_least} value{plural} beyond {self.z:g} σ"
        if self.min_ratio is not None:
            needed += f" and {self.min_ratio:g} times"
        if self.growing:
            needed += ", growing"
        return Evidence(
            self.kind,
            self.series,
            part.logged_as,
            part.unit,
            worst,
            self.z,
            window,
            text,
            needed,
        )


def _grows(height: Floats, z: float) -> bool:
    """Does the last third stand out more than the first, by the sum of what is beyond `z`?"""
    third = max(1, len(height) // 3)
    finite_height = np.minimum(height, 1e3)
    beyond = np.maximum(finite_height - z, 0.0)
    return float(beyond[-third:].sum()) > float(beyond[:third].sum())
