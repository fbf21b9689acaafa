"""What the run's configuration says."""

from __future__ import annotations

import json
from typing import Any, ClassVar, Literal

from pydantic import Field, model_validator

from analyzer.findings.model import Evidence
from analyzer.rulebook.conditions.base import Condition
from analyzer.rulebook.context import RunView
from analyzer.rulebook.outcome import Outcome, unknown

Plain = bool | int | float | str | None
QUESTIONS = ("equals", "not_equals", "one_of", "above", "below", "present", "absent")


class Config(Condition):
    """Does a key of the configuration have a value, lie in a range, or exist?"""

    kind: ClassVar[str] = "config"
    key: str
    equals: Plain = None
    not_equals: Plain = None
    one_of: tuple[Plain, ...] | None = Field(default=None, alias="in")
    above: float | None = None
    below: float | None = None
    present: Literal[True] | None = None
    absent: Literal[True] | None = None
    default: Plain = Field(default=None, description="the value where the key is left out or null")
    unconfigured: Literal["holds", "not"] | None = Field(
        default=None, description="the answer where the run has no configuration at all"
    )

    @model_validator(mode="after")
    def _one_question(self) -> Config:
        if len(self.model_fields_set & set(QUESTIONS)) != 1:
            raise ValueError(
                "config has exactly one of equals, not_equals, in, above, below, present, absent"
            )
        return self

    def judge(self, run: RunView) -> Outcome:
        """holds or not; unknown where neither the configuration nor a default answers."""
        name = run.key_of(self.key)
        if not run.has_config:
            if self.unconfigured is None:
                return unknown("no configuration file in this run")
            text = f"no configuration file; {name or 'the setting'} is taken to be so"
            return self._answer(self.unconfigured == "holds", text, "", name)
        if name is None:
            return unknown(f"{run.framework or 'this framework'} has nothing like {self.key}")
        found = run.config(self.key)
        shown = found.shown or name if found else name
        if self.present or self.absent:
            there = found is not None and found.value is not None
            said = "not set" if found is None else f"{_text(found.value)} ({found.source})"
            return self._answer(there is bool(self.present), f"{shown}: {said}", "", name)
        if found is not None and (found.value is not None or not self._has_default):
            value: Any = found.value
            text = f"{shown} = {_text(value)} ({found.source})"
        elif self._has_default and name == self.key:
            value, text = self.default, f"{shown} = {_text(self.default)} (default)"
        else:
            return unknown(f"{shown} is not in the configuration")
        return self._compare(value, text, name)

    @property
    def _has_default(self) -> bool:
        return "default" in self.model_fields_set

    def _compare(self, value: Any, text: str, name: str) -> Outcome:
        asked = self.model_fields_set
        if "equals" in asked:
            return self._answer(_same(value, self.equals), text, f"= {_text(self.equals)}", name)
        if "not_equals" in asked:
            return self._answer(
                not _same(value, self.not_equals), text, f"≠ {_text(self.not_equals)}", name
            )
        if self.one_of is not None:
            choices = ", ".join(_text(choice) for choice in self.one_of)
            return self._answer(
                any(_same(value, c) for c in self.one_of), text, f"one of {choices}", name
            )
        if isinstance(value, bool) or not isinstance(value, int | float):
            return unknown(f"{text}: not a number")
        if self.above is not None:
            return self._answer(value > self.above, text, f"> {self.above:g}", name)
        assert self.below is not None
        return self._answer(value < self.below, text, f"< {self.below:g}", name)

    def _answer(self, holds: bool, text: str, needed: str, name: str | None) -> Outcome:
        wanted = needed or ("set" if self.present else "not set")
        evidence = Evidence(self.kind, self.key, name or "", "1", None, None, None, text, wanted)
        return Outcome("holds" if holds else "not", (evidence,), margin="" if holds else text)


def _same(value: Any, wanted: Plain) -> bool:
    """Equal as JSON: true is not 1, 5 is 5.0."""
    if isinstance(value, bool) or isinstance(wanted, bool):
        return value is wanted
    return bool(value == wanted)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
