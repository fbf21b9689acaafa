"""The runs: those that the spread of seeds is fixed on, and others that it is tried on."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from detection.cases import Case, lab_sha256, made

from sample_logs.lab import Strength, settings_of
from sample_logs.lab.settings import Settings

STEPS = 120


class ShortCase(Case):
    """A run of fewer steps than a scenario has."""

    @property
    def settings(self) -> Settings:
        """What the trainer is told."""
        return settings_of(self.scenario, self.strength, self.seed, STEPS)


@dataclass(frozen=True)
class Seeds:
    """Runs of one configuration."""

    scenario: str
    strength: Strength
    seeds: tuple[int, ...]

    def runs(self, cache: Path, lab: str) -> list[Path]:
        """Their folders; those that are not there are made."""
        found = [made(ShortCase(self.scenario, self.strength, s), cache, lab) for s in self.seeds]
        return [path for path in found if path is not None]


FIXED_ON = (
    Seeds("healthy", "off", (*range(101, 107), *range(201, 211))),
    Seeds("healthy_noisy", "off", tuple(range(101, 105))),
    Seeds("minibatches", "mild", (101, 102, 103)),
    Seeds("length_paid", "mild", (101, 102, 103)),
)
TRIED_ON = (Seeds("healthy", "off", tuple(range(301, 311))),)

__all__ = ["FIXED_ON", "STEPS", "TRIED_ON", "Seeds", "lab_sha256"]
