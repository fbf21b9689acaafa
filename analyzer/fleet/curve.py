"""A run's task reward as a thin line, for pages of many."""

from __future__ import annotations

import numpy as np

from analyzer.report.decimate import keep_extremes
from analyzer.tables.evidence import Series
from analyzer.tables.run import RunTables

REWARD = "task_reward"
POINTS = 48  # at most
DIGITS = 4  # of a value


def reward_curve(tables: RunTables) -> list[list[float]]:
    """Steps and finite values, thinned so that the highest and lowest stay; [] where none is
    logged.
    """
    series = tables.series(REWARD)
    if not isinstance(series, Series):
        return []
    good = series.select(np.isfinite(series.values))
    kept = keep_extremes(good.values, POINTS)
    steps, values = good.steps[kept].tolist(), good.values[kept].tolist()
    return [[s, float(f"{v:.{DIGITS}g}")] for s, v in zip(steps, values, strict=True)]
