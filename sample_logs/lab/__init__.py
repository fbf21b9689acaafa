"""A small real trainer: a policy of some twenty thousand parameters that learns, and can break."""

from sample_logs.lab.faults import SCENARIOS, Scenario, settings_of
from sample_logs.lab.settings import Settings, Written
from sample_logs.lab.trainer import Run, train

__all__ = ["SCENARIOS", "Run", "Scenario", "Settings", "Written", "settings_of", "train"]
