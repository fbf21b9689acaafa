"""When a step ran, and how long a stretch of steps took."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

import numpy as np

from analyzer.report.source import SeriesSource
from analyzer.tables.evidence import Floats, Series, Steps
from analyzer.tables.manifest import AttemptRecord, Manifest

Method = Literal["step-times", "clock", "share", "none"]
LEAST_COVERED = 0.8  # of the steps need a step time for the sum to stand for all


@dataclass(frozen=True, slots=True)
class Duration:
    """A stretch's length in hours, None where it cannot be told, and how it was found: summed
    step times, the log's clock, or a share of the run's length.
    """

    hours: float | None
    method: Method


@dataclass(frozen=True, slots=True)
class Instant:
    """A time in UTC; `exact` is false where it lies between two known ones."""

    time: datetime
    exact: bool


class Clock:
    """Times of one run. `wall_time` (seconds since 1970) and `t_step` (s) are used where the
    source has them.
    """

    def __init__(self, manifest: Manifest, source: SeriesSource) -> None:
        self._manifest = manifest
        self._wall = _finite(source, "wall_time")
        self._step_times = _finite(source, "t_step")

    def at(self, step: int) -> Instant | None:
        """When the step was logged; between an attempt's start and end where no line says."""
        if self._wall is not None:
            steps, seconds = self._wall
            known = np.flatnonzero(steps == step)
            if len(known):
                moment = datetime.fromtimestamp(float(seconds[known[0]]), UTC)
                return Instant(moment, exact=True)
        return self._between(step)

    def _between(self, step: int) -> Instant | None:
        attempt = owner(self._manifest.attempts, step)
        if attempt is None or attempt.started is None or attempt.ended is None:
            return None
        start, end = parse_time(attempt.started), parse_time(attempt.ended)
        share = (step - attempt.first_step) / max(1, attempt.last_step - attempt.first_step)
        return Instant(start + (end - start) * share, exact=share in (0, 1))

    def hours(self, first: int, last: int) -> Duration:
        """How long the steps from first to last took, both counted."""
        count = last - first + 1
        if self._step_times is not None:
            steps, seconds = self._step_times
            inside = seconds[(steps >= first) & (steps <= last)]
            if len(inside) >= LEAST_COVERED * count:
                return Duration(float(inside.mean()) * count / 3600, "step-times")
        start, end = self.at(first), self.at(last)
        if start is not None and end is not None and start.exact and end.exact:
            return Duration((end.time - start.time).total_seconds() / 3600, "clock")
        return self._share(count)

    def _share(self, count: int) -> Duration:
        manifest = self._manifest
        if manifest.started is None or manifest.ended is None or not manifest.step_count:
            return Duration(None, "none")
        whole = parse_time(manifest.ended) - parse_time(manifest.started)
        share = min(1.0, count / manifest.step_count)
        return Duration(whole.total_seconds() / 3600 * share, "share")


def parse_time(text: str) -> datetime:
    """An ISO 8601 time in UTC; one without a zone is taken as UTC."""
    moment = datetime.fromisoformat(text)
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def owner(attempts: tuple[AttemptRecord, ...], step: int) -> AttemptRecord | None:
    """The attempt whose rows of that step stand: the last that reached it."""
    covering = [a for a in attempts if a.first_step <= step <= a.last_step]
    return covering[-1] if covering else None


def _finite(source: SeriesSource, name: str) -> tuple[Steps, Floats] | None:
    series = source.series(name)
    if not isinstance(series, Series):
        return None
    good = series.select(np.isfinite(series.values))
    return (good.steps, good.values) if len(good) else None
