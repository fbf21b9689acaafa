"""Which finding is told first, and what follows it."""

from __future__ import annotations

from dataclasses import replace

from report_parts import consequence, judgement, truncation

from analyzer.report.order import by_cause, independent


def test_the_gravest_root_is_first() -> None:
    warning = replace(consequence("w", "w", 10, "task_reward"), caused_by=())
    judged = judgement(warning, truncation(), consequence("c", "c", 160, "task_reward"))
    assert [f.id for f in independent(judged)] == ["length-driven-truncation", "w"]


def test_a_consequence_of_what_does_not_count_stands_alone() -> None:
    aside = replace(truncation(), suppressed=object())  # type: ignore[arg-type]
    judged = judgement(aside, consequence("c", "c", 160, "task_reward"))
    assert [f.id for f in independent(judged)] == ["c"]


def test_two_that_cause_each_other_do_not_hide_each_other() -> None:
    a = replace(truncation(), id="a", caused_by=("b",))
    b = replace(truncation(), id="b", caused_by=("a",))
    assert len(independent(judgement(a, b))) == 2
    assert [f.id for f in by_cause([a, b])] == ["a", "b"]


def test_consequences_follow_their_cause() -> None:
    first, second = (replace(truncation(), id=i, caused_by=()) for i in ("first", "second"))
    of_second = replace(truncation(), id="of-second", caused_by=("second",))
    of_first = replace(truncation(), id="of-first", caused_by=("first", "second"))
    deeper = replace(truncation(), id="deeper", caused_by=("of-first",))
    ordered = by_cause([first, second, of_second, of_first, deeper])
    assert [f.id for f in ordered] == ["first", "of-first", "deeper", "second", "of-second"]
