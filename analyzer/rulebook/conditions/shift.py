"""Does a series jump?"""

from __future__ import annotations

import math
from typing import ClassVar, Literal

from pydantic import Field

from analyzer.findings.model import Evidence, Onset
from analyzer.findings.numbers import format_value
from analyzer.rulebook.conditions.base import Windowed
from analyzer.rulebook.context import RunView
from analyzer.rulebook.outcome import Outcome, unknown
from analyzer.statistics.finite import Finite, finite
from analyzer.statistics.shift import FEWEST, shifts
from analyzer.statistics.shift import Shift as Jump
from analyzer.tables.evidence import Absent, Series

BUCKETS = 512


class Shift(Windowed):
    """Does the mean jump to another level, perhaps near a restart, an epoch or an evaluation?"""

    kind: ClassVar[str] = "shift"
    series: str
    direction: Literal["up", "down", "either"] = "either"
    min_ratio: float | None = Field(
        default=None, gt=1, description="of the greater level to the smaller"
    )
    min_effect: float = Field(default=3.0, gt=0, description="in robust σ of single steps")
    near: Literal["resume", "epoch", "eval"] | None = None
    within: int = Field(default=20, ge=1, description="steps on each side of what it is near to")
    confidence: float = Field(default=0.99, gt=0.5, lt=1)

    def series_names(self) -> tuple[str, ...]:
        """The series it judges."""
        return (self.series,)

    def judge(self, run: RunView) -> Outcome:
        """The jumps that are large, sure and in the right place."""
        series = run.series(self.series, BUCKETS)
        if isinstance(series, Absent):
            return unknown(series.reason)
        part = self.part_of(series, run)
        points = finite(part.steps, part.values)
        if len(points) < FEWEST:
            return unknown(f"{self.series}: only {len(points)} logged steps, {FEWEST} needed")
        places = self._places(run)
        if places is None:
            return unknown(f"this run does not tell where its {self.near} steps are")
        jumps = [j for j in shifts(points.values) if self._right_place(points, j, places)]
        fitting = [j for j in jumps if self._large(j) and j.p_value <= 1 - self.confidence]
        if not fitting:
            return self._clear(part, points, jumps)
        return self._found(part, points, min(fitting, key=lambda j: j.p_value))

    def _places(self, run: RunView) -> list[int] | None:
        """Steps that a jump must be near to; empty where any place will do."""
        if self.near == "resume":
            return list(run.resumes)
        if self.near == "epoch":
            found = run.fact("steps_per_epoch")
            if found is None:
                return None
            return list(range(run.first_step, run.last_step + 1, max(1, round(found[0]))))[1:]
        if self.near == "eval":
            evaluated = run.series("eval_reward")
            return None if isinstance(evaluated, Absent) else [int(s) for s in evaluated.steps]
        return []

    def _right_place(self, points: Finite, jump: Jump, places: list[int]) -> bool:
        if self.near is None:
            return True
        step = int(points.steps[jump.at])
        return any(abs(step - place) <= self.within for place in places)

    def _large(self, jump: Jump) -> bool:
        sign = {"up": 1, "down": -1, "either": 0}[self.direction]
        if sign * jump.change < 0 or abs(jump.effect) < self.min_effect:
            return False
        if self.min_ratio is None:
            return True
        small, large = sorted((abs(jump.before), abs(jump.after)))
        return large >= self.min_ratio * small

    def _clear(self, part: Series, points: Finite, jumps: list[Jump]) -> Outcome:
        largest = max(jumps, key=lambda j: abs(j.effect), default=None)
        text = "no jump" if largest is None else f"largest {_text(part, points, largest)}"
        p_value = 1.0 if largest is None else largest.p_value
        evidence = self._evidence(part, largest.change if largest else None, None, text)
        return Outcome("not", (evidence,), p_value=p_value, margin=f"{self.series}: {text}")

    def _found(self, part: Series, points: Finite, jump: Jump) -> Outcome:
        steps = points.steps
        window = (int(steps[jump.at]), int(steps[-1]))
        last = len(steps) - 1
        low, high = (int(steps[min(max(i, 0), last)]) for i in (jump.low, jump.high))
        onset = Onset(window[0], min(low, window[0]), max(high, window[0]))
        evidence = self._evidence(part, jump.change, window, _text(part, points, jump))
        return Outcome(
            "holds",
            (evidence,),
            (window,),
            onset,
            p_value=jump.p_value,
            confidence=1 - jump.p_value,
        )

    def _evidence(
        self, part: Series, change: float | None, window: tuple[int, int] | None, text: str
    ) -> Evidence:
        needed = f"a jump {'' if self.direction == 'either' else self.direction + ' '}"
        needed += f"of ≥ {self.min_effect:g} σ"
        if self.min_ratio is not None:
            needed += f", ≥ {self.min_ratio:g} times"
        if self.near is not None:
            needed += f", within {self.within} steps of a {self.near}"
        return Evidence(
            self.kind,
            self.series,
            part.logged_as,
            part.unit,
            change,
            self.min_effect,
            window,
            text,
            needed,
        )


def _text(part: Series, points: Finite, jump: Jump) -> str:
    before, after = (format_value(level, part.unit) for level in (jump.before, jump.after))
    size = "" if math.isinf(jump.effect) else f", {abs(jump.effect):.1f} σ"
    p = "p < 0.001" if jump.p_value < 0.001 else f"p = {jump.p_value:.2g}"
    return f"{before} to {after} at step {points.steps[jump.at]}{size}, {p}"
