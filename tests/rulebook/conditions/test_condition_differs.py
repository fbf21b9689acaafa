from __future__ import annotations

import numpy as np
import pytest
from fake_run import FakeRun, run_with, series

from analyzer.rulebook.conditions.differs import Differs


def beside(mine: np.ndarray, theirs: np.ndarray) -> FakeRun:
    run = run_with(series("r", mine))
    run.others = {"sync": run_with(series("r", theirs))}
    return run


def noise(seed: int, level: float = 0.0, n: int = 100) -> np.ndarray:
    return level + np.random.default_rng(seed).standard_normal(n)


def test_a_level_above() -> None:
    outcome = Differs(series="r", against="sync", direction="up").judge(
        beside(noise(1, 3.0), noise(2))
    )
    assert outcome.state == "holds"
    assert outcome.p_value is not None
    assert outcome.p_value < 1e-6
    (evidence,) = outcome.evidence
    assert evidence.value == pytest.approx(3.0, abs=0.5)


def test_the_other_direction_is_excluded() -> None:
    run = beside(noise(1, 3.0), noise(2))
    assert Differs(series="r", against="sync", direction="down").judge(run).state == "not"


def test_the_same_within_what_counts() -> None:
    run = beside(noise(1, n=400), noise(2, n=400))
    assert Differs(series="r", against="sync", min_effect=1.0).judge(run).state == "not"


def test_not_separable() -> None:
    run = beside(noise(1, 0.3, 40), noise(2, 0.0, 40))
    outcome = Differs(series="r", against="sync", min_effect=0.2).judge(run)
    assert outcome.state == "unknown"
    assert outcome.reason.startswith("not separable from the sync run: r ")


def test_only_steps_that_both_logged_count() -> None:
    run = run_with(series("r", noise(1, 3.0)))
    run.others = {"sync": run_with(series("r", noise(2, n=50), steps=np.arange(200, 250)))}
    outcome = Differs(series="r", against="sync").judge(run)
    assert outcome.reason == "r: fewer than 10 steps that both runs logged"


def test_a_role_that_was_not_given() -> None:
    outcome = Differs(series="r", against="baseline").judge(run_with(series("r", noise(1))))
    assert outcome.reason == "no run was given in the role of baseline"
