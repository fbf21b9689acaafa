"""What the text logs say."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import ClassVar, Literal

from pydantic import Field, field_validator, model_validator

from analyzer.findings.model import Evidence, Onset
from analyzer.rulebook.conditions.base import Condition
from analyzer.rulebook.context import RunView
from analyzer.rulebook.outcome import Outcome, unknown
from analyzer.tables.evidence import Event

LEVELS = ("INFO", "WARNING", "ERROR", "CRITICAL")
SHOWN = (240, 80)  # characters of a long message, at its beginning and its end
# What RE2 does not have and what can take exponential time: back-references, look-around,
# conditions, atomic groups, possessive repeats. Escapes and classes are stepped over as a whole.
_TOKENS = re.compile(
    r"""(?P<refused> \\[1-9] | \(\?(?:[=!>(]|<[=!]|P=) | [*+?}]\+ )
      | \\. | \[\^?\]?(?:\\.|[^\]\\])*\] | .""",
    re.DOTALL | re.VERBOSE,
)


class Log(Condition):
    """Do the text logs hold lines that match a pattern, often enough or seldom enough?"""

    kind: ClassVar[str] = "log"
    pattern: str = ""
    level: Literal["INFO", "WARNING", "ERROR", "CRITICAL"] | None = Field(
        default=None, description="at least this level"
    )
    at_least: int | None = Field(default=None, ge=1)
    at_most: int | None = Field(default=None, ge=0)
    last_steps: int | None = Field(default=None, ge=0, description="only from so near the end on")
    within: int | None = Field(
        default=None, ge=1, description="count those of the busiest so many steps only"
    )
    before_restart: int | None = Field(
        default=None, ge=0, description="only from so near the end of an attempt that restarted"
    )

    @field_validator("pattern")
    @classmethod
    def _compiles(cls, pattern: str) -> str:
        if any(token["refused"] for token in _TOKENS.finditer(pattern)):
            raise ValueError(
                "look-around, back-references, conditions, atomic groups and possessive repeats "
                "are not allowed in a pattern"
            )
        try:
            re.compile(pattern)
        except re.error as cause:
            raise ValueError(f"not a regular expression: {cause}") from cause
        return pattern

    @model_validator(mode="after")
    def _one_bound(self) -> Log:
        if self.at_least is not None and self.at_most is not None:
            raise ValueError("log has at_least or at_most, not both")
        return self

    def judge(self, run: RunView) -> Outcome:
        """holds or not by the number of matching lines; unknown without a text log."""
        if not run.has_text_log:
            return unknown("no text log in this run")
        found = [event for event in run.events() if self._matches(event, run)]
        if self.within is not None:
            found = _busiest(found, self.within)
        count = sum(event.repeats for event in found)
        evidence = self._evidence(found, count)
        if self.at_most is not None:
            holds = count <= self.at_most
            return Outcome("holds" if holds else "not", (evidence,), margin=evidence.text)
        if count < (self.at_least or 1):
            return Outcome("not", (evidence,), margin=evidence.text)
        steps = [event.step for event in found if event.step is not None]
        if not steps:
            return Outcome("holds", (evidence,))
        window = (min(steps), max(steps))
        return Outcome("holds", (evidence,), (window,), Onset(*[window[0]] * 3))

    def _matches(self, event: Event, run: RunView) -> bool:
        if self.level is not None and (
            event.level not in LEVELS or LEVELS.index(event.level) < LEVELS.index(self.level)
        ):
            return False
        if self.last_steps is not None and not self._is_late(event, run, self.last_steps):
            return False
        if self.before_restart is not None and not self._ends_an_attempt(event, run):
            return False
        return re.search(self.pattern, event.message) is not None

    def _is_late(self, event: Event, run: RunView, steps: int) -> bool:
        """A run without a step has no late part: all of it counts."""
        if run.last_step < 0:
            return True
        return event.step is not None and event.step > run.last_step - steps

    def _ends_an_attempt(self, event: Event, run: RunView) -> bool:
        if event.attempt >= len(run.attempt_ends):
            return False
        assert self.before_restart is not None
        end = run.attempt_ends[event.attempt]
        return event.step is None or event.step >= end - self.before_restart

    def _evidence(self, found: Sequence[Event], count: int) -> Evidence:
        needed = f"at least {self.at_least or 1} lines"
        if self.at_most is not None:
            needed = f"at most {self.at_most} lines"
        if not found:
            return Evidence(
                self.kind, "log", self.pattern, "count", 0.0, None, None, "no such line", needed
            )
        first = found[0]
        message = _shortened(first.message)
        lines = "1 line" if count == 1 else f"{count} lines, first"
        text = f"{lines} at {first.source}:{first.line}: {message}"
        steps = [event.step for event in found if event.step is not None]
        window = (min(steps), max(steps)) if steps else None
        place = f"{first.source}:{first.line}"
        return Evidence(self.kind, "log", place, "count", float(count), None, window, text, needed)


def _shortened(message: str) -> str:
    """The beginning, which says what, and the end, where a traceback says in which function."""
    head, tail = SHOWN
    return message if len(message) <= head + tail else f"{message[:head]} … {message[-tail:]}"


def _busiest(events: Sequence[Event], width: int) -> list[Event]:
    """The events of the `width` steps that hold most of them; those without a step are left out."""
    placed = [(event.step, event) for event in events if event.step is not None]
    stretches = [
        [event for step, event in placed if start <= step < start + width] for start, _ in placed
    ]
    return max(stretches, key=lambda found: sum(event.repeats for event in found), default=[])
