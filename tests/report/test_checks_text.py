"""Checks that did not fire, as page one tells them."""

from __future__ import annotations

from report_parts import judgement

from analyzer.findings.model import CheckState
from analyzer.report.checks import closest, reason_groups, reason_lines
from analyzer.report.words import load_words

WORDS = load_words("en")


def unmade(rule: str, reason: str) -> CheckState:
    return CheckState(rule, rule, "policy", "not-checked", reason)


def test_reasons_that_differ_in_a_name_share_a_line() -> None:
    states = [
        unmade("a", "entropy is not logged in this run"),
        unmade("b", "critic_loss is not logged in this run"),
        unmade("c", "entropy is not logged in this run"),
        unmade("d", "needs at least 20 steps."),
    ]
    assert reason_lines(judgement(states=states), WORDS) == [
        "Not logged in this run: entropy (for a, c), critic_loss (for b).",
        "d: needs at least 20 steps.",
    ]


def test_a_reason_of_its_own_is_told_as_it_is() -> None:
    states = [unmade("a", "entropy is not logged in this run; lr is not logged in this run")]
    (line,) = reason_lines(judgement(states=states), WORDS)
    assert line == "a: entropy is not logged in this run; lr is not logged in this run."


def test_every_rule_has_its_reason_in_the_full_list() -> None:
    states = [unmade(f"rule-{i}", f"reason {i % 3}") for i in range(30)]
    groups = reason_groups(judgement(states=states))
    assert sorted(rule for group in groups for rule in group.rules) == sorted(
        s.rule for s in states
    )


def test_the_closest_is_first_and_a_rule_without_limit_is_left_out() -> None:
    states = [
        CheckState("far", "", "x", "clear", "", "a nearest 8 at step 1, limit > 100", 0.08),
        CheckState("plain", "", "x", "clear", "", "no such line"),
        CheckState("near", "", "x", "clear", "", "a nearest 61.5 at step 1, limit > 100", 0.615),
        CheckState("silent", "", "x", "clear", ""),
    ]
    assert [row.rule for row in closest(judgement(states=states), WORDS)] == ["near", "far"]
