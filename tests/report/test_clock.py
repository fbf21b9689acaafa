"""Times of steps and lengths of stretches, by hand."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from report_parts import START, STEP_S, MadeRun, manifest, series

from analyzer.report.clock import Clock, owner, parse_time
from analyzer.tables.manifest import AttemptRecord

TWO = (
    AttemptRecord(0, 0, 96, "2026-01-01T00:00:00Z", "2026-01-01T01:36:00Z", (90, 96)),
    AttemptRecord(1, 90, 190, "2026-01-01T02:00:00Z", "2026-01-01T03:40:00Z", None),
)


def test_the_attempt_that_wrote_a_step_last_owns_it() -> None:
    found = [owner(TWO, step) for step in (89, 90, 96, 191)]
    assert [attempt and attempt.number for attempt in found] == [0, 1, 1, None]


def test_a_time_between_start_and_end_is_not_exact() -> None:
    """The second attempt makes 100 steps in 100 minutes."""
    clock = Clock(manifest(attempts=TWO), MadeRun({}))
    middle = clock.at(120)
    assert middle is not None and not middle.exact
    assert middle.time == datetime(2026, 1, 1, 2, 30, tzinfo=UTC)
    end = clock.at(190)
    assert end is not None and end.exact
    assert clock.at(500) is None


def test_a_logged_time_is_exact() -> None:
    made = MadeRun({"wall_time": series("wall_time", "s", "wall_time", [1_767_225_600.0])})
    moment = Clock(manifest(), made).at(0)
    assert moment is not None and moment.exact
    assert moment.time == datetime(2026, 1, 1, tzinfo=UTC)


def test_hours_are_summed_from_step_times() -> None:
    made = MadeRun({"t_step": series("t_step", "s", "sum", [36.0] * 100)})
    duration = Clock(manifest(), made).hours(0, 99)
    assert duration.method == "step-times" and duration.hours == pytest.approx(1.0)


def test_too_few_step_times_do_not_stand_for_all() -> None:
    """79 of 100 steps have one; the clock of the log says 99 steps of 76.5 s."""
    made = MadeRun({"t_step": series("t_step", "s", "sum", [36.0] * 79)})
    times = [START.timestamp() + STEP_S * i for i in range(240)]
    made.found = {**made.found, "wall_time": series("wall_time", "s", "wall_time", times)}
    duration = Clock(manifest(), made).hours(0, 99)
    assert duration.method == "clock" and duration.hours == pytest.approx(99 * STEP_S / 3600)


def test_without_times_a_share_of_the_run() -> None:
    """60 of 240 steps of a run of 239 intervals of 76.5 s."""
    duration = Clock(manifest(), MadeRun({})).hours(10, 69)
    assert duration.method == "share"
    assert duration.hours == pytest.approx(239 * STEP_S / 3600 / 4, rel=1e-3)


def test_without_any_time_the_length_is_not_known() -> None:
    bare = manifest(started=None, ended=None, attempts=())
    assert Clock(bare, MadeRun({})).hours(0, 9).hours is None


def test_a_time_with_a_zone_becomes_utc() -> None:
    assert parse_time("2026-01-01T08:00:00+08:00") == datetime(2026, 1, 1, tzinfo=UTC)
    assert parse_time("2026-01-01T08:00:00") == datetime(2026, 1, 1, 8, tzinfo=UTC)
