"""A number of the run."""

from __future__ import annotations

from typing import ClassVar

from pydantic import model_validator

from analyzer.findings.model import Evidence
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
        if self.above is not None:
            holds, needed, limit = value > self.above, f"> {self.above:g}", self.above
        elif self.below is not None:
            holds, needed, limit = value < self.below, f"< {self.below:g}", self.below
        else:
            assert self.equals is not None
            holds, needed, limit = value == self.equals, f"= {self.equals:g}", self.equals
        text = f"{self.name} = {value:g} ({source})"
        evidence = Evidence(self.kind, self.name, source, "1", value, limit, None, text, needed)
        return Outcome("holds" if holds else "not", (evidence,), margin=text)
