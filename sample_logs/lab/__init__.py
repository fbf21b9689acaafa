"""A small real trainer: a policy of some twenty thousand parameters that learns, and can break."""

from sample_logs.lab.faults import FAULTS
from sample_logs.lab.healthy import HEALTHY
from sample_logs.lab.scenario import Scenario, Strength
from sample_logs.lab.settings import Settings, Written
from sample_logs.lab.trainer import Run, train

SCENARIOS = {scenario.name: scenario for scenario in (*HEALTHY, *FAULTS)}


def settings_of(
    name: str, strength: Strength = "strong", seed: int = 1, steps: int | None = None
) -> Settings:
    """The settings of a scenario. Raises KeyError for an unknown name."""
    return SCENARIOS[name].settings(strength, seed, steps)


__all__ = [
    "FAULTS",
    "HEALTHY",
    "SCENARIOS",
    "Run",
    "Scenario",
    "Settings",
    "Strength",
    "Written",
    "settings_of",
    "train",
]
