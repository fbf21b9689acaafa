from __future__ import annotations

import pytest
from fake_run import run_with, series
from pydantic import ValidationError

from analyzer.rulebook.conditions.missing import Missing


def test_absent_from_the_whole_run() -> None:
    outcome = Missing(series="w", whole=True).judge(run_with(last_step=50))
    assert (outcome.state, outcome.windows) == ("holds", ((0, 50),))
    assert outcome.evidence[0].text == "w is not logged in this run"
    there = Missing(series="w", whole=True).judge(run_with(series("w", [1, 1]), last_step=50))
    assert (there.state, there.margin) == ("not", "logged at 2 steps")
    empty = Missing(series="w", whole=True).judge(run_with(series("w", []), last_step=50))
    assert empty.state == "holds"


def test_stopped_is_told_from_its_own_cadence() -> None:
    often = series("w", range(40), range(40))
    assert Missing(series="w", stopped=True).judge(run_with(often, last_step=41)).state == "not"
    ended = Missing(series="w", stopped=True).judge(run_with(often, last_step=42))
    assert (ended.state, ended.windows) == ("holds", ((40, 42),))
    seldom = series("w", range(5), range(0, 50, 10))
    assert Missing(series="w", stopped=True).judge(run_with(seldom, last_step=69)).state == "not"
    assert Missing(series="w", stopped=True).judge(run_with(seldom, last_step=70)).state == "holds"


def test_after_a_step() -> None:
    rows = series("w", range(40))
    assert Missing(series="w", after=50).judge(run_with(rows, last_step=99)).state == "holds"
    assert Missing(series="w", after=30).judge(run_with(rows, last_step=99)).state == "not"
    short = Missing(series="w", after=50).judge(run_with(rows, last_step=39))
    assert short.reason == "the run ends at step 39, before step 50"


def test_share_of_the_steps() -> None:
    run = run_with(series("w", range(6), [0, 1, 2, 3, 4, 9]))
    outcome = Missing(series="w", share=0.4).judge(run)
    assert (outcome.state, outcome.windows) == ("holds", ((5, 8),))
    assert outcome.evidence[0].text == "absent at 4 of 10 steps (40\u202f%)"
    assert Missing(series="w", share=0.5).judge(run).state == "not"


def test_a_run_without_a_step() -> None:
    assert Missing(series="w", whole=True).judge(run_with()).reason == "the run has no step"


@pytest.mark.parametrize("asked", [{}, {"whole": True, "share": 0.5}])
def test_exactly_one_question(asked: dict[str, object]) -> None:
    with pytest.raises(ValidationError, match="exactly one of whole, after, stopped, share"):
        Missing.model_validate({"series": "w", **asked})
