"""Two runs side by side: what their configurations set differently, and their levels.

Levels, not a judgement: whether a difference is more than the noise of one seed is not tested.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np

from analyzer.tables.evidence import Absent
from analyzer.tables.run import RunTables

WATCHED = (
    "task_reward",
    "eval_reward",
    "rollout_reward",
    "seq_len",
    "truncation_excess",
    "entropy",
    "importance_weight",
    "behave_imp_weight",
    "staleness",
    "grad_norm",
    "t_step",
)

# Keys that name a run or a place differ between any two runs and say nothing of the training.
_NAMES = ("experiment_name", "trial_name", "fileroot", "path", "name_resolve", "logdir")


@dataclass(frozen=True, slots=True)
class KeyDifference:
    """A key that the two configurations set differently; None: not set. JSON text."""

    key: str
    mine: str | None
    other: str | None


@dataclass(frozen=True, slots=True)
class Levels:
    """Medians of the last tenth of either run."""

    metric: str
    unit: str
    mine: float
    other: float


@dataclass(frozen=True, slots=True)
class Beside:
    """Another run, in its role, beside this one."""

    role: str
    run: str
    config: tuple[KeyDifference, ...]
    levels: tuple[Levels, ...]


def beside(role: str, mine: RunTables, other: RunTables) -> Beside:
    """The differences of two ingested runs."""
    return Beside(role, other.manifest.run, _config(mine, other), _levels(mine, other))


def _config(mine: RunTables, other: RunTables) -> tuple[KeyDifference, ...]:
    left, right = (dict(run.config_items()) for run in (mine, other))
    differences = []
    for key in sorted(left.keys() | right.keys()):
        a, b = left.get(key), right.get(key)
        if key.rpartition(".")[2] in _NAMES or (a and a.value) == (b and b.value):
            continue
        texts = [None if value is None else json.dumps(value.value) for value in (a, b)]
        differences.append(KeyDifference(key, *texts))
    return tuple(differences)


def _levels(mine: RunTables, other: RunTables) -> tuple[Levels, ...]:
    rows = []
    for name in WATCHED:
        levels = [_level(run, name) for run in (mine, other)]
        if levels[0] is not None and levels[1] is not None:
            rows.append(Levels(name, mine.catalog.unit(name), levels[0], levels[1]))
    return tuple(rows)


def _level(run: RunTables, name: str) -> float | None:
    series = run.series(name)
    if isinstance(series, Absent):
        return None
    values = series.values[np.isfinite(series.values)]
    return float(np.median(values[-max(5, len(values) // 10) :])) if len(values) else None
