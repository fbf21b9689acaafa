"""The spread of seeds beyond what the noise within runs explains; what is said of equal runs."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from analyzer.compare.axes import Shared, axis, shared
from analyzer.compare.model import Comparison, Measure, MetricDifference
from analyzer.compare.runs import WATCHED, compare
from analyzer.statistics.curves import curve_difference
from analyzer.statistics.noise import without_outliers
from analyzer.tables.evidence import Absent, Series
from analyzer.tables.run import RunTables

MEASURES = ("level", "rise", "area")
Squares = dict[str, list[tuple[float, float, float]]]


def squared_shares(runs: Sequence[RunTables]) -> dict[str, tuple[float, ...]]:
    """Series → variance between seeds of level, rise and area over that of the runs' values.

    Of a pair's difference d with the standard error e of its noise, (d² − e²)/2 is what a seed
    varies by; the mean over pairs, and 0 where it is below. Series that are constant are left out.
    """
    found: Squares = {}
    for first, second in combinations(runs, 2):
        for name in WATCHED:
            if (pair := _curves(name, first, second)) is None:
                continue
            x, (a, b) = pair.places, pair.curves
            scale = float(a.var() + b.var()) / 2.0
            apart = curve_difference(x, a, b, 0.95, rising=False)
            level, rise, area = (
                (d.value**2 - d.error**2) / 2.0 / scale
                for d in (apart.level, apart.rise, apart.area)
            )
            found.setdefault(name, []).append((level, rise, area))
    return {name: tuple(np.mean(rows, axis=0).clip(min=0.0)) for name, rows in found.items()}


def _curves(name: str, *runs: RunTables) -> Shared | None:
    rows = [run.series(name) for run in runs]
    kept = [row for row in rows if isinstance(row, Series)]
    axes = [along for run in runs if not isinstance(along := axis(run, "step"), Absent)]
    both = shared(name, kept, axes, "step") if len(kept) == len(rows) else None
    if not isinstance(both, Shared):
        return None
    curves = np.stack([without_outliers(row) for row in both.curves])
    return Shared(both.places, curves) if float(np.ptp(curves, axis=1).min()) > 0 else None


def shares(groups: Sequence[Mapping[str, tuple[float, ...]]]) -> dict[str, dict[str, float]]:
    """The root mean square over configurations, each of which counts the same."""
    names = [name for name in WATCHED if any(name in group for group in groups)]
    found = {}
    for name in names:
        rows = np.array([group[name] for group in groups if name in group]).mean(axis=0)
        found[name] = {
            measure: round(math.sqrt(v), 3) for measure, v in zip(MEASURES, rows, strict=True)
        }
    return found


def differs(row: Measure) -> bool:
    """Is a difference told?"""
    return row.verdict not in ("same", "not-separable")


def false_differences(runs: Sequence[RunTables]) -> dict[str, object]:
    """Pairs of one configuration, how many of them are told apart, and in which series."""
    told: Counter[str] = Counter()
    pairs = wrong = alone = 0
    for first, second in combinations(runs, 2):
        rows = list(_rows(compare("sibling", [first], [second])))
        names = {metric.metric for metric, row in rows if differs(row)}
        told.update(names)
        pairs, wrong = pairs + 1, wrong + bool(names)
        alone += any(row.only_the_pair for _, row in rows)
    return {"pairs": pairs, "false": wrong, "series": dict(told), "differ as a pair": alone}


def _rows(found: Comparison) -> list[tuple[MetricDifference, Measure]]:
    return [(metric, row) for metric in found.metrics for row in metric.measures]
