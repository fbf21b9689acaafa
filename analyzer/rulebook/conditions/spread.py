"""Is a series noisier than it should be?"""

from __future__ import annotations

import math
from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from analyzer.findings.model import Evidence, Onset
from analyzer.findings.numbers import format_value
from analyzer.rulebook.conditions.base import Windowed
from analyzer.rulebook.context import RunView
from analyzer.rulebook.outcome import Outcome, unknown
from analyzer.statistics.finite import finite
from analyzer.statistics.noise import (
    LOG_ERROR_MAD,
    LOG_ERROR_STD,
    detrended,
    mad_sigma,
    samples_for,
    sampling_noise,
)
from analyzer.statistics.tails import below
from analyzer.tables.evidence import Absent, Floats, Series

FEWEST = 20
EXPLAINED = 1.5  # times the sampling noise


class Spread(Windowed):
    """Is the noise of single steps above a limit, its drift taken off?"""

    kind: ClassVar[str] = "spread"
    series: str
    measure: Literal["std", "mad", "range"] = "mad"
    above: float = Field(gt=0)
    relative_to: Literal["sampling_noise", "level", "first_window"] | None = None
    explained: bool | None = Field(
        default=None, description="is the noise that of a batch's size, or is it not?"
    )

    def series_names(self) -> tuple[str, ...]:
        """The series it judges."""
        return (self.series,)

    def judge(self, run: RunView) -> Outcome:
        """The robust noise against the limit, and against the noise that the batch's size makes."""
        series = run.series(self.series)
        if isinstance(series, Absent):
            return unknown(series.reason)
        part = self.part_of(series, run)
        points = finite(part.steps, part.values)
        if len(points) < FEWEST:
            return unknown(f"{self.series}: only {len(points)} logged steps, {FEWEST} needed")
        noise = self._measure(detrended(points.values))
        base = self._base(points.values)
        if base == 0:
            return unknown(f"{self.series}: nothing to compare its noise with")
        text, explained = self._explain(points.values, noise, run, part)
        holds = noise / base > self.above
        window = (int(points.steps[0]), int(points.steps[-1]))
        evidence = self._evidence(part, noise, window if holds else None, text)
        if not holds:
            return Outcome("not", (evidence,), margin=f"{self.series}: {text}")
        if self.explained is not None and explained is None:
            return unknown(f"{self.series}: the size of a batch is not known")
        if self.explained is not None and explained != self.explained:
            return Outcome("not", (evidence,), margin=f"{self.series}: {text}")
        onset = Onset(window[0], window[0], window[0])
        error = LOG_ERROR_MAD if self.measure == "mad" else LOG_ERROR_STD
        sure = below(math.log(noise / base / self.above) * math.sqrt(len(points)) / error)
        return Outcome("holds", (evidence,), (window,), onset, confidence=sure)

    def _measure(self, residuals: Floats) -> float:
        if self.measure == "std":
            return float(residuals.std(ddof=1))
        if self.measure == "range":
            return float(residuals.max() - residuals.min())
        return mad_sigma(residuals) or float(residuals.std(ddof=1))

    def _base(self, values: Floats) -> float:
        if self.relative_to == "level":
            return abs(float(np.median(values)))
        if self.relative_to == "first_window":
            return self._measure(detrended(values)[: max(FEWEST, len(values) // 10)])
        return 1.0

    def _explain(
        self, values: Floats, noise: float, run: RunView, part: Series
    ) -> tuple[str, bool | None]:
        """The noise in words beside that of a batch of rewards 0 or 1, and whether that is all.

        Where all responses of a prompt earn the same, a batch is worth no more than its prompts.
        """
        shown = f"noise {format_value(noise, part.unit)} (robust σ of single steps)"
        level = float(np.median(values))
        batch, group = run.fact("batch_seqs"), run.fact("group_size")
        if batch is None or not 0 < level < 1:
            return shown, None
        rows = batch[0]
        prompts = max(rows / max(group[0], 1.0), 1.0) if group else rows
        expected, most = sampling_noise(level, rows), sampling_noise(level, prompts)
        wanted = samples_for(level, self.above)
        agreeing = f", up to {format_value(most, part.unit)} where the responses of a prompt agree"
        text = (
            f"{shown}; a batch of {rows:,.0f} makes {format_value(expected, part.unit)} by itself"
            f"{agreeing if most > expected else ''}; {format_value(self.above, part.unit)} takes a "
            f"batch of {wanted:,}"
        )
        return text, noise <= max(EXPLAINED * expected, most)

    def _evidence(
        self, part: Series, noise: float, window: tuple[int, int] | None, text: str
    ) -> Evidence:
        relation = {
            None: "",
            "level": " of its level",
            "first_window": " times its first noise",
            "sampling_noise": "",
        }[self.relative_to]
        unit = "1" if self.relative_to in ("level", "first_window") else part.unit
        needed = f"noise > {format_value(self.above, unit)}{relation}"
        return Evidence(
            self.kind,
            self.series,
            part.logged_as,
            part.unit,
            noise,
            self.above,
            window,
            text,
            needed,
        )
