"""Does a series jump?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from analyzer.findings.model import Evidence, Onset
from analyzer.findings.numbers import format_value
from analyzer.rulebook.conditions.base import Windowed
from analyzer.rulebook.conditions.wording import p_text
from analyzer.rulebook.context import RunView
from analyzer.rulebook.outcome import Outcome, unknown
from analyzer.statistics.finite import Finite, finite
from analyzer.statistics.shift import FEWEST, shifts
from analyzer.statistics.shift import Shift as Jump
from analyzer.tables.evidence import Absent, Series

BUCKETS = 512
SIGNS = {"up": (1,), "down": (-1,), "either": (1, -1)}
PLACES = {"resume": "a restart", "epoch": "the start of an epoch", "eval": "an evaluation"}


class Shift(Windowed):
    """Does its level jump by enough, perhaps at a restart, an epoch or an evaluation?"""

    kind: ClassVar[str] = "shift"
    series: str
    direction: Literal["up", "down", "either"] = "either"
    min_effect: float = Field(default=3.0, ge=0, description="in robust σ of single values")
    min_ratio: float | None = Field(
        default=None, gt=1, description="the larger level over the smaller one"
    )
    near: Literal["resume", "epoch", "eval"] | None = None
    within: int = Field(default=20, ge=0, description="steps that `near` allows")
    confidence: float = Field(default=0.99, gt=0.5, lt=1)

    def series_names(self) -> tuple[str, ...]:
        """The series it judges."""
        return (self.series,)

    def judge(self, run: RunView) -> Outcome:
        """The jumps that are large enough, by an exact change-point search."""
        series = run.series(self.series, BUCKETS)
        if isinstance(series, Absent):
            return unknown(series.reason)
        part = self.part_of(series, run)
        points = finite(part.steps, part.values)
        if len(points) < FEWEST:
            return unknown(f"{self.series}: only {len(points)} logged steps, {FEWEST} needed")
        places = self._places(run)
        if isinstance(places, Outcome):
            return places
        found = shifts(points.values)
        right = [jump for jump in found if self._fits(jump, points, places)]
        p_value = min((jump.p_value for jump in right), default=1.0)
        large = [jump for jump in right if self._is_large(jump)]
        sure = [jump for jump in large if jump.p_value <= 1 - self.confidence]
        if not sure:
            return self._none(part, points, large or right or found, p_value)
        return self._some(part, points, sure, found)

    def _places(self, run: RunView) -> Sequence[int] | Outcome | None:
        """The steps that a jump must be near to; None for anywhere."""
        if self.near == "resume":
            return run.resumes
        if self.near == "epoch":
            length = run.fact("steps_per_epoch")
            if length is None or length[0] < 1:
                return unknown("this run does not tell steps_per_epoch")
            return range(int(length[0]), run.last_step + 1, int(length[0]))
        if self.near == "eval":
            evaluations = run.series("eval_reward")
            if isinstance(evaluations, Absent):
                return unknown(evaluations.reason)
            return [int(step) for step in evaluations.steps]
        return None

    def _fits(self, jump: Jump, points: Finite, places: Sequence[int] | None) -> bool:
        """Its direction and its place."""
        if np.sign(jump.change) not in SIGNS[self.direction]:
            return False
        at = int(points.steps[jump.at])
        return places is None or any(abs(at - place) <= self.within for place in places)

    def _is_large(self, jump: Jump) -> bool:
        if abs(jump.effect) < self.min_effect:
            return False
        if self.min_ratio is None:
            return True
        low, high = sorted((abs(jump.before), abs(jump.after)))
        return jump.before * jump.after >= 0 and high >= self.min_ratio * low

    def _some(
        self, part: Series, points: Finite, sure: Sequence[Jump], found: Sequence[Jump]
    ) -> Outcome:
        windows = tuple(_window(points, jump, found) for jump in sure)
        largest = max(sure, key=lambda jump: abs(jump.effect))
        first = sure[0]
        low, at, high = (int(points.steps[i]) for i in (first.low, first.at, first.high))
        window = windows[list(sure).index(largest)]
        evidence = self._evidence(part, largest.after, window, _words(part, points, largest))
        p_value = min(jump.p_value for jump in sure)
        return Outcome(
            "holds",
            (evidence,),
            windows,
            Onset(at, low, high),
            p_value=p_value,
            confidence=1 - p_value,
        )

    def _none(self, part: Series, points: Finite, found: Sequence[Jump], p_value: float) -> Outcome:
        text = "no jump"
        if found:
            largest = max(found, key=lambda jump: abs(jump.effect))
            text = f"largest jump {_words(part, points, largest)}"
        evidence = self._evidence(part, None, None, text)
        margin = f"{self.series}: {text}"
        return Outcome(
            "not", (evidence,), p_value=p_value, confidence=self.confidence, margin=margin
        )

    def _evidence(
        self, part: Series, value: float | None, window: tuple[int, int] | None, text: str
    ) -> Evidence:
        way = {"up": "jumps up", "down": "jumps down", "either": "jumps"}[self.direction]
        needed = f"{way} by at least {self.min_effect:g} times its noise"
        if self.min_ratio is not None:
            needed += f" and to {self.min_ratio:g} times its level"
            if self.direction != "up":
                needed = needed.replace("to ", "by a factor of ").replace(" times its level", "")
        if self.near is not None:
            needed += f", at most {self.within} steps from {PLACES[self.near]}"
        return Evidence(
            self.kind, self.series, part.logged_as, part.unit, value, None, window, text, needed
        )


def _window(points: Finite, jump: Jump, found: Sequence[Jump]) -> tuple[int, int]:
    """From the jump to the last step, or to where another one takes half of it back."""
    end = len(points) - 1
    for later in found:
        half = (jump.before + jump.after) / 2
        if later.at > jump.at and (later.after - half) * jump.change < 0:
            end = later.at - 1
            break
    return int(points.steps[jump.at]), int(points.steps[end])


def _words(part: Series, points: Finite, jump: Jump) -> str:
    low, at, high = (int(points.steps[i]) for i in (jump.low, jump.at, jump.high))
    place = f"step {at}" if low == high else f"step {at} (between {low} and {high})"
    before, after = format_value(jump.before, part.unit), format_value(jump.after, part.unit)
    size = f"{abs(jump.effect):.2g} times its noise" if np.isfinite(jump.effect) else "no noise"
    return f"{before} to {after} at {place}, {size}, {p_text(jump.p_value)}"
