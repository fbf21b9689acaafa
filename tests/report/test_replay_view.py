"""What the report says of a replay."""

from __future__ import annotations

from dataclasses import replace

import pytest
from page_reader import Page
from replay_parts import (
    COLLAPSE,
    CONFIRMED,
    FLOOR,
    GAP,
    RECORD,
    UNRECORDED,
    WEIGHT,
    WHAT_IF,
    WRONG,
    replays,
    verdict,
)
from report_parts import judgement, truncation
from report_runs import sick_run

from analyzer.findings.replayed import ReplayCause, Replays
from analyzer.report import panels, replay_chart
from analyzer.report.html import render_html
from analyzer.report.page import PostmortemView
from analyzer.report.ticket import render_ticket
from analyzer.report.view import build_view
from analyzer.report.words import load_words


@pytest.fixture(autouse=True)
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """These tests read words; drawing is tested elsewhere."""
    monkeypatch.setattr(panels, "chart_svg", lambda chart: "<svg></svg>")
    monkeypatch.setattr(panels, "panel_svgs", lambda chart: ("<svg></svg>",))
    monkeypatch.setattr(replay_chart, "spec_svg", lambda spec: "<svg></svg>")


def view_of(replayed: Replays | None, language: str = "en") -> PostmortemView:
    judged, whole, made = sick_run()
    return build_view(judged, whole, made, tool_version="1", language=language, replays=replayed)


def text_of(replayed: Replays | None, language: str = "en") -> str:
    return Page(render_html(view_of(replayed, language), language)).text


def test_without_a_replay_nothing_is_said_of_one() -> None:
    view = view_of(None)
    assert view.replay is None and all(f.replay is None for f in view.findings)
    assert "replay" not in " ".join(view.first.not_checked.rows).lower()


def test_a_confirmed_finding_says_so() -> None:
    view = view_of(replays(CONFIRMED, COLLAPSE, GAP))
    first, (finding, *_) = view.first, view.findings
    assert first.accent == "error" and first.headline == truncation().headline
    assert first.summary.endswith("Confirmed by recomputing 1 recorded batch.")
    assert finding.replay is not None
    assert finding.replay.lead == "The replay confirms it."
    assert finding.replay.why.startswith("The weight recomputed")
    assert finding.replay.cause is not None and finding.replay.cause.name == "staleness"
    assert [row.share for row in finding.replay.worst] == ["71\u202f%", "8\u202f%", "2\u202f%"]


def test_what_the_log_gets_wrong_does_not_shout() -> None:
    """The corrected number stands among the facts; what to do is about the log."""
    view = view_of(replays(WRONG))
    first, (finding, *_) = view.first, view.findings
    assert first.accent == "log-wrong" and first.kicker.startswith("Error of the log")
    assert first.headline == f"The logged number is wrong: {truncation().headline}"
    assert first.summary.startswith("The log is wrong here. At step 160")
    assert (first.facts[2].label, first.facts[2].value) == ("Corrected", "0\u202f%")
    assert first.facts[2].notes[0] == "logged 3.51\u202f%"
    assert [remedy.do for remedy in first.remedies] == [
        "Judge by the corrected value; the run needs no change for it"
    ]
    assert finding.severity == "log-wrong" and finding.severity_label == "log wrong"
    assert len(finding.remedies) == 3 and finding.remedies_from == 1
    assert finding.remedies_note.startswith("The log is wrong here: these remedies")


def test_a_note_on_the_log_keeps_its_remedies() -> None:
    """Its remedies are about the log already."""
    _, whole, made = sick_run()
    note = replace(truncation(), severity="info")
    judged = judgement(note, verdict="info")
    view = build_view(judged, whole, made, tool_version="1", language="en", replays=replays(WRONG))
    assert view.first.accent == "info" and view.first.also.rows[0].label == "log wrong"
    assert view.findings[0].remedies_note == "" and len(view.findings[0].remedies) == 3


def test_a_finding_that_stands_is_told_before_one_that_does_not() -> None:
    real = replace(
        truncation(), id="stalls", rule="stalls", severity="warning", headline="Rollout stalls"
    )
    _, whole, made = sick_run()
    view = build_view(
        judgement(truncation(), real),
        whole,
        made,
        tool_version="1",
        language="en",
        replays=replays(WRONG),
    )
    assert view.first.headline == "Rollout stalls" and view.first.accent == "warning"
    assert [line.label for line in view.first.also.rows] == ["log wrong"]
    assert view.first.to_know.rows[0].startswith("Length-driven truncation: The log is wrong here.")


def test_what_the_replay_cannot_tell_is_to_be_known() -> None:
    view = view_of(replays(COLLAPSE))
    assert "Reward collapse: The replay cannot tell. The batches hold no rewards." in (
        view.first.to_know.rows
    )
    assert view.findings[1].replay is not None and not view.findings[1].replay.shown


def test_numbers_that_are_wrong_come_first_and_none_is_lost() -> None:
    rows = tuple(replace(WEIGHT, step=step) for step in range(30))
    view = view_of(replays(replace(WRONG, compared=(*rows, FLOOR))))
    replay = view.findings[0].replay
    assert replay is not None and replay.compared.rows[0].mark == "corrected"
    assert len(replay.compared.rows) + replay.compared.more == 31


