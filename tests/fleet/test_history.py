"""Which past runs are like a run: distances worked out by hand, from stores made by hand."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from made_fleet import entries, finding
from runs_of import write_run

import analyzer.findings
from analyzer.cli import run_command
from analyzer.errors import ExitCode, RuleErrors
from analyzer.findings.seen import SeenBefore, SettingPair, Shape
from analyzer.fleet.history import seen_before
from analyzer.fleet.likeness import (
    rules_distance,
    settings_differ,
    settings_distance,
    shape_distance,
    shape_of,
    varying,
)
from analyzer.fleet.notes import note_about, read_notes
from analyzer.fleet.rows import Entry

HEALTHY = next(entry for entry in entries(50) if entry.row.verdict == "ok")
CONFIG = {"actor.optimizer.lr": "1e-05", "train_dataset.batch_size": "8", "seed": "1"}
FIRST, LAST = 0, 399
SCHEMA = json.loads(
    (Path(analyzer.findings.__path__[0]) / "findings.schema.json").read_text("utf-8")
)


def told(name: str, *findings: dict[str, Any], started: str | None) -> dict[str, Any]:
    """A findings document, in what history reads of it."""
    sources = [{"path": "main.log", "sha256": name}]
    steps = {"first": FIRST, "last": LAST, "count": 400}
    return {
        "tool": {"rules_sha256": "now"},
        "run": {"id": name, "sources": sources, "steps": steps, "started": started},
        "findings": list(findings),
    }


def past(
    name: str,
    *findings: dict[str, Any],
    config: dict[str, str],
    started: str | None,
    rules: str = "now",
) -> Entry:
    row = replace(HEALTHY.row, path=f"/runs/{name}", run=name, started=started, rules_sha256=rules)
    document = told(name, *findings, started=started)
    return replace(HEALTHY, row=row, document=document, config=config)


CUT, LONG = finding("truncation", "error", 100), finding("length-growth", "warning", 90)
ME = told("me", CUT, LONG, started="2026-06-01T00:00:00Z")
# Two keys vary: the learning rate and the batch. Seeds and names do not count.
HISTORY = (
    past("a", finding("truncation", "error", 120), finding("length-growth", "warning", 90),
         config={**CONFIG, "train_dataset.batch_size": "16", "seed": "2"},
         started="2026-05-01T00:00:00Z"),
    past("b", CUT, config={**CONFIG, "actor.optimizer.lr": "2e-05"},
         started="2026-05-02T00:00:00Z", rules="other"),
    past("c", LONG, config=CONFIG, started="2026-05-03T00:00:00Z"),
    past("d", CUT, LONG, config={}, started="2026-05-04T00:00:00Z"),
    past("e", finding("truncation", "error", 399), *(
        finding(rule, "error", 5) for rule in ("kl-blowup", "grad-dead", "crashed", "zero-capacity")
    ), config={}, started="2026-05-05T00:00:00Z"),
    past("later", CUT, LONG, config=CONFIG, started="2026-06-02T00:00:00Z"),
    past("me", CUT, LONG, config=CONFIG, started="2026-06-01T00:00:00Z"),
    past("undated", {**CUT, "suppressed": {"by": "x", "reason": "y", "until": None}},
         config=CONFIG, started=None),
)  # fmt: skip


def test_the_nearest_by_hand(tmp_path: Path) -> None:
    seen = seen_before(ME, CONFIG, HISTORY, tmp_path)
    # a, b, c, d, e and the one without a time are past; the run itself and a later one are not.
    assert seen.runs == 6
    found = seen.of("truncation")
    # a: the same rules; onset 20 of 399 steps later, which is a third of that as a shape; one of
    #    two settings: (0 + 20/399/3 + 1/2) / 3.
    # b: one of two rules, the same onset, one of two settings: (1/2 + 0 + 1/2) / 3.
    # d: the same but for an unknown configuration: (0 + 0 + 1) / 3; it is later than b.
    # e: (5/6 + 299/399/3 + 1) / 3 is above one half.
    assert [run.run for run in found] == ["a", "d", "b"]
    distances = [(20 / 399 / 3 + 0.5) / 3, 1 / 3, 1 / 3]
    assert [run.distance for run in found] == pytest.approx(distances, abs=1e-6)
    nearest, unknown, other = found
    assert nearest.both == ("length-growth", "truncation")
    assert (nearest.keys, nearest.differ) == (
        2,
        (SettingPair("train_dataset.batch_size", "8", "16"),),
    )
    assert nearest.shape_here == Shape(round(100 / 399, 6), round(5 / 399, 6), 1.0)
    assert (unknown.keys, unknown.differ) == (None, ())
    assert (other.here, other.same_rules) == (("length-growth",), False)
    # c: one of two rules and the same settings; a: the same rules and one of two settings: 1/6.
    assert [run.run for run in seen.of("length-growth")] == ["c", "a", "d"]


def test_a_history_with_nothing_alike_says_so(tmp_path: Path) -> None:
    seen = seen_before(ME, CONFIG, HISTORY[4:5], tmp_path)
    assert seen == SeenBefore(1, (("truncation", ()), ("length-growth", ())))
    assert seen_before(told("me", started=None), {}, HISTORY, tmp_path).nearest == ()


def test_parts_of_the_distance_by_hand() -> None:
    assert rules_distance(frozenset("ab"), frozenset("bcd")) == 1 - 1 / 4
    assert rules_distance(frozenset(), frozenset()) == 0
    here, there = Shape(0.2, 0.0, 1.0), Shape(0.5, 0.3, 0.4)
    assert shape_distance(here, there) == pytest.approx((0.3 + 0.3 + 0.6) / 3)
    assert (shape_distance(None, None), shape_distance(here, None)) == (0, 1)
    # Held at 10 of the 20 steps from step 380 to 399.
    half = {"onset": {"step": 380, "low": 370, "high": 390}, "windows": [[380, 384], [390, 394]]}
    assert shape_of(half, FIRST, LAST) == Shape(round(380 / 399, 6), round(20 / 399, 6), 0.5)
    assert shape_of({**half, "onset": None}, FIRST, LAST) is None
    configs = [
        {"a": "1", "b": "1", "x.fileroot": "p"},
        {"a": "1", "x.fileroot": "q", "stats_logger.wandb.mode": "m"},
    ]
    assert varying(configs) == ("b",)
    assert settings_differ(configs[0], configs[1], ("b",)) == (SettingPair("b", "1", None),)
    assert settings_differ(configs[0], {}, ("b",)) is None
    assert (settings_distance(None, ("b",)), settings_distance((), ())) == (1, 0)


NOTES = """\
notes:
  - done: halved the learning rate
    outcome: reward rose again
    by: Ada
    link: https://example.org/42
    rules: [kl-blowup]
  - done: raised max_new_tokens
