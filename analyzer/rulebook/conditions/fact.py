"""A number of the run."""

from __future__ import annotations

from typing import ClassVar

from pydantic import model_validator

from analyzer.findings.model import Evidence
from analyzer.findings.numbers import format_value
from analyzer.rulebook.conditions.base import Condition
from analyzer.rulebook.context import RunView
from analyzer.rulebook.outcome import Outcome, unknown


class Fact(Condition):
    """Is a number of the run above, below or equal to a limit?"""

    kind: ClassVar[str] = "fact"
    name: str
    above: float | None = None
    below: float | None = None
    equals: float | None = None

    @model_validator(mode="after")
    def _one_limit(self) -> Fact:
        if sum(x is not None for x in (self.above, self.below, self.equals)) != 1:
            raise ValueError("a fact has exactly one of above, below, equals")
        return self

    def judge(self, run: RunView) -> Outcome:
        """holds or not; unknown where the run does not tell the number."""
        found = run.fact(self.name)
        if found is None:
            return unknown(f"this run does not tell {self.name}")
        value, source = found
        unit = run.fact_unit(self.name)
        if self.above is not None:
            holds, needed, limit = (
                value > self.above,
                f"> {format_value(self.above, unit)}",
                self.above,
            )
        elif self.below is not None:
            holds, needed, limit = (
                value < self.below,
                f"< {format_value(self.below, unit)}",
                self.below,
            )
        else:
            assert self.equals is not None
            holds, needed, limit = (
                value == self.equals,
                f"= {format_value(self.equals, unit)}",
                self.equals,
            )
        text = f"{self.name} = {format_value(value, unit)} ({source})"
        evidence = Evidence(self.kind, self.name, source, unit, value, limit, None, text, needed)
        return Outcome("holds" if holds else "not", (evidence,), margin=text)
