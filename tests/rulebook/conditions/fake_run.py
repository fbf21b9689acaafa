"""A run made of a few arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from analyzer.rulebook.conditions.base import Condition
from analyzer.rulebook.context import RunView
from analyzer.tables.evidence import Absent, ConfigValue, Event, Response, Series

C = TypeVar("C", bound=Condition)


@dataclass
class FakeRun:
    """Answers as tables.run.RunTables does."""

    names: dict[str, Series] = field(default_factory=dict)
    first_step: int = 0
    last_step: int = -1
    resumes: Sequence[int] = ()
    attempt_ends: Sequence[int] = ()
    has_config: bool = False
    has_text_log: bool = False
    configured: Mapping[str, object] = field(default_factory=dict)
    lines: Sequence[Event] = ()
    facts: Mapping[str, float] = field(default_factory=dict)
    others: Mapping[str, FakeRun] = field(default_factory=dict)
    asked: list[tuple[str, int | None]] = field(default_factory=list)

    def series(self, name: str, buckets: int | None = None) -> Series | Absent:
        """The series; it is never reduced."""
        self.asked.append((name, buckets))
        return self.names.get(name) or Absent(name, f"{name} is not logged in this run")

    @property
    def framework(self) -> str | None:
        """AReaL."""
        return "areal"

    def key_of(self, key: str) -> str | None:
        """AReaL's own."""
        return key

    def config(self, key: str) -> ConfigValue | None:
        """The value of a key, from config.yaml."""
        return ConfigValue(self.configured[key], "config.yaml") if key in self.configured else None

    def events(self) -> Sequence[Event]:
        """The lines given."""
        return self.lines

    def responses(
        self, where: str, order: str, one_per: str, steps: tuple[int, int] | None
    ) -> Sequence[Response]:
        """None: it has no dumps."""
        return ()

    def fact(self, name: str) -> tuple[float, str] | None:
        """The number given."""
        return (self.facts[name], "given") if name in self.facts else None

    def other(self, role: str) -> FakeRun | None:
        """The run given in that role."""
        return self.others.get(role)

    def fact_unit(self, name: str) -> str:
        """Numbers without a unit."""
        return "1"


def series(
    name: str,
    values: npt.ArrayLike,
    steps: npt.ArrayLike | None = None,
    unit: str = "1",
    digits: int = 17,
) -> Series:
    """A series, at steps 0, 1, … unless told otherwise."""
    numbers = np.asarray(values, dtype=np.float64)
    at = np.arange(len(numbers)) if steps is None else np.asarray(steps)
    return Series(name, unit, f"log/{name}", at.astype(np.int64), numbers, digits=digits)


def run_with(*given: Series, last_step: int | None = None, **more: object) -> FakeRun:
    """A run that ends at the last step of its series, unless told otherwise."""
    ends = [int(s.steps[-1]) for s in given if len(s)]
    end = last_step if last_step is not None else max(ends, default=-1)
    return FakeRun(names={s.name: s for s in given}, last_step=end, **more)  # type: ignore[arg-type]


def event(
    message: str, step: int | None = None, level: str = "ERROR", repeats: int = 1, line: int = 7
) -> Event:
    """A line of main.log."""
    return Event(0, step, None, level, "Trainer", message, repeats, line, "main.log")


def ask(kind: type[C], **fields: object) -> C:
    """A condition; `for_` stands for the key `for`, which Python does not allow."""
    return kind.model_validate({"for" if k == "for_" else k: v for k, v in fields.items()})


def is_run_view(run: RunView) -> RunView:
    """The type checker's proof that the fake has the form of the real one."""
    return run


PROOF = is_run_view(FakeRun())
