"""Curves of several runs on one axis: steps, tokens trained on, or time spent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analyzer.compare.model import Align
from analyzer.statistics.curves import FEWEST
from analyzer.statistics.finite import Floats, Steps, finite
from analyzer.statistics.reduce import bucket_medians
from analyzer.tables.evidence import Absent, Series
from analyzer.tables.run import RunTables

MOST = 512  # places; the statistics look at all pairs of them
LEAST_COVERED = 0.8  # of the steps need a cost for its sum to stand for all


@dataclass(frozen=True, eq=False)
class Axis:
    """Where each step of a run ends, counted from the start of its first logged step."""

    steps: Steps  # every step from the first to the last
    ends: Floats


@dataclass(frozen=True, eq=False)
class Shared:
    """Curves of all runs (rows) at the places that they share, ascending."""

    places: Floats
    curves: Floats


def axis(run: RunTables, align: Align) -> Axis | Absent:
    """The run's axis, or why it has none.

    Tokens: sequences times their mean length, else the update's tokens with padding. Time: the
    sum of step times, else the log's clock. What a restart threw away is not counted.
    """
    if align == "step":
        steps = np.arange(run.first_step, run.last_step + 1, dtype=np.int64)
        return Axis(steps, steps.astype(np.float64))
    if align == "tokens":
        return _summed(run, _tokens(run), "tokens")
    summed = _summed(run, _values(run, "t_step"), "step times")
    return _clocked(run) if isinstance(summed, Absent) else summed


def _values(run: RunTables, name: str) -> tuple[Steps, Floats] | None:
    series = run.series(name)
    if isinstance(series, Absent):
        return None
    kept = finite(series.steps, series.values)
    return kept.steps, kept.values


def _tokens(run: RunTables) -> tuple[Steps, Floats] | None:
    count, length = _values(run, "n_seqs"), _values(run, "seq_len")
    if count is None or length is None:
        return _values(run, "n_tokens")
    steps, first, second = np.intersect1d(
        count[0], length[0], assume_unique=True, return_indices=True
    )
    return steps, count[1][first] * length[1][second]


def _summed(run: RunTables, cost: tuple[Steps, Floats] | None, name: str) -> Axis | Absent:
    """A sum of costs a step; a step without one is taken as between its neighbours."""
    steps = np.arange(run.first_step, run.last_step + 1, dtype=np.int64)
    covered = 0 if cost is None else len(cost[0])
    if cost is None or covered < max(1.0, LEAST_COVERED * run.manifest.step_count):
        return Absent(name, f"{run.manifest.run} logs {name} at {covered} of its steps")
    return Axis(steps, np.cumsum(np.interp(steps, *cost)))


def _clocked(run: RunTables) -> Axis | Absent:
    clock = _values(run, "wall_time")
    if clock is None or len(clock[0]) < max(2.0, LEAST_COVERED * run.manifest.step_count):
        return Absent("time", f"{run.manifest.run} logs neither step times nor a clock")
    steps = np.arange(clock[0][0], clock[0][-1] + 1, dtype=np.int64)
    return Axis(steps, np.interp(steps, clock[0], clock[1] - clock[1][0]))


def shared(
    name: str, series: Sequence[Series], axes: Sequence[Axis], align: Align
) -> Shared | Absent:
    """The curves where all of them are known, at most MOST places.

    By step: the steps that all logged. By tokens or time: as many stretches of equal width as the
    run with the fewest values has; each holds the mean of a run's values that end in it, and one
    in which a run has none is left out.
    """
    curves = [finite(s.steps, s.values) for s in series]
    found = (
        _at_steps([(c.steps, c.values) for c in curves])
        if align == "step"
        else _in_stretches(
            [_placed(c.steps, c.values, a) for c, a in zip(curves, axes, strict=True)]
        )
    )
    if len(found.places) < FEWEST:
        return Absent(name, f"{len(found.places)} places that all runs share; {FEWEST} are needed")
    if len(found.places) <= MOST:
        return found
    order = np.arange(len(found.places))
    index, rows = bucket_medians(order, *found.curves, buckets=MOST)
    return Shared(found.places[index], np.stack(rows))


def _at_steps(curves: Sequence[tuple[Steps, Floats]]) -> Shared:
    steps = curves[0][0]
    for other, _ in curves[1:]:
        steps = np.intersect1d(steps, other, assume_unique=True)
    rows = [values[np.searchsorted(own, steps)] for own, values in curves]
    return Shared(steps.astype(np.float64), np.stack(rows))


def _placed(steps: Steps, values: Floats, along: Axis) -> tuple[Floats, Floats]:
    inside = (steps >= along.steps[0]) & (steps <= along.steps[-1])
    return along.ends[steps[inside] - along.steps[0]], values[inside]


def _in_stretches(curves: Sequence[tuple[Floats, Floats]]) -> Shared:
    if not all(len(places) for places, _ in curves):
        return Shared(np.empty(0), np.empty((len(curves), 0)))
    last = min(float(places[-1]) for places, _ in curves)
    count = min(int((places <= last).sum()) for places, _ in curves)
    edges = np.linspace(0.0, last, count + 1)
    sums, counts = np.zeros((len(curves), count)), np.zeros((len(curves), count))
    for row, (places, values) in enumerate(curves):
        within = places <= last
        at = np.maximum(np.searchsorted(edges, places[within], side="left") - 1, 0)
        np.add.at(sums[row], at, values[within])
        np.add.at(counts[row], at, 1.0)
    full = counts.all(axis=0)
    middles = (edges[:-1] + edges[1:]) / 2.0
    return Shared(middles[full], sums[:, full] / counts[:, full])
