from __future__ import annotations

import pytest
from fake_run import FakeRun, event
from pydantic import ValidationError

from analyzer.rulebook.conditions.log import Log
from analyzer.tables.evidence import Event


def run_of(*lines: Event, last_step: int = 100, attempt_ends: tuple[int, ...] = ()) -> FakeRun:
    """A run with a text log."""
    return FakeRun(has_text_log=True, lines=lines, last_step=last_step, attempt_ends=attempt_ends)


def test_a_match_and_where_it_is() -> None:
    run = run_of(
        event("all is well", 3), event("CUDA out of memory. Tried 2 GiB", 40, repeats=3, line=812)
    )
    outcome = Log(pattern="out of memory").judge(run)
    assert (outcome.state, outcome.windows) == ("holds", ((40, 40),))
    (evidence,) = outcome.evidence
    assert evidence.value == 3
    assert evidence.text == "3 lines, first at main.log:812: CUDA out of memory. Tried 2 GiB"
    assert evidence.needed == "at least 1 lines"


def test_repeats_count() -> None:
    run = run_of(event("timeout", 5, repeats=4), event("timeout", 9))
    assert Log(pattern="timeout", at_least=5).judge(run).state == "holds"
    assert Log(pattern="timeout", at_least=6).judge(run).state == "not"
    assert Log(pattern="timeout", at_most=5).judge(run).state == "holds"
    assert Log(pattern="timeout", at_most=4).judge(run).state == "not"


@pytest.mark.parametrize(
    ("level", "count"), [("INFO", 4), ("WARNING", 3), ("ERROR", 2), ("CRITICAL", 1)]
)
def test_at_least_a_level(level: str, count: int) -> None:
    run = run_of(*(event("x", 1, level=name) for name in ("INFO", "WARNING", "ERROR", "CRITICAL")))
    outcome = Log.model_validate({"level": level}).judge(run)
    assert outcome.evidence[0].value == count


def test_last_steps_only() -> None:
    run = run_of(event("x", 90), event("x", 100), event("x"))
    assert Log(pattern="x", last_steps=10).judge(run).evidence[0].value == 1
    assert Log(pattern="x", last_steps=11).judge(run).evidence[0].value == 2


def test_within_the_busiest_steps() -> None:
    run = run_of(*(event("x", step) for step in (1, 20, 24, 29, 60)))
    outcome = Log(pattern="x", within=10, at_least=3).judge(run)
    assert (outcome.state, outcome.windows) == ("holds", ((20, 29),))
    assert Log(pattern="x", within=9, at_least=3).judge(run).state == "not"
    assert Log(pattern="x", within=9, at_least=1).judge(run_of(event("x"))).state == "not"


def test_before_a_restart_only() -> None:
    run = run_of(event("x", 50), event("x", 30), attempt_ends=(52,))
    assert Log(pattern="x", before_restart=5).judge(run).evidence[0].value == 1


def test_a_long_message_is_cut() -> None:
    (evidence,) = Log(pattern="a").judge(run_of(event("a" * 300 + "b" * 300))).evidence
    message = evidence.text.removeprefix("1 line at main.log:7: ")
    assert len(message) < 400
    assert message.startswith("aaa")
    assert "…" in message


def test_without_a_text_log() -> None:
    assert Log(pattern="x").judge(FakeRun()).reason == "no text log in this run"
    assert Log(pattern="x").judge(run_of()).state == "not"


@pytest.mark.parametrize(
    "pattern",
    [r"(a)\1", "(?=x)", "(?!x)", "(?<=x)a", "(?<!x)a", "(?P<n>a)(?P=n)", "a++", "(?>a)", "a{2}+"],
)
def test_patterns_that_re2_does_not_have(pattern: str) -> None:
    with pytest.raises(ValidationError, match="not allowed in a pattern"):
        Log(pattern=pattern)


@pytest.mark.parametrize(
    "pattern",
    [r"\\1", "[?+]+", "(?:ab)+", "(?P<n>a)", "(?i)oom", r"\(\?=", "[]a]+x", "a+?", r"\++"],
)
def test_patterns_that_re2_has(pattern: str) -> None:
    assert Log(pattern=pattern).pattern == pattern


def test_a_broken_pattern_and_two_bounds() -> None:
    with pytest.raises(ValidationError, match="not a regular expression"):
        Log(pattern="x[")
    with pytest.raises(ValidationError, match="not both"):
        Log(pattern="x", at_least=1, at_most=2)
