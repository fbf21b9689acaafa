"""How far apart two seeds of one configuration are, assumed where no side has a second seed."""

from __future__ import annotations

import math
from collections.abc import Mapping

from analyzer.compare.model import MeasureName
from analyzer.statistics.finite import Floats

# The standard deviation between seeds of the level, the rise and the area of a curve, as a share of
# the standard deviation of a run's own values, drift included. Measured on seeds of the lab in
# four configurations (bench/results/seed_spread.json), beyond what the noise within runs explains,
# and rounded up to 0.05, at least 0.1.
Shares = tuple[float, float, float]
REWARD: Shares = (0.1, 0.15, 0.1)
WEIGHT: Shares = (0.1, 0.15, 0.15)
SHARES: Mapping[str, Shares] = {
    "task_reward": REWARD,
    "rollout_reward": REWARD,
    "eval_reward": REWARD,
    "seq_len": (0.45, 0.5, 0.3),
    "entropy": (0.7, 0.85, 0.35),
    "importance_weight": WEIGHT,
    "behave_imp_weight": WEIGHT,
    "staleness": (0.1, 0.1, 0.15),
    "grad_norm": (0.2, 0.2, 0.1),
    "t_step": (0.65, 0.65, 0.35),
}
OTHERS: Shares = SHARES["entropy"]  # a series that was not measured has the widest of these
FREEDOM = 20  # degrees of freedom with which they are known: 26 runs less the configurations


def assumed_spread(metric: str, measure: MeasureName, x: Floats, curves: Floats) -> float:
    """Standard deviation of a measure between seeds, in the measure's unit; rows are runs.

    The place of half of the rise has the share of the rise, of the places' own standard deviation,
    which is what it was measured at as well.
    """
    level, rise, area = SHARES.get(metric, OTHERS)
    share = {"level": level, "rise": rise, "area": area, "reach": rise}[measure]
    values = x[None] if measure == "reach" else curves
    varied = values - values[:, :1]  # of a constant exactly 0
    return share * math.sqrt(float(varied.var(axis=1).mean()))
