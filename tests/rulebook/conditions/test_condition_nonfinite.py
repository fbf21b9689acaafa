from __future__ import annotations

import math

from fake_run import ask, run_with, series

from analyzer.rulebook.conditions.nonfinite import Nonfinite

VALUES = [1.0, math.nan, 1.0, math.inf, -math.inf, math.nan, 1.0]


def test_windows_and_first_value() -> None:
    outcome = ask(Nonfinite, series="g", for_=2).judge(run_with(series("g", VALUES)))
    assert outcome.windows == ((3, 5),)
    assert outcome.evidence[0].text == "4 of 7 values are NaN or infinite, first NaN at step 1"


def test_clear_and_unknown() -> None:
    assert Nonfinite(series="g").judge(run_with(series("g", [1.0, 2.0]))).state == "not"
    assert ask(Nonfinite, series="g", for_=5).judge(run_with(series("g", VALUES))).state == "not"
    assert Nonfinite(series="g").judge(run_with()).state == "unknown"
    late = Nonfinite(series="g", after=9).judge(run_with(series("g", VALUES)))
    assert late.reason == "g: no logged step to judge"
