"""A run that can be made, and what a diagnosis of it has to say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from sample_logs.lab.settings import Change, Settings, with_values

Strength = Literal["off", "mild", "strong"]


@dataclass(frozen=True)
class Scenario:
    """What is put in, as fields of the settings named `part.field`, and what must be found."""

    name: str
    about: str
    mild: Mapping[str, Any] = field(default_factory=dict)
    strong: Mapping[str, Any] = field(default_factory=dict)
    since: int = 0
    """The step from which the fault is active."""
    until: int | None = None
    """The step from which it no longer is."""
    base: Mapping[str, Any] = field(default_factory=dict)
    """Fields that hold from the beginning, whatever the strength."""
    must_find: tuple[str, ...] = ()
    """Rules that have to fire; `a|b` for either."""
    must_not: tuple[str, ...] = ()
    """Rules that would tell the wrong story."""

    @property
    def healthy(self) -> bool:
        """Whether nothing is wrong with it."""
        return not self.must_find

    def settings(self, strength: Strength, seed: int, steps: int | None = None) -> Settings:
        """The settings of this run."""
        settings = with_values(Settings(), {"name": self.name, "seed": seed, **self.base})
        if steps is not None:
            settings = with_values(settings, {"steps": steps})
        put_in = {"off": {}, "mild": self.mild, "strong": self.strong}[strength]
        if not put_in:
            return settings
        if self.since == 0:
            return with_values(settings, put_in)
        changes = [Change(self.since, put_in)]
        if self.until is not None:
            changes.append(Change(self.until, {name: _value(settings, name) for name in put_in}))
        return with_values(settings, {"changes": tuple(changes)})


def _value(settings: Settings, name: str) -> Any:
    part, _, inner = name.partition(".")
    value = getattr(settings, part)
    return getattr(value, inner) if inner else value
