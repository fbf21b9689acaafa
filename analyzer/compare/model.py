"""What a comparison of runs says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from analyzer.statistics.bootstrap import Estimate
from analyzer.statistics.finite import Floats

Align = Literal["step", "tokens", "time"]
AXIS_UNITS: dict[Align, str] = {"step": "steps", "tokens": "tokens", "time": "s"}

MeasureName = Literal["level", "rise", "area", "reach"]
Verdict = Literal["better", "worse", "higher", "lower", "same", "not-separable"]
CONFIDENCE = 0.95

# Series whose direction is good or bad in itself: 1 where more is better.
BETTER = {
    "task_reward": 1,
    "eval_reward": 1,
    "rollout_reward": 1,
    "truncation_excess": -1,
    "t_step": -1,
}


@dataclass(frozen=True, slots=True)
class Improvement:
    """P(a run of this side is higher than one of the other), with its interval."""

    share: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Measure:
    """One way to look at two curves; `difference` is mine minus other, in `unit`.

    Where each side has one run, its interval holds `seed_spread`, the standard deviation assumed of
    single seeds in `unit`, and `pair` is the interval of these two runs alone.
    """

    name: MeasureName
    unit: str
    mine: float
    other: float
    difference: Estimate
    verdict: Verdict
    improvement: Improvement | None = None  # of several seeds
    pair: Estimate | None = None
    seed_spread: float | None = None

    @property
    def only_the_pair(self) -> bool:
        """Do these two runs differ, and by no more than two seeds of one configuration may?"""
        if self.verdict != "not-separable" or self.pair is None:
            return False
        return self.pair.low > 0.0 or self.pair.high < 0.0


@dataclass(frozen=True, slots=True)
class Parting:
    """From where on two curves differ, on the axis of the comparison, with a 95 % interval."""

    place: float
    low: float
    high: float


@dataclass(frozen=True, eq=False, slots=True)
class Band:
    """A curve with its 95 % band, place by place."""

    middle: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True, eq=False, slots=True)
class DrawnCurves:
    """Curves smoothed over a tenth of their places, and mine minus other."""

    places: Floats
    mine: Band
    other: Band
    difference: Band


@dataclass(frozen=True, slots=True)
class MetricDifference:
    """A series of both sides, compared from `first` to `last` on the axis at so many places."""

    metric: str
    unit: str
    logged_as: str
    places: int
    first: float
    last: float
    measures: tuple[Measure, ...]
    parting: Parting | None  # None where no difference is clear
    curves: DrawnCurves

    @property
    def level(self) -> Measure:
        """The level at the end, which the verdict on the series rests on."""
        return self.measures[0]

    @property
    def verdict(self) -> Verdict:
        """What is to be said of the series."""
        return self.level.verdict


@dataclass(frozen=True, slots=True)
class KeyDifference:
    """A key that two configurations set differently: JSON text, None where it is not set.

    `mine_default`, `other_default`: the value is the framework's, the configuration leaves it out.
    """

    key: str
    mine: str | None
    other: str | None
    mine_default: bool = False
    other_default: bool = False


@dataclass(frozen=True, slots=True)
class OnsetDifference:
    """A rule that fired in one run or in both; the onset is None where none can be told."""

    rule: str
    title: str
    mine_fired: bool
    other_fired: bool
    mine: int | None
    other: int | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """This run, with other seeds of it, against the runs of a role."""

    role: str
    mine: tuple[str, ...]  # run names
    other: tuple[str, ...]
    align: Align
    delta: float  # differences within it do not matter, in each series' own unit
    metrics: tuple[MetricDifference, ...]
    left_out: tuple[tuple[str, str], ...]  # series that could not be compared, and why
    config: tuple[KeyDifference, ...] | None  # None where a run has no configuration
    onsets: tuple[OnsetDifference, ...]
    notes: tuple[str, ...]

    @property
    def knows_seeds(self) -> bool:
        """Is the spread of seeds measured on seeds of a side, not assumed?"""
        return len(self.mine) + len(self.other) > 2
