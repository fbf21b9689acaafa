"""Checks that did not fire, as page one tells them."""

from __future__ import annotations

import pytest
from report_parts import judgement

from analyzer.findings.model import CheckState
from analyzer.report.checks import closest, nearness, reason_groups, reason_lines
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


@pytest.mark.parametrize(
    ("margin", "share"),
    [
        ("behave_tail nearest 44\u202f% at step 41, limit > 90\u202f%", 44 / 90),
        ("entropy_share nearest 78\u202f% at step 146, limit < 40\u202f%", 40 / 78),
        ("w nearest 1.004 at step 1,041, limit off 1 by > 0.01", 0.4),
        ("gap nearest 2.9\u202f% at step 15, limit outside \u221210\u202f% to 10\u202f%", 0.29),
        ("gap nearest \u22125\u202f% at step 15, limit outside \u221210\u202f% to 20\u202f%", 0.5),
        ("seq_len nearest 3,904 at step 2, limit > 4,206", 3904 / 4206),
        ("update_successful nearest 100\u202f% at step 0, limit < 100\u202f%", None),
        ("task_reward_unit: changed by +33\u202f%", None),
        ("no such line", None),
    ],
)
def test_how_near_a_margin_is(margin: str, share: float | None) -> None:
    assert nearness(margin) == (None if share is None else pytest.approx(share))


def test_the_closest_is_first_and_a_rule_without_limit_is_left_out() -> None:
    states = [
        CheckState("far", "", "x", "clear", "", "a nearest 8 at step 1, limit > 100"),
        CheckState("plain", "", "x", "clear", "", "no such line"),
        CheckState("near", "", "x", "clear", "", "a nearest 61.5 at step 1, limit > 100"),
        CheckState("silent", "", "x", "clear", ""),
    ]
    assert [row.rule for row in closest(judgement(states=states))] == ["near", "far"]