def test_the_what_if_table_marks_the_remedy() -> None:
    """8704.0 is the remedy's 8704; no number of the gradient's column is lacking."""
    view = view_of(replays(CONFIRMED))
    assert view.findings[0].replay is not None
    (table,) = view.findings[0].replay.what_if
    assert [row.change for row in table.rows] == ["as it ran", "longer limit", ""]
    assert table.rows[1].config == "gconfig: max_new_tokens 8192, max_tokens 8704.0"
    assert table.rows[2].config == "actor.eps_clip: 0.1"
    assert [row.remedy for row in table.rows] == ["", "the remedy: Raise the generation limit", ""]
    assert table.columns[-1] == "gradient, cosine" and table.rows[0].cells[1] == "–"
    assert view.first.remedies[0].note == (
        "On the recorded batch of step 160 the effective sample size would have been 85\u202f% "
        "instead of 12\u202f%."
    )


def test_an_alternative_that_sets_nothing_is_not_as_it_ran() -> None:
    """A length filter is no setting of the trainer."""
    shorter = replace(
        WHAT_IF.rows[1], change="without the 4 sequences that were cut off", config=()
    )
    table = replace(WHAT_IF, rows=(WHAT_IF.rows[0], shorter))
    for language, said in (("en", shorter.change), ("zh", "去掉被截断的 4 条序列")):
        replay = view_of(replays(CONFIRMED, what_if=(table,)), language).findings[0].replay
        assert replay is not None
        assert [row.change for row in replay.what_if[0].rows][1] == said


def test_columns_without_numbers_and_tables_of_others_are_left_out() -> None:
    bare = tuple(replace(row, gradient_cosine=None) for row in WHAT_IF.rows)
    other = replace(WHAT_IF, findings=("reward-collapse",), rows=bare)
    view = view_of(replays(CONFIRMED, COLLAPSE, what_if=(other,)))
    own, collapse = view.findings[0].replay, view.findings[1].replay
    assert own is not None and own.what_if == () and collapse is not None
    assert "gradient, cosine" not in collapse.what_if[0].columns


def test_the_section_says_what_was_replayed_and_what_was_not() -> None:
    section = view_of(replays(CONFIRMED, GAP, notes=("step 30 was too large.",))).replay
    assert section is not None
    assert section.lead.startswith("2 recorded batches were recomputed. By AReaL’s own")
    control, finding = section.steps.rows
    assert (control.role, control.rows, control.stage) == ("control", "16 of 512", "formulas")
    assert finding.outcome == "the log is wrong"
    assert finding.why.startswith("1 of 2 numbers agrees")
    assert [row.logged for row in section.differing.rows] == ["1.5000"]
    assert [(row.title, row.why) for row in section.left] == [
        ("Generalization gap", "evaluations are not recorded.")
    ]
    assert section.notes == ("step 30 was too large.",) and section.record_next == ""


@pytest.mark.parametrize("language", ["en", "zh"])
def test_where_nothing_was_recorded_the_report_says_what_to_record(language: str) -> None:
    view = view_of(UNRECORDED, language)
    words = load_words(language)
    assert view.first.not_checked.rows[0] == words("replay.nothing")
    assert view.replay is not None and view.replay.record_next == RECORD.strip()
    text = text_of(UNRECORDED, language)
    assert "recorder.record(batch, config, step)" in text
    assert text.index("recorder.record") > text.index(words("section.replay"))


def test_a_replay_that_could_not_be_made_says_why() -> None:
    view = view_of(Replays(mode="off", conventions=None, notes=("torch is not installed",)))
    said = "Replay: no logged number was recomputed: torch is not installed."
    assert view.first.not_checked.rows[0] == said
    assert view.replay is not None and view.replay.lead == said and view.replay.notes == ()


def test_texts_of_sequences_are_folded_and_no_markup() -> None:
    page = Page(render_html(view_of(replays(CONFIRMED)), "en"))
    assert "How many <b>apples</b>?" in page.text and "b" not in page.tags
    assert page.html.count('<details class="sequence">') == 2
    assert "11,200 letters left out" in page.text  # 12,000 less 480 and 320


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_cause_and_outcome_has_words(language: str) -> None:
    words = load_words(language)
    for cause in ReplayCause.__args__:  # type: ignore[attr-defined]
        told = view_of(replays(replace(CONFIRMED, cause=cause)), language).findings[0].replay
        assert told is not None and told.cause is not None
        assert told.cause.means == words(f"replay.cause.{cause}.means")
        assert not told.cause.do.endswith((".", "。"))


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_ticket_has_a_line_a_finding(language: str) -> None:
    view = view_of(replays(CONFIRMED, COLLAPSE, GAP), language)
    ticket = render_ticket(view, language)
    words = load_words(language)
    assert words("replay.lead.cannot-tell") in ticket and "The batches hold" in ticket
    assert ticket.count("\n") <= 40 and "evaluations" not in ticket


def test_a_verdict_that_was_not_reached_is_told_in_the_section_alone() -> None:
    view = view_of(replays(verdict("length-driven-truncation", "not-run", "no budget left.")))
    assert view.findings[0].replay is None and view.replay is not None
    assert [row.why for row in view.replay.left] == ["no budget left."]
