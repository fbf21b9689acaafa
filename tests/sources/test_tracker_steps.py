"""The step numbers that AReaL's trackers get, against its own loop written out."""

from __future__ import annotations

from dataclasses import asdict

from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.sources.areal_steps import TrackerSteps

Steps = list[tuple[int, int]]  # training step, number of tables


def areals_loop(attempts: list[Steps], first: int) -> list[int]:
    """StatsLogger.commit with its counter, restored from the checkpoint of the step before."""
    written, ends = [], {-1: first}
    for steps in attempts:
        last = ends[steps[0][0] - 1]
        for step, tables in steps:
            log_step = max(step, last + 1)
            written += [log_step + index for index in range(tables)]
            last = ends[step] = log_step + tables - 1
    return written


def ours(attempts: list[Steps], legacy: bool) -> list[int]:
    steps, found = TrackerSteps(), []
    for number, attempt in enumerate(attempts):
        for index, (step, tables) in enumerate(attempt):
            steps.begin(step, number > 0 and index == 0, legacy)
            found += [steps.table(table, tables) for table in range(1, tables + 1)]
            steps = TrackerSteps(**asdict(steps))  # as it is kept between two readings
    return found


@st.composite
def histories(draw: st.DrawFn) -> list[Steps]:
    counts = st.lists(st.integers(1, 3), min_size=1, max_size=12)
    attempts: list[Steps] = [list(enumerate(draw(counts)))]
    for _ in range(draw(st.integers(0, 3))):
        start = draw(st.integers(0, attempts[-1][-1][0]))
        attempts.append([(start + index, n) for index, n in enumerate(draw(counts))])
    return attempts


@settings(max_examples=300, deadline=None, derandomize=True)
@given(histories(), st.booleans())
def test_the_numbers_are_those_of_areals_loop(attempts: list[Steps], legacy: bool) -> None:
    assert ours(attempts, legacy) == areals_loop(attempts, 0 if legacy else -1)


def test_constant_growth_takes_no_room() -> None:
    steps = TrackerSteps()
    for step in range(5000):
        steps.begin(step, False, False)
        steps.table(4, 4)
    assert len(steps.ends) == 1
