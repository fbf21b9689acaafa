from __future__ import annotations

import math

from fake_run import ask, run_with, series

from analyzer.findings.model import Onset
from analyzer.rulebook.conditions.constant import Constant


def test_long_enough_at_one_value() -> None:
    outcome = ask(Constant, series="x", for_=4).judge(run_with(series("x", [1, 2, 2, 2, 2, 3, 3])))
    assert outcome.windows == ((1, 4),)
    assert outcome.onset == Onset(1, 1, 1)
    assert outcome.evidence[0].value == 2
    clear = ask(Constant, series="x", for_=5).judge(run_with(series("x", [1, 2, 2, 2, 2, 3, 3])))
    assert (clear.state, clear.margin) == ("not", "x: longest 2 for 4 steps in a row")


def test_at_a_value() -> None:
    run = run_with(series("x", [0, 0, 0, 5, 5, 5]))
    assert ask(Constant, series="x", for_=3, at=5).judge(run).windows == ((3, 5),)
    assert ask(Constant, series="x", for_=3, at=4).judge(run).state == "not"


def test_at_an_extreme() -> None:
    longest = series("x", [7, 9, 9, 9, 3, 3])
    assert ask(Constant, series="x", for_=2, at="max").judge(run_with(longest)).windows == ((1, 3),)
    assert ask(Constant, series="x", for_=2, at="min").judge(run_with(longest)).windows == ((4, 5),)


def test_at_the_extreme_of_another_series() -> None:
    condition = ask(Constant, series="x", for_=2, at="max", of="cap")
    assert condition.series_names() == ("x", "cap")
    average = series("x", [2, 4, 4])
    assert condition.judge(run_with(average, series("cap", [3, 4, math.nan]))).state == "holds"
    assert condition.judge(run_with(average, series("cap", [5, 5, 5]))).state == "not"
    assert condition.judge(run_with(average)).reason == "cap is not logged in this run"
    assert condition.judge(run_with(average, series("cap", [math.nan]))).state == "unknown"


def test_nan_is_never_the_same() -> None:
    assert (
        ask(Constant, series="x", for_=2).judge(run_with(series("x", [math.nan] * 5))).state
        == "not"
    )


def test_too_few_points() -> None:
    outcome = ask(Constant, series="x", for_=10).judge(run_with(series("x", [1, 1, 1])))
    assert outcome.reason == "x: only 3 logged steps, 10 needed"
