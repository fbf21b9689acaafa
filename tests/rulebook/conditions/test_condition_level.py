from __future__ import annotations

import math

import numpy as np
import pytest
from fake_run import ask, run_with, series
from pydantic import ValidationError

from analyzer.findings.model import Onset
from analyzer.rulebook.conditions.level import Level


def test_first_window_that_lasts_long_enough() -> None:
    values = [0, 0, 9, 9, 0, 0, 9, 9, 9, 9, 0, 9, 9, 9]
    outcome = ask(Level, series="x", above=5, for_=3).judge(run_with(series("x", values)))
    assert outcome.state == "holds"
    assert outcome.windows == ((6, 9), (11, 13))
    assert outcome.onset is not None
    assert outcome.onset.step == 6
    (evidence,) = outcome.evidence
    assert (evidence.condition, evidence.metric, evidence.logged_as) == ("level", "x", "log/x")
    assert (evidence.limit, evidence.window, evidence.needed) == (5, (6, 13), "> 5 for 3 steps")


def test_gaps_are_bridged_where_allowed() -> None:
    values = [0, 9, 9, 0, 9, 9, 0, 0, 9]
    run = run_with(series("x", values))
    assert ask(Level, series="x", above=5, for_=4).judge(run).state == "not"
    assert ask(Level, series="x", above=5, for_=4, allow_gaps=1).judge(run).windows == ((1, 5),)


def test_missing_steps_do_not_break_a_window() -> None:
    run = run_with(series("x", [9, 9, 9], steps=[10, 20, 30]))
    assert ask(Level, series="x", above=5, for_=3).judge(run).windows == ((10, 30),)


@pytest.mark.parametrize(
    ("limit", "windows"),
    [
        ({"above": 2}, ((3, 4),)),
        ({"below": 1}, ((0, 0),)),
        ({"outside": (1, 2)}, ((0, 0), (3, 4))),
    ],
)
def test_ways_to_be_beyond(limit: dict[str, object], windows: tuple[tuple[int, int], ...]) -> None:
    run = run_with(series("x", [0, 1, 2, 3, 4]))
    assert Level.model_validate({"series": "x", **limit}).judge(run).windows == windows


def test_nan_is_not_beyond_and_infinity_is() -> None:
    run = run_with(series("x", [math.nan, 9, math.nan, math.inf]))
    assert Level(series="x", above=5).judge(run).windows == ((1, 1), (3, 3))


def test_nan_does_not_spread_through_the_running_median() -> None:
    values = np.full(20, 9.0)
    values[10] = math.nan
    outcome = ask(Level, series="x", above=5, smooth=5, for_=19, allow_gaps=1).judge(
        run_with(series("x", values))
    )
    assert outcome.windows == ((0, 19),)


def test_smoothing_takes_a_spike_out() -> None:
    values = [0.0] * 10 + [50.0] + [0.0] * 10
    run = run_with(series("x", values))
    assert Level(series="x", above=5).judge(run).state == "holds"
    assert Level(series="x", above=5, smooth=3).judge(run).state == "not"


def test_margin_of_a_clear_one() -> None:
    values = np.array([0.004, 0.012, 0.008])
    outcome = Level(series="x", above=0.05).judge(run_with(series("x", values, unit="fraction")))
    assert outcome.state == "not"
    assert outcome.margin == "x nearest 1.2\u202f% at step 1, limit > 5\u202f%"


def test_share_of_the_judged_steps() -> None:
    values = [0, 9, 0, 9, 9, 0, 9, 9, 0, 9]
    run = run_with(series("x", values))
    assert Level(series="x", above=5, share=0.6).judge(run).windows == ((1, 9),)
    clear = Level(series="x", above=5, share=0.7).judge(run)
    assert clear.state == "not"
    assert clear.margin == "x beyond it at 60\u202f% of 10 steps"


def test_only_a_part_of_the_run() -> None:
    run = run_with(series("x", [9.0] * 100), resumes=(60,))
    windows = {
        "after": Level(series="x", above=5, after=10).judge(run).windows,
        "first": Level(series="x", above=5, first=30).judge(run).windows,
        "last": Level(series="x", above=5, last=0.25).judge(run).windows,
        "around": Level(series="x", above=5, around="resume").judge(run).windows,
    }
    assert windows == {
        "after": ((10, 99),),
        "first": ((0, 29),),
        "last": ((75, 99),),
        "around": ((40, 80),),
    }


def test_too_little_to_judge() -> None:
    absent = Level(series="x", above=5).judge(run_with())
    assert (absent.state, absent.reason) == ("unknown", "x is not logged in this run")
    short = ask(Level, series="x", above=5, for_=5).judge(run_with(series("x", [9, 9, 9])))
    assert short.reason == "x: only 3 logged steps, 5 needed"
    empty = Level(series="x", above=5).judge(run_with(series("x", [math.nan] * 3)))
    assert empty.reason == "x: no finite value in the judged steps"


def test_onset_has_an_interval_where_there_is_noise() -> None:
    noise = np.random.default_rng(1).standard_normal(200)
    drift = np.clip((np.arange(200) - 60) / 10, 0, None)
    outcome = ask(Level, series="x", above=5, for_=5).judge(run_with(series("x", noise + drift)))
    assert outcome.onset is not None
    # Without noise it would be beyond from step 111 on.
    assert 100 <= outcome.onset.low <= outcome.onset.step <= outcome.onset.high <= 125
    assert outcome.onset.low <= 111 <= outcome.onset.high
    assert outcome.confidence > 0.99


def test_onset_without_noise_is_one_step() -> None:
    outcome = Level(series="x", above=5).judge(run_with(series("x", [1.0] * 30 + [9.0] * 30)))
    assert outcome.onset == Onset(30, 30, 30)


def test_confidence_of_a_clear_one_grows_with_the_distance() -> None:
    noise = np.random.default_rng(2).standard_normal(100)
    near = ask(Level, series="x", above=4, for_=3).judge(run_with(series("x", noise)))
    far = ask(Level, series="x", above=9, for_=3).judge(run_with(series("x", noise)))
    assert 0.5 <= near.confidence < far.confidence <= 1.0


@pytest.mark.parametrize("limits", [{}, {"above": 1, "below": 0}])
def test_exactly_one_limit(limits: dict[str, float]) -> None:
    with pytest.raises(ValidationError, match="exactly one of above, below, outside"):
        Level.model_validate({"series": "x", **limits})
