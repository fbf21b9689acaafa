"""A run, or several seeds of it, against others."""

from __future__ import annotations

from collections.abc import Sequence

from analyzer.compare.axes import axis
from analyzer.compare.configuration import config_difference, is_another_seed
from analyzer.compare.metrics import Side, judged, metric_difference
from analyzer.compare.model import Align, Comparison, OnsetDifference
from analyzer.errors import RunError
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


def compare(
    role: str,
    mine: Sequence[RunTables],
    other: Sequence[RunTables],
    *,
    align: Align = "step",
    metrics: Sequence[str] = WATCHED,
    delta: float = 0.0,
    onsets: tuple[OnsetDifference, ...] = (),
) -> Comparison:
    """The first of `mine` and its further seeds against the runs of that role.

    A further run counts as another seed of a side where its configuration differs from the first
    one's in seeds alone; otherwise it is left aside and a note says so. Raises RunError where a run
    has no such axis.
    """
    (mine, notes), (other, more) = _seeds(mine), _seeds(other)
    sides = _side(mine, align), _side(other, align)
    found = [metric_difference(name, *sides, align) for name in metrics]
    kept = [metric for metric in found if not isinstance(metric, Absent)]
    return Comparison(
        role,
        tuple(run.manifest.run for run in mine),
        tuple(run.manifest.run for run in other),
        align,
        delta,
        judged(kept, delta),
        tuple((row.name, row.reason) for row in found if isinstance(row, Absent)),
        config_difference(mine[0], other[0]),
        onsets,
        (*notes, *more),
    )


def _seeds(runs: Sequence[RunTables]) -> tuple[tuple[RunTables, ...], tuple[str, ...]]:
    kept, notes = [runs[0]], []
    for run in runs[1:]:
        differences = config_difference(runs[0], run)
        if is_another_seed(differences):
            kept.append(run)
            continue
        first, name = runs[0].manifest.run, run.manifest.run
        keys = ", ".join(row.key for row in (differences or ())[:3])
        why = f"it differs in {keys}" if keys else "a configuration is missing"
        notes.append(f"{name} is not taken as another seed of {first}: {why}")
    return tuple(kept), tuple(notes)


def _side(runs: Sequence[RunTables], align: Align) -> Side:
    axes = []
    for run in runs:
        found = axis(run, align)
        if isinstance(found, Absent):
            raise RunError(f"not comparable by {align}: {found.reason}", hint="--align step")
        axes.append(found)
    return Side(tuple(runs), tuple(axes))
