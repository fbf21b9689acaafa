"""The spread of seeds beyond what the noise within runs explains; what is said of equal runs."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from analyzer.compare.axes import Shared, axis, shared
from analyzer.compare.model import Comparison, Measure, MetricDifference
from analyzer.compare.runs import WATCHED, compare
from analyzer.compare.seed_spread import FREEDOM, assumed_spread
from analyzer.statistics.bootstrap import Estimate
from analyzer.statistics.curves import curve_difference
from analyzer.statistics.noise import without_outliers
from analyzer.statistics.power import detectable, noise_of
from analyzer.tables.evidence import Absent, Series
from analyzer.tables.run import RunTables

MEASURES = ("level", "rise", "area", "reach")
REWARD = "task_reward"  # of which the place of half of the rise is measured
ADDED_TO = ("task_reward", "seq_len", "entropy", "grad_norm", "t_step")
PAIRS = 20  # that an effect is added to, drawn with a fixed seed
REACHED = 0.5  # of the run after which the whole effect is there
Squares = dict[str, list[tuple[float, ...]]]


def squared_shares(runs: Sequence[RunTables]) -> dict[str, tuple[float, ...]]:
    """Series → variance between seeds of level, rise and area over that of the runs' values; of the
    reward also that of the place of half of its rise over that of the places.

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
            apart = curve_difference(x, a, b, 0.95, rising=name == REWARD)
            row = [_square(d) / scale for d in (apart.level, apart.rise, apart.area)]
            if name == REWARD:
                row.append(math.nan if apart.reach is None else _square(apart.reach) / x.var())
            found.setdefault(name, []).append(tuple(row))
    return {name: tuple(np.nanmean(rows, axis=0).clip(min=0.0)) for name, rows in found.items()}


def _square(found: Estimate) -> float:
    return (found.value**2 - found.error**2) / 2.0


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
            measure: round(math.sqrt(v), 3) for measure, v in zip(MEASURES, rows, strict=False)
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


@dataclass(frozen=True)
class Raised:
    """A run of which one series is raised by an effect that comes in over half of the run."""

    run: RunTables
    name: str
    effect: float

    def __getattr__(self, name: str) -> Any:
        return getattr(self.run, name)

    def series(self, name: str, buckets: int | None = None) -> Series | Absent:
        """The series of the run, that one raised."""
        found = self.run.series(name, buckets)
        if name != self.name or isinstance(found, Absent):
            return found
        along = (found.steps - found.steps[0]) / (found.steps[-1] - found.steps[0])
        return replace(found, values=found.values + self.effect * np.minimum(1.0, along / REACHED))


def detected(runs: Sequence[RunTables], seed: int = 1) -> list[dict[str, object]]:
    """In how many pairs an effect is told that the planner calls detectable from the other run.

    All series watched are compared, so that the confidence is that of the planner. `level`: the
    level at the end is told higher; `any`: some measure of the series is told.
    """
    every = list(combinations(runs, 2))
    drawn = np.random.default_rng(seed).permutation(len(every))[:PAIRS]
    return [_detected(name, [every[i] for i in sorted(drawn)]) for name in ADDED_TO]


def _detected(name: str, pairs: Sequence[tuple[RunTables, RunTables]]) -> dict[str, object]:
    sizes, level, some = [], 0, 0
    for first, second in pairs:
        count = len(_rows(compare("sync", [first], [second])))
        effect = _effect(name, second, 1.0 - 0.05 / count)
        raised: Any = Raised(first, name, effect)
        rows = [row for m, row in _rows(compare("sync", [raised], [second])) if m.metric == name]
        sizes.append(effect)
        level += differs(rows[0]) and rows[0].difference.value > 0
        some += any(map(differs, rows))
    size = float(f"{np.median(sizes):.3g}")
    return {"series": name, "pairs": len(pairs), "effect": size, "level": level, "any": some}


def _effect(name: str, run: RunTables, confidence: float) -> float:
    series = run.series(name)
    assert isinstance(series, Series)
    places = np.arange(float(len(series)))
    spread = assumed_spread(name, "level", places, series.values[None])
    noise = replace(noise_of(series.values), seeds=spread, seeds_freedom=FREEDOM)
    return detectable(noise, len(series), confidence)
