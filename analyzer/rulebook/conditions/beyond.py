"""What level and target share: steps at which a series is beyond something."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from pydantic import Field

from analyzer.findings.model import Evidence, Onset
from analyzer.findings.numbers import format_value
from analyzer.rulebook.conditions.base import Windowed
from analyzer.rulebook.context import RunView
from analyzer.rulebook.outcome import Outcome, unknown
from analyzer.rulebook.windows import windows_of
from analyzer.statistics.noise import difference_sigma, running_median
from analyzer.statistics.tails import below
from analyzer.tables.evidence import Absent, Floats, Series

NEAR = 9  # points of the running median that places the onset


class Beyond(Windowed):
    """A series beyond a limit, for a number of logged steps or a share of them."""

    series: str
    share: float | None = Field(
        default=None, gt=0, le=1, description="share of the judged steps, instead of `for`"
    )
    smooth: int = Field(default=1, ge=1, description="points of a running median, odd")

    def series_names(self) -> tuple[str, ...]:
        """The series it judges."""
        return (self.series,)

    def judge(self, run: RunView) -> Outcome:
        """The windows where it is beyond the limit."""
        series = run.series(self.series)
        if isinstance(series, Absent):
            return unknown(series.reason)
        part = self.part_of(series, run)
        if len(part) < self.for_ or not len(part):
            return unknown(f"{self.series}: only {len(part)} logged steps, {self.for_} needed")
        values = self._smoothed(part.values)
        excess = self.excess(values)
        if np.isnan(excess).all():
            return unknown(f"{self.series}: no finite value in the judged steps")
        mask = excess > 0
        if self.share is not None:
            return self._by_share(part, values, mask)
        windows = windows_of(part.steps, mask, self.for_, self.allow_gaps)
        return self._outcome(part, values, excess, windows)

    def _smoothed(self, values: Floats) -> Floats:
        """The running median over the values that are numbers."""
        if self.smooth == 1:
            return values
        known = ~np.isnan(values)
        smooth = values.copy()
        smooth[known] = running_median(values[known], self.smooth | 1)
        return smooth

    def excess(self, values: Floats) -> Floats:
        """How far beyond the limit, positive where it is; NaN is not beyond."""
        raise NotImplementedError

    def limit_value(self) -> float | None:
        """The limit as a number, where it is one."""
        raise NotImplementedError

    def limit_text(self, unit: str) -> str:
        """The limit in words: "> 5 %"."""
        raise NotImplementedError

    def _by_share(
        self,
        part: Series,
        values: Floats,
        mask: npt.NDArray[np.bool_],
    ) -> Outcome:
        assert self.share is not None
        held = float(mask.mean())
        text = f"beyond it at {format_value(held, 'fraction')} of {len(part)} steps"
        typical = float(np.median(values[mask])) if mask.any() else None
        error = math.sqrt(max(held * (1 - held), 1e-12) / len(part))
        sure = below(abs(held - self.share) / error)
        if held < self.share or not mask.any():
            evidence = self._evidence(part, typical, text, None)
            margin = f"{self.series} {text}"
            return Outcome("not", (evidence,), confidence=sure, margin=margin)
        beyond = part.steps[mask]
        window = (int(beyond[0]), int(beyond[-1]))
        evidence = self._evidence(part, typical, text, window)
        onset = Onset(window[0], window[0], window[0])
        return Outcome("holds", (evidence,), (window,), onset, confidence=sure)

    def _outcome(
        self,
        part: Series,
        values: Floats,
        excess: Floats,
        windows: list[tuple[int, int]],
    ) -> Outcome:
        if not windows:
            return self._clear(part, values, excess)
        inside = np.zeros(len(part), dtype=bool)
        for low, high in windows:
            inside |= (part.steps >= low) & (part.steps <= high)
        beyond = values[inside]
        worst = beyond[np.nanargmax(excess[inside])]
        late = float(np.nanmedian(beyond[-max(3, len(part) // 20) :]))
        text = (
            f"{format_value(late, part.unit)} at the end, {format_value(float(worst), part.unit)} "
            f"at worst, {int((excess[inside] > 0).sum())} steps beyond"
        )
        evidence = self._evidence(part, late, text, (windows[0][0], windows[-1][1]))
        return Outcome(
            "holds",
            (evidence,),
            tuple(windows),
            self._onset(part, excess, windows[0][0]),
            confidence=self._confidence(values, excess[inside]),
        )

    def _clear(self, part: Series, values: Floats, excess: Floats) -> Outcome:
        nearest = int(np.nanargmax(excess))
        shown = format_value(float(values[nearest]), part.unit)
        text = f"nearest {shown} at step {part.steps[nearest]}"
        evidence = self._evidence(part, float(values[nearest]), text, None)
        margin = f"{self.series} {text}, limit {self.limit_text(part.unit)}"
        return Outcome(
            "not",
            (evidence,),
            confidence=self._confidence_of_clear(values, excess),
            margin=margin,
            nearness=_nearness(excess),
        )

    def _evidence(
        self, part: Series, value: float | None, text: str, window: tuple[int, int] | None
    ) -> Evidence:
        length = f" for {self.for_} steps" if self.for_ > 1 else ""
        if self.share is not None:
            length = f" at {format_value(self.share, 'fraction')} of the steps"
        return Evidence(
            self.kind,
            self.series,
            part.logged_as,
            part.unit,
            value,
            self.limit_value(),
            window,
            text,
            f"{self.limit_text(part.unit)}{length}",
        )

    def _onset(self, part: Series, excess: Floats, first: int) -> Onset:
        """The first step beyond; the interval is where the running median, give or take twice its
        error, crosses the limit."""
        finite = np.isfinite(excess)
        calm = running_median(excess[finite], NEAR)
        if difference_sigma(excess[finite]) == 0:
            return Onset(first, first, first)
        error = 2 * difference_sigma(excess[finite]) * math.sqrt(math.pi / 2 / NEAR)
        steps = part.steps[finite]
        # Clearly within the limit; where it lies at it (a count of 0 with limit 0), not beyond.
        before = np.flatnonzero((calm < -error) & (steps < first))
        if not len(before):
            before = np.flatnonzero((calm <= 0) & (steps < first))
        after = np.flatnonzero((calm > error) & (steps >= first))
        low = int(steps[min(before[-1] + 1, len(steps) - 1)]) if len(before) else int(steps[0])
        high = int(steps[after[0]]) if len(after) else first
        return Onset(first, min(low, first), max(high, first))

    def _confidence(self, values: Floats, beyond: Floats) -> float:
        """That the mean of the window lies beyond the limit, given the noise of single steps."""
        noise = difference_sigma(values[np.isfinite(values)])
        if noise == 0:
            return 1.0
        return below(float(np.nanmean(beyond)) * math.sqrt(len(beyond)) / noise)

    def _confidence_of_clear(self, values: Floats, excess: Floats) -> float:
        """That the worst `for` steps lie within the limit on the whole; at least one half."""
        noise = difference_sigma(values[np.isfinite(values)])
        known = excess[np.isfinite(excess)]
        if noise == 0 or len(known) < self.for_:
            return 1.0
        worst = np.convolve(known, np.ones(self.for_) / self.for_, mode="valid").max()
        return below(max(0.0, -float(worst)) * math.sqrt(self.for_) / noise)


def _nearness(excess: Floats) -> float | None:
    """How far the nearest value is on the way from the median to the limit; None where it never
    moves, since a constant comes no closer."""
    usual, nearest = float(np.nanmedian(excess)), float(np.nanmax(excess))
    return None if usual >= 0 or nearest == usual else 1 - nearest / usual
