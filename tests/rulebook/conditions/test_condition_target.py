from __future__ import annotations

from fake_run import ask, run_with, series

from analyzer.rulebook.conditions.target import Target


def test_away_on_either_side() -> None:
    run = run_with(series("w", [1.0, 1.06, 1.04, 0.94, 0.9]))
    outcome = Target(series="w", value=1, tolerance=0.05).judge(run)
    assert outcome.windows == ((1, 1), (3, 4))
    assert outcome.evidence[0].limit == 1
    assert outcome.evidence[0].needed == "off 1 by > 0.05"


def test_long_enough() -> None:
    run = run_with(series("w", [1.0, 1.2, 1.2, 1.0, 1.2, 1.2, 1.2]))
    assert ask(Target, series="w", value=1, tolerance=0.05, for_=3).judge(run).windows == ((4, 6),)


def test_digits_of_the_log() -> None:
    # 1.0000 has been rounded from anything within 0.00005 of it.
    run = run_with(series("w", [1.0] * 9, digits=5))
    fine = Target(series="w", value=1, tolerance=0.00004).judge(run)
    assert fine.state == "unknown"
    assert "5 digits" in fine.reason
    assert Target(series="w", value=1, tolerance=0.00006).judge(run).state == "not"


def test_absent() -> None:
    assert Target(series="w", value=1, tolerance=0.1).judge(run_with()).state == "unknown"