"""


def test_notes_of_a_past_run(tmp_path: Path) -> None:
    (tmp_path / "notes.yaml").write_text(NOTES, "utf-8")
    notes = read_notes(tmp_path)
    assert notes == read_notes(tmp_path / "main.log")
    named, general = note_about(notes, "kl-blowup"), note_about(notes, "truncation")
    assert named is not None
    assert (named.done, named.by) == ("halved the learning rate", "Ada")
    assert general is not None
    assert general.done == "raised max_new_tokens"
    assert note_about(notes[:1], "truncation") is None
    assert read_notes(tmp_path / "gone" / "run") == ()
    (tmp_path / "notes.yaml").write_text("notes:\n  - dome: nothing\n", "utf-8")
    with pytest.raises(RuleErrors, match=r"notes.yaml:2:5: .*dome"):
        read_notes(tmp_path)


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two past runs, one of them sick and with a note, and a sick run of today."""
    folder = tmp_path_factory.mktemp("history")
    for number in (1, 2):
        write_run(folder / "past" / f"trial-{number}", number, sick=number == 1)
    write_run(folder / "now" / "trial-9", 9, sick=True)
    words = ["batch", str(folder / "past"), "--store", str(folder / "store"), "--jobs", "1"]
    assert run_command([*words, "--site", str(folder / "site"), "--quiet"]) == ExitCode.FINDINGS
    return folder


def ran(folder: Path, capsys: pytest.CaptureFixture[str], *words: str) -> str:
    run_command([words[0], str(folder / "now/trial-9"), "--history", str(folder / "store"),
                 "--store", str(folder / "own"), "--quiet", *words[1:]])  # fmt: skip
    return capsys.readouterr().out


def test_check_and_report_tell_it(judged: Path, capsys: pytest.CaptureFixture[str]) -> None:
    notes = judged / "past" / "trial-1" / "notes.yaml"
    text = "notes:\n  - done: switched off fp16\n    link: https://example.org/7\n"
    notes.write_text(text, "utf-8")
    found = json.loads(ran(judged, capsys, "check", "--format", "json"))
    jsonschema.validate(found, SCHEMA)
    assert found["seen_before"]["runs"] == 2
    (run,) = found["seen_before"]["findings"]["grad-nonfinite"]
    assert (run["path"], run["started"][:10]) == (str(judged / "past/trial-1"), "2026-05-01")
    assert run["note_error"] is None
    assert run["note"]["done"] == "switched off fp16"
    assert run["rules"]["both"] == ["grad-nonfinite"]
    assert run["settings"] is None
    # The same rules and onset, and no configuration: a third.
    assert run["distance"] == pytest.approx(1 / 3, abs=1e-6)
    text = ran(judged, capsys, "check")
    assert f"seen before: trial-1 ({judged}/past/trial-1, 2026-05-01, distance 0.33)" in text
    assert "switched off fp16" in text

    out = judged / "report"
    ran(judged, capsys, "report", "--out", str(out), "--formats", "html,json")
    page = (out / "postmortem.html").read_text("utf-8")
    part = page.partition('id="seen"')[2].partition("</section>")[0]
    assert "Seen before" in part
    assert Path(run["report"]).as_uri() in part
    assert "onset in the run: grad-nonfinite 58\u202f% (then 58\u202f%)" in part
    assert "settings not known of both" in part
    assert "switched off fp16" in part
    assert '<a href="https://example.org/7">' in part
    written = json.loads((out / "postmortem.json").read_text("utf-8"))
    assert written["seen_before"] == found["seen_before"]

    # A file at fault is told where the note would stand.
    notes.write_text("notes: [{do: x}]", "utf-8")
    (run,) = json.loads(ran(judged, capsys, "check", "--format", "json"))["seen_before"][
        "findings"
    ]["grad-nonfinite"]
    assert run["note"] is None
    assert "notes.yaml:1:9: key 'done' is missing" in run["note_error"]


def test_a_store_without_a_run_is_an_error(
    judged: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["check", str(judged / "now/trial-9"), "--history", str(judged / "nothing")]
    assert run_command([*words, "--store", str(judged / "own")]) == ExitCode.CANNOT_JUDGE
    assert "no run in this store" in capsys.readouterr().err


def test_without_a_history_nothing_is_said(
    judged: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["check", str(judged / "now/trial-9"), "--store", str(judged / "own")]
    run_command([*words, "--format", "json"])
    assert json.loads(capsys.readouterr().out)["seen_before"] is None
    run_command(words)
    assert "seen before" not in capsys.readouterr().out
