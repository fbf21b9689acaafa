"""What the page says of each kind of run."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import pytest
from procedure_parts import decided, procedure
from report_parts import MadeRun, comparison, judgement, truncation
from report_runs import crowded_run, healthy_run, sick_run, unjudged_run, withdrawn_run

from analyzer.compare.model import KeyDifference
from analyzer.report import panels
from analyzer.report.capped import cap
from analyzer.report.page import PostmortemView
from analyzer.report.view import build_view
from analyzer.tables.manifest import Manifest


@pytest.fixture(autouse=True)
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """These tests read words; drawing is tested elsewhere."""
    monkeypatch.setattr(panels, "chart_svg", lambda chart: "<svg></svg>")


def view_of(run: tuple[object, Manifest, MadeRun], **options: object) -> PostmortemView:
    judged, whole, made = run
    return build_view(judged, whole, made, tool_version="1.0.0", language="en", **options)  # type: ignore[arg-type]


def test_the_sick_run() -> None:
    view = view_of(sick_run())
    first = view.first
    assert first.accent == "error" and first.kicker == "Error · Length-driven truncation"
    assert first.headline.startswith("Responses grew") and first.alone
    assert [r.do for r in first.remedies] == [
        "Raise the generation limit",
        "Reject overlong trajectories while collecting (should_accept_fn)",
        "Go back to the checkpoint of step 150",
    ]
    assert first.also.rows == () and first.chart is not None
    primary, *others = view.findings
    assert [f.number for f in view.findings] == [1, 2, 3]
    assert primary.told_first and primary.chart is None and "page one" in primary.chart_elsewhere
    assert [row.title for row in primary.consequences] == ["Reward collapse", "Generalization gap"]
    assert [row.onset for row in primary.consequences] == ["171", "175"]
    assert all(other.causes[0].anchor == primary.anchor for other in others)
    assert primary.remedies == () and primary.already[0].do == "Penalise overlong responses"


def test_all_remedies_set_already_is_said() -> None:
    finding = truncation()
    done = tuple(replace(r, status="already") for r in finding.remedies)
    _, whole, made = sick_run()
    view = view_of((judgement(replace(finding, remedies=done)), whole, made))
    assert view.first.remedies == () and "All 4 remedies" in view.first.remedies_note
    assert len(view.findings[0].already) == 4


def test_the_healthy_run() -> None:
    first = view_of(healthy_run()).first
    assert first.accent == "ok" and first.headline == "Nothing wrong in what could be checked"
    assert "5 checks were clear over steps 0–239" in first.summary
    assert "3 checks could not be made" in first.summary
    near = [row.rule for row in first.closest.rows]
    assert near == ["behave-weight-drift", "entropy-collapse", "importance-weight-drift"]
    assert any("90–96" in text for text in first.data)


def test_a_run_that_cannot_be_judged_shows_its_events() -> None:
    view = view_of(unjudged_run())
    first = view.first
    assert first.kicker == "Cannot judge"
    assert first.headline == "The trainer ran out of GPU memory before its first step"
    assert "no metric was found" in first.summary
    assert [row.label for row in first.events.rows] == ["error", "warning"]
    assert "OutOfMemoryError" in first.events.rows[0].what


def test_a_run_without_findings_or_files_says_why() -> None:
    _, whole, made = unjudged_run()
    bare = replace(whole, sources=())
    view = view_of((judgement(verdict="cannot-judge"), bare, made))
    assert view.first.headline == "This run could not be judged"
    assert "No file of it could be read" in view.first.summary


def test_a_withdrawn_finding_is_set_aside_with_its_reason() -> None:
    view = view_of(withdrawn_run())
    assert [f.rule for f in view.findings] == ["importance-weight-artefact"]
    (row,) = view.set_aside
    assert (row.rule, row.by) == ("importance-weight-drift", "importance-weight-artefact")
    assert "rejected fraction is 1" in row.reason
    assert view.first.accent == "info" and view.first.also.rows[0].label == "Note"


def test_the_crowded_run() -> None:
    view = view_of(crowded_run())
    assert len(view.first.also.rows) == 3 and view.first.also.more == 5
    assert [f.rule for f in view.configuration] == ["legacy-behave-cap"]
    assert len(view.findings) == 11 and view.configuration[0].number == 12
    assert [f.rule for f in view.findings[:4]] == [
        "length-driven-truncation",
        "rule-number-0",
        "rule-number-3",
        "rule-number-6",
    ]
    assert view.procedures == ()
    assert [row.rule for row in view.broken] == ["grad-spikes"]
    assert len(view.appendix.sources.rows) == 40 and view.appendix.sources.more == 15


def test_one_picture_is_drawn_once() -> None:
    twin = replace(truncation(), id="twin", rule="twin")
    _, whole, made = sick_run()
    view = view_of((judgement(twin, truncation()), whole, made))
    assert [f.chart is None for f in view.findings] == [True, True]
    other = replace(twin, onset=None)
    view = view_of((judgement(truncation(), other, replace(other, id="again")), whole, made))
    assert [f.chart is None for f in view.findings] == [True, False, True]
    assert view.findings[2].chart_elsewhere == "The chart stands with finding 2."


def test_the_evidence_hash_can_be_computed_by_hand() -> None:
    _, whole, _ = sick_run()
    lines = "".join(f"{s.sha256}  {s.path}\n" for s in sorted(whole.sources, key=lambda s: s.path))
    wanted = hashlib.sha256(lines.encode()).hexdigest()
    view = view_of(sick_run())
    assert dict(view.appendix.versions)["evidence, sha256"] == wanted
    assert wanted[:4] in view.footer and "rules 3f9a12c0" in view.footer


def test_comparisons_are_capped() -> None:
    rows = tuple(KeyDifference(f"k{i}", "1", "2", other_default=True) for i in range(50))
    view = view_of(sick_run(), comparisons=(comparison("sync", "other", rows),))
    (shown,) = view.comparisons
    assert shown.role == "Synchronous run" and shown.config.more == 20
    assert shown.config.rows[0].there == "2 (default)"
    assert "what another seed would have given is not known" in shown.seeds


def test_procedures_stand_in_their_order() -> None:
    first, second = procedure(), replace(decided(), id="other")
    view = view_of(sick_run(), procedures=(first, second))
    assert [p.anchor for p in view.procedures] == ["procedure-why", "procedure-other"]


def test_the_same_run_gives_the_same_view() -> None:
    assert view_of(crowded_run()) == view_of(crowded_run())


def test_a_table_is_not_cut_for_a_single_row() -> None:
    assert cap([1, 2, 3], 2).rows == (1, 2, 3)
    assert (cap([1, 2, 3, 4], 2).rows, cap([1, 2, 3, 4], 2).more) == ((1, 2), 2)
