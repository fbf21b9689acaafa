"""Causes first, consequences marked, withdrawn findings set aside."""

from __future__ import annotations

from findings_of import finding

from analyzer.findings.ordering import Relations, relate, verdict_of

NONE = Relations()


def test_a_consequence_is_marked_and_stands_after_its_cause() -> None:
    found = relate(
        [finding("reward-collapse", "error", 170), finding("truncation", "error", 150)],
        {"truncation": Relations(suppresses=("reward-collapse",)), "reward-collapse": NONE},
    )
    assert [(f.rule, f.caused_by) for f in found] == [
        ("truncation", ()),
        ("reward-collapse", ("truncation",)),
    ]


def test_what_ended_before_the_cause_began_is_no_consequence() -> None:
    early = finding("reward-collapse", "warning", 20, end=40)
    found = relate(
        [early, finding("truncation", "error", 150)],
        {"truncation": Relations(suppresses=("reward-collapse",)), "reward-collapse": NONE},
    )
    assert all(f.caused_by == () for f in found)


def test_a_withdrawn_finding_does_not_count_and_causes_nothing() -> None:
    found = relate(
        [finding("artefact", "info", 0), finding("drift", "error", 0), finding("clip", "error", 0)],
        {
            "artefact": Relations(withdraws=("drift",)),
            "drift": Relations(suppresses=("clip",)),
            "clip": NONE,
        },
    )
    by_rule = {f.rule: f for f in found}
    assert by_rule["drift"].suppressed is not None
    assert by_rule["drift"].suppressed.by == "artefact"
    assert by_rule["clip"].caused_by == ()
    assert found[-1].rule == "drift"


def test_the_gravest_first_then_the_earliest() -> None:
    found = relate(
        [finding("c", "info", 40), finding("b", "error", 50), finding("a", "error", 10)],
        {"a": NONE, "b": NONE, "c": NONE},
    )
    assert [f.rule for f in found] == ["a", "b", "c"]


def test_what_changed_stands_before_what_was_so_from_the_start_and_what_has_no_step() -> None:
    found = relate(
        [finding("noise", onset=2), finding("killed"), finding("entropy", onset=61)],
        {"noise": NONE, "killed": NONE, "entropy": NONE},
    )
    assert [f.rule for f in found] == ["entropy", "noise", "killed"]


def test_verdicts() -> None:
    withdrawn = relate(
        [finding("artefact", "info", 0), finding("drift", "error", 0)],
        {"artefact": Relations(withdraws=("drift",)), "drift": NONE},
    )
    assert verdict_of(withdrawn, judged=True) == "info"
    assert verdict_of([], judged=True) == "ok"
    assert verdict_of([finding("oom", "error")], judged=False) == "cannot-judge"
    assert verdict_of([finding("a", "warning"), finding("b", "error")], judged=True) == "error"
