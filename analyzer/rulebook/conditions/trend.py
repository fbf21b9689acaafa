"""Does a series drift?"""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from analyzer.findings.model import Evidence, Onset
from analyzer.findings.numbers import MINUS, THIN, format_value
from analyzer.rulebook.conditions.base import Windowed
from analyzer.rulebook.conditions.wording import p_text, signed
from analyzer.rulebook.context import RunView
from analyzer.rulebook.outcome import Outcome, unknown
from analyzer.statistics.finite import Finite, finite
from analyzer.statistics.noise import running_median
from analyzer.statistics.ramp import departure, held_until
from analyzer.statistics.tails import below, quantile
from analyzer.statistics.trend import Trend as Drift
from analyzer.statistics.trend import trend
from analyzer.tables.evidence import Absent, Series

FEWEST = 20
BUCKETS = 512
SMOOTH = 11  # values of the running median that a standstill is followed back by


class Trend(Windowed):
    """Does it rise or fall by enough, or is it sure that it does neither?"""

    kind: ClassVar[str] = "trend"
    series: str
    direction: Literal["up", "down", "none"]
    min_change: float | None = Field(default=None, ge=0, description="in the series' unit")
    min_change_ratio: float | None = Field(
        default=None, ge=0, description="of the level at the start of the judged steps"
    )
    confidence: float = Field(default=0.99, gt=0.5, lt=1)

    @model_validator(mode="after")
    def _none_needs_a_size(self) -> Trend:
        if self.direction == "none" and self.min_change is None and self.min_change_ratio is None:
            raise ValueError("direction none needs min_change or min_change_ratio")
        return self

    def series_names(self) -> tuple[str, ...]:
        """The series it judges."""
        return (self.series,)

    def judge(self, run: RunView) -> Outcome:
        """By Mann–Kendall's test and Theil–Sen's slope over the judged steps."""
        series = run.series(self.series, BUCKETS)
        if isinstance(series, Absent):
            return unknown(series.reason)
        part = self.part_of(series, run)
        points = finite(part.steps, part.values)
        if len(points) < FEWEST:
            return unknown(f"{self.series}: only {len(points)} logged steps, {FEWEST} needed")
        drift = trend(points.steps, points.values, self.confidence)
        needed = self._needed(points)
        if self.direction == "none":
            return self._absence(series, part, points, drift, needed)
        return self._presence(part, points, drift, needed)

    def _needed(self, points: Finite) -> float:
        """The change that counts, in the series' unit."""
        start = float(np.median(points.values[: max(3, len(points) // 10)]))
        relative = (self.min_change_ratio or 0.0) * abs(start)
        return max(self.min_change or 0.0, relative)

    def _presence(self, part: Series, points: Finite, drift: Drift, needed: float) -> Outcome:
        sign = 1 if self.direction == "up" else -1
        text = _measured(part, drift)
        large = sign * drift.size > 0 and sign * drift.size >= needed
        if not large or drift.p_value > 1 - self.confidence:
            evidence = self._evidence(part, drift.size, None, text)
            less = self._less(drift, sign * needed)
            return Outcome(
                "not",
                (evidence,),
                p_value=drift.p_value,
                confidence=less if sign > 0 else 1 - less,
                margin=f"{self.series}: {text}",
            )
        window, onset = _span(points, drift)
        return Outcome(
            "holds",
            (self._evidence(part, drift.size, window, text),),
            (window,),
            onset,
            p_value=drift.p_value,
            confidence=1 - drift.p_value,
        )

    def _less(self, drift: Drift, limit: float) -> float:
        """The probability that the true change is below `limit`, from the slope's interval."""
        low, high = drift.change_interval
        error = (high - low) / (2 * quantile(0.5 + self.confidence / 2))
        return below((limit - drift.change) / error) if error > 0 else float(drift.change < limit)

    def _absence(
        self, series: Series, part: Series, points: Finite, drift: Drift, needed: float
    ) -> Outcome:
        low, high = drift.change_interval
        whole = (int(points.steps[0]), int(points.steps[-1]))
        limits = signed(low, part.unit), signed(high, part.unit)
        text = f"changed by {signed(drift.size, part.unit)} (between {' and '.join(limits)})"
        real = drift.p_value <= 1 - self.confidence
        if not (real and abs(drift.size) >= needed) and -needed < low and high < needed:
            evidence = self._evidence(part, drift.size, whole, text)
            since = _still_since(series, points, needed)
            onset = Onset(since, since, whole[0])
            held = (since, whole[1])
            return Outcome("holds", (evidence,), (held,), onset, confidence=self.confidence)
        if real or abs(drift.change) >= needed:
            evidence = self._evidence(part, drift.size, None, text)
            inside = self._less(drift, needed) - self._less(drift, -needed)
            margin = f"{self.series}: {text}"
            return Outcome("not", (evidence,), confidence=1 - inside, margin=margin)
        return unknown(
            f"cannot tell: the noise of {self.series} allows a change of {' to '.join(limits)}, "
            f"{signed(needed, part.unit).lstrip('+')} is to be excluded"
        )

    def _evidence(
        self, part: Series, change: float, window: tuple[int, int] | None, text: str
    ) -> Evidence:
        verb = {"up": "rises", "down": "falls", "none": "changes"}[self.direction]
        sizes = []
        if self.min_change:
            sizes.append(format_value(self.min_change, part.unit))
        if self.min_change_ratio:
            sizes.append(f"{format_value(self.min_change_ratio, 'fraction')} of its start")
        amount = " and ".join(sizes)
        if self.direction == "none":
            needed = f"{verb} by less than {amount}"
        else:
            needed = f"{verb} by at least {amount}" if amount else verb
        limit = self.min_change
        return Evidence(
            self.kind,
            self.series,
            part.logged_as,
            part.unit,
            change,
            limit,
            window,
            text,
            needed,
        )


def _still_since(series: Series, points: Finite, most: float) -> int:
    """The step from which on the series has been within `most` of the level of the judged steps.

    They may be the last part of a run that stood still before them.
    """
    every = finite(series.steps, series.values)
    level = float(np.median(points.values))
    away = np.abs(running_median(every.values, SMOOTH) - level) > most
    before = np.flatnonzero(away & (every.steps < points.steps[0]))
    first = int(before[-1]) + 1 if len(before) else 0
    return int(min(every.steps[first], points.steps[0]))


def _span(points: Finite, drift: Drift) -> tuple[tuple[int, int], Onset]:
    """From where the series leaves its first level to the end, or to where it has gone back."""
    ramp, steps = drift.ramp, points.steps
    start = int(steps[ramp.start])
    end = int(steps[max(held_until(points.values, ramp), ramp.start)])
    low = min(ramp.start_low, departure(points.values, ramp))
    return (start, end), Onset(start, int(steps[low]), int(steps[ramp.start_high]))


def _measured(part: Series, drift: Drift) -> str:
    before, after = drift.ramp.before, drift.ramp.after
    ends = f"{format_value(before, part.unit)} to {format_value(after, part.unit)}"
    ratio = ""
    if before > 0 and abs(after / before - 1) < 100 and part.unit != "fraction":
        change = 100 * (after / before - 1)
        ratio = f"{'+' if change >= 0 else MINUS}{abs(change):.0f}{THIN}%, "
    return f"{ratio}{ends} (Mann–Kendall, {p_text(drift.p_value)})"
