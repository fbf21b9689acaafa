"""The timeline's order, folding and cap."""

from __future__ import annotations

from dataclasses import replace

from report_parts import MadeRun, event, manifest, truncation
from report_runs import healthy_run, sick_run

from analyzer.report.clock import Clock
from analyzer.report.facts import Desk
from analyzer.report.timeline import MESSAGE, ROWS, brief, event_rows, timeline
from analyzer.report.words import load_words
from analyzer.tables.evidence import Event
from analyzer.tables.manifest import Manifest


def desk(lines: list[Event], whole: Manifest | None = None) -> Desk:
    whole, made = whole or manifest(), MadeRun({}, {}, lines)
    return Desk(whole, made, Clock(whole, made), load_words("en"))


def test_attempts_onsets_and_events_stand_in_order() -> None:
    rows = timeline(
        [truncation()], desk([event(5, "ERROR", "lost", 200), event(4, "ERROR", "x", 3)])
    )
    assert [(row.label, row.step) for row in rows.rows] == [
        ("attempt 1", "0"),
        ("error", "3"),
        ("onset", "151"),
        ("error", "200"),
        ("attempt 1", "239"),
    ]
    assert rows.rows[1].place == "main.log:4"


def test_a_crash_stands_before_the_restart_and_the_overlap_is_told() -> None:
    _, whole, made = healthy_run()
    rows = timeline([], Desk(whole, made, Clock(whole, made), load_words("en"))).rows
    assert [row.step for row in rows] == ["0", "96", "96", "90", "239"]
    assert "90–96" in rows[2].what


def test_events_that_differ_in_numbers_are_one_row() -> None:
    lines = [event(10 + i, "WARNING", f"task {i} timed out after 300 s", 100 + i) for i in range(5)]
    (row,) = event_rows(desk(lines))
    assert row.step == "100–104" and "(5 times)" in row.what and row.place == "main.log:10"


def test_repeats_that_the_log_reader_folded_are_counted() -> None:
    (row,) = event_rows(desk([replace(event(3, "ERROR", "lost", 1), repeats=40)]))
    assert "(40 times)" in row.what


def test_an_event_without_a_step_follows_the_one_before_it() -> None:
    lines = [event(1, "ERROR", "a", 50), event(2, "ERROR", "b"), event(3, "ERROR", "c", 60)]
    rows = timeline([], desk(lines)).rows
    assert [row.what[-1] for row in rows[1:4]] == ["a", "b", "c"]


def test_too_many_rows_lose_the_lightest_and_say_how_many() -> None:
    words = [chr(97 + i % 26) * (1 + i // 26) for i in range(60)]
    lines = [event(i, "ERROR" if i % 3 == 0 else "WARNING", w, i) for i, w in enumerate(words)]
    rows = timeline([truncation()], desk(lines))
    assert len(rows.rows) == ROWS and rows.more == 63 - ROWS
    assert sum(row.label == "error" for row in rows.rows) == 20
    assert [row.label for row in rows.rows].count("onset") == 1


def test_the_gravest_event_is_first_where_nothing_else_is_known() -> None:
    rows = event_rows(desk([event(1, "WARNING", "w"), event(2, "ERROR", "e")]))
    assert [row.label for row in rows] == ["error", "warning"]


def test_a_traceback_is_told_by_its_ends() -> None:
    text = 'Traceback (most recent call last):\n  File "x.py", line 1\nValueError: bad'
    assert brief(text) == "Traceback (most recent call last): … ValueError: bad"
    assert brief("") == ""
    assert len(brief("x" * 1000)) == MESSAGE


def test_a_finding_that_does_not_count_has_no_onset_here() -> None:
    judged, whole, made = sick_run()
    aside = replace(judged.findings[0], suppressed=object())  # type: ignore[arg-type]
    rows = timeline([aside], Desk(whole, made, Clock(whole, made), load_words("en"))).rows
    assert not [row for row in rows if row.label == "onset"]
