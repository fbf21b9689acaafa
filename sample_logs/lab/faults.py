"""What can be put into a run, as data: healthy variants and faults, each mild and strong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from sample_logs.lab.settings import Change, Settings, with_values

Strength = Literal["off", "mild", "strong"]


@dataclass(frozen=True)
class Scenario:
    """A run that can be made, and what a diagnosis of it has to say."""

    name: str
    about: str
    """What is put in, in words."""
    mild: Mapping[str, Any] = field(default_factory=dict)
    """Fields of the settings as `part.field`, which hold from step `since` on."""
    strong: Mapping[str, Any] = field(default_factory=dict)
    since: int = 0
    base: Mapping[str, Any] = field(default_factory=dict)
    """Fields that hold from the beginning, also when the fault is off."""
    must_find: tuple[str, ...] = ()
    """Rules that have to fire; `a|b` for either."""
    must_not: tuple[str, ...] = ()
    """Rules that would be wrong, beside all that belong to no fault at all."""

    @property
    def healthy(self) -> bool:
        """Whether nothing is wrong with it."""
        return not self.must_find


HEALTHY = (Scenario("healthy", "Nothing wrong: the reward rises from about 0.45 to 0.8."),)
SCENARIOS = {scenario.name: scenario for scenario in HEALTHY}


def settings_of(
    name: str, strength: Strength = "strong", seed: int = 1, steps: int | None = None
) -> Settings:
    """The settings of a scenario. Raises KeyError for an unknown name."""
    scenario = SCENARIOS[name]
    values = {"name": name, "seed": seed, **scenario.base}
    settings = with_values(Settings(), values)
    if steps is not None:
        settings = with_values(settings, {"steps": steps})
    changed = {"off": {}, "mild": scenario.mild, "strong": scenario.strong}[strength]
    if not changed:
        return settings
    if scenario.since == 0:
        return with_values(settings, changed)
    return with_values(settings, {"changes": (Change(scenario.since, changed),)})
