"""One series of several runs, compared."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from analyzer.compare.axes import Axis, Shared, shared
from analyzer.compare.bands import drawn_curves
from analyzer.compare.model import (
    AXIS_UNITS,
    BETTER,
    CONFIDENCE,
    Align,
    DrawnCurves,
    Improvement,
    Measure,
    MeasureName,
    MetricDifference,
    Parting,
    Verdict,
)
from analyzer.compare.seed_spread import FREEDOM, assumed_spread
from analyzer.statistics.bootstrap import Estimate, with_spread
from analyzer.statistics.curves import curve_difference, half_way, measures, reach_place, rises
from analyzer.statistics.fdr import survivors
from analyzer.statistics.finite import Floats
from analyzer.statistics.noise import without_outliers
from analyzer.statistics.seeds import interquartile_mean, seed_difference
from analyzer.statistics.trend import trend
from analyzer.tables.evidence import Absent, Series
from analyzer.tables.run import RunTables

NAMES: tuple[MeasureName, ...] = ("level", "rise", "area", "reach")


@dataclass(frozen=True)
class Side:
    """The runs of one side, with their axes."""

    runs: tuple[RunTables, ...]
    axes: tuple[Axis, ...]


@dataclass(frozen=True)
class Scores:
    """A measure of every run of both sides, and the difference."""

    mine: Floats
    other: Floats
    difference: Estimate
    improvement: Improvement | None = None
    pair: Estimate | None = None
    seed_spread: float | None = None


def metric_difference(
    name: str, mine: Side, other: Side, align: Align
) -> MetricDifference | Absent:
    """The series compared, its verdicts still to be given; or why it is not."""
    found: list[Series] = []
    for run in (*mine.runs, *other.runs):
        series = run.series(name)
        if isinstance(series, Absent):
            return Absent(name, f"{run.manifest.run}: {series.reason}")
        found.append(series)
    common = shared(name, found, (*mine.axes, *other.axes), align)
    if isinstance(common, Absent):
        return common
    common = replace(common, curves=np.stack([without_outliers(row) for row in common.curves]))
    places, split = common.places, len(mine.runs)
    unit = found[0].unit
    rows = tuple(
        Measure(
            which,
            AXIS_UNITS[align] if which == "reach" else unit,
            float(interquartile_mean(score.mine)),
            float(interquartile_mean(score.other)),
            score.difference,
            "not-separable",
            score.improvement,
            score.pair,
            score.seed_spread,
        )
        for which, score in _scores(name, common, split).items()
    )
    spread = assumed_spread(name, "level", places, common.curves)
    drawn = drawn_curves(places, common.curves, split, spread)
    apart = common.curves[:split].mean(axis=0) - common.curves[split:].mean(axis=0)
    return MetricDifference(
        name,
        unit,
        found[0].logged_as,
        len(places),
        float(places[0]),
        float(places[-1]),
        rows,
        _parting(drawn, apart),
        drawn,
    )


def _scores(name: str, common: Shared, split: int) -> dict[MeasureName, Scores]:
    """The measures of every run; that of the time to a level where more is better and all rise."""
    x, curves = common.places, common.curves
    level, rise, area = measures(x)
    # A rise is the same from any zero; from the first value a constant has none at all.
    values = level @ curves.T, rise @ (curves - curves[:, :1]).T, area @ curves.T
    rows: dict[MeasureName, Floats] = dict(zip(NAMES, values, strict=False))
    rising = BETTER.get(name) == 1 and all(rises(curve) for curve in curves)
    if rising:
        rows["reach"] = reach_place(x, curves, half_way(list(curves)))
    if len(curves) > 2:
        return {which: _by_seeds(row[:split], row[split:]) for which, row in rows.items()}
    apart = curve_difference(x, curves[0], curves[1], CONFIDENCE, rising)
    estimates = (apart.level, apart.rise, apart.area, apart.reach)
    return {
        which: _of_pair(rows[which], estimate, assumed_spread(name, which, x, curves))
        for which, estimate in zip(NAMES, estimates, strict=True)
        if estimate is not None
    }


def _of_pair(row: Floats, pair: Estimate, spread: float) -> Scores:
    """Two runs; what their seeds may do is added to the interval. Curves that are equal throughout
    are of one seed.
    """
    if pair.value == pair.error == 0.0:
        spread = 0.0
    difference = with_spread(pair, math.sqrt(2.0) * spread, FREEDOM, CONFIDENCE)
    return Scores(row[:1], row[1:], difference, None, pair, spread)


def _by_seeds(mine: Floats, other: Floats) -> Scores:
    found = seed_difference(mine, other, CONFIDENCE)
    chance = Improvement(found.improvement, found.improvement_low, found.improvement_high)
    return Scores(mine, other, found.difference, chance)


def _parting(drawn: DrawnCurves, apart: Floats) -> Parting:
    """Where the mean curves begin to draw apart; their first place where they always were."""
    places = drawn.places
    found = trend(np.arange(len(apart)), apart)
    start = found.ramp.start
    band = drawn.difference
    before = (band.low[:start] > 0.0) | (band.high[:start] < 0.0)
    if found.p_value > 1.0 - CONFIDENCE or (len(before) and before.mean() > 0.5):
        return Parting(float(places[0]), float(places[0]), float(places[0]))
    ramp = found.ramp
    return Parting(*(float(places[i]) for i in (ramp.start, ramp.start_low, ramp.start_high)))


def judged(metrics: list[MetricDifference], delta: float) -> tuple[MetricDifference, ...]:
    """The same with their verdicts.

    A difference is one where its whole interval lies beyond δ and it stands when the rate of false
    discoveries over all measures of all series is held at 5 % (Benjamini & Hochberg 1995).
    """
    rows = [measure for metric in metrics for measure in metric.measures]
    stand = iter(survivors([row.difference.p_value for row in rows], 1.0 - CONFIDENCE))
    done = []
    for metric in metrics:
        told = tuple(
            replace(row, verdict=_verdict(metric.metric, row, next(stand), delta))
            for row in metric.measures
        )
        differs = any(row.verdict not in ("same", "not-separable") for row in told)
        done.append(replace(metric, measures=told, parting=metric.parting if differs else None))
    return tuple(done)


def _verdict(name: str, row: Measure, stands: bool, delta: float) -> Verdict:
    """δ is in the series' unit and so says nothing of a time. A rise is neither good nor bad: what
    stands higher at first has less far to go.
    """
    limit = 0.0 if row.name == "reach" else delta
    low, high = row.difference.low, row.difference.high
    if -limit <= low and high <= limit:
        return "same"
    if not stands or (low <= limit and high >= -limit):
        return "not-separable"
    up = low > limit
    good = {"reach": -1, "rise": 0}.get(row.name, BETTER.get(name, 0))
    if good == 0:
        return "higher" if up else "lower"
    return "better" if up == (good > 0) else "worse"
