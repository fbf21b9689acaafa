"""The form that every condition has."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

from analyzer.rulebook.context import RunView
from analyzer.rulebook.outcome import Outcome


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
