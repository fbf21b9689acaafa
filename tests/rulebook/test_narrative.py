"""Levels that the sentences of a finding quote."""

from __future__ import annotations

import numpy as np
import pytest

from analyzer.findings.model import Onset
from analyzer.rulebook.narrative import level
from analyzer.tables.evidence import Series

# 60 steps at 0.1, 20 at 0.5, 20 back at 0.1; a twentieth of the run is 5 steps.
STEP = Series(
    "clip_ratio",
    "fraction",
    "ppo_actor/update/clip_ratio/avg",
    np.arange(100),
    np.r_[np.full(60, 0.1), np.full(20, 0.5), np.full(20, 0.1)],
    "logged",
    5,
    (),
)
ONSET = Onset(60, 60, 60)


@pytest.mark.parametrize(
    ("part", "held_until", "value"),
    [("end", 79, 0.1), ("held", 79, 0.5), ("held", 99, 0.1), ("held", None, 0.1)],
)
def test_what_is_over_is_told_as_it_was_while_it_held(
    part: str, held_until: int | None, value: float
) -> None:
    assert level(STEP, part, ONSET, held_until) == value


def test_nothing_held_before_the_first_step() -> None:
    assert level(STEP, "held", ONSET, -1) is None
