"""The form that every condition has."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from analyzer.rulebook.context import RunView
from analyzer.rulebook.outcome import Outcome
from analyzer.tables.evidence import Series

AROUND = 20  # steps on each side of a restart


class Condition(BaseModel):
    """One question to the run's evidence. Subclasses add their parameters and `judge`."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    kind: ClassVar[str]
    label: str | None = Field(
        default=None, alias="as", description="a name for this condition's numbers in the texts"
    )

    def series_names(self) -> tuple[str, ...]:
        """Names of the series it needs."""
        return ()

    def judge(self, run: RunView) -> Outcome:
        """The answer, from this run's evidence."""
        raise NotImplementedError


class Windowed(Condition):
    """A condition over steps: which part of the run it judges, and how long it must hold."""

    after: int | None = Field(default=None, ge=0, description="skip the first steps (warm-up)")
    first: float | None = Field(
        default=None, gt=0, description="only the first steps (a fraction of the run below 1)"
    )
    last: float | None = Field(
        default=None, gt=0, description="only the last steps (a fraction of the run below 1)"
    )
    around: Literal["resume"] | None = Field(
        default=None, description="only the 20 steps on each side of a restart"
    )
    for_: int = Field(default=1, ge=1, alias="for", description="consecutive logged steps")
    allow_gaps: int = Field(
        default=0, ge=0, description="steps inside a window where it need not hold"
    )

    def part_of(self, series: Series, run: RunView) -> Series:
        """The part of a series that the window parameters name."""
        keep = np.ones(len(series), dtype=bool)
        first, last = run.first_step, run.last_step
        length = last - first + 1
        if self.after is not None:
            keep &= series.steps >= first + self.after
        if self.first is not None:
            keep &= series.steps < first + _steps(self.first, length)
        if self.last is not None:
            keep &= series.steps > last - _steps(self.last, length)
        if self.around == "resume":
            near = np.zeros(len(series), dtype=bool)
            for resume in run.resumes:
                near |= np.abs(series.steps - resume) <= AROUND
            keep &= near
        return series.select(keep)


def _steps(amount: float, length: int) -> float:
    return amount * length if amount < 1 else amount
