"""AReaL's text log in every dress: the rows, notes and facts that it must give."""

from __future__ import annotations

import gzip
import lzma
import math
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
import zstandard
from areal_log import CLOCK, OUTER, ArealLog, Style, five, numbered, table_lines
from hypothesis import given, settings
from hypothesis import strategies as st
from reading import Got, read, read_in_pieces

from analyzer.errors import RunError
from analyzer.sources.areal_text import ArealText
from analyzer.sources.opening import LogFile

READER = ArealText()
PLAIN = Style(colours=False)

STYLES = {
    "today": Style(),
    "no header": Style(header=False),
    "no colours": PLAIN,
    "bare": Style(header=False, colours=False),
    "merged": Style(worker="[main]    "),
    "container": Style(header=False, outer=f"{OUTER} "),
    "container, merged, plain": Style(colours=False, worker="[main]    ", outer=f"{OUTER} "),
    "kubernetes": Style(outer=f"{OUTER} stdout F "),
    "windows": Style(newline="\r\n"),
    "windows, container, bare": Style(
        header=False, colours=False, outer=f"{OUTER} ", newline="\r\n"
    ),
    "ascii bars": Style(bar="|"),
}

FIRST = five(ppo_actor__n_seqs=512, ppo_actor__update__lr=1e-6, rollout__reward=0.375)
SECOND = five(ppo_actor__n_seqs=511, ppo_actor__update__lr=2e-6, rollout__reward=-0.5)


def got(tmp_path: Path, log: ArealLog | bytes, name: str = "main.log") -> Got:
    path = tmp_path / name
    path.write_bytes(log if isinstance(log, bytes) else log.text())
    return read(READER, path)


@pytest.mark.parametrize("style", STYLES.values(), ids=STYLES.keys())
def test_every_dress_gives_the_same_rows(tmp_path: Path, style: Style) -> None:
    log = ArealLog(style).record("Submit->Complete->Accepted: task 7", "WorkflowExecutor")
    log.step(0, FIRST).record("task 8 reward 0.0", "WorkflowExecutor").step(1, SECOND)
    result = got(tmp_path, log)
    assert result.rows == [
        (0, 0, None, "ppo_actor/n_seqs", 512.0),
        (0, 0, None, "ppo_actor/update/lr", 1e-06),
        (0, 0, None, "rollout/reward", 0.375),
        (0, 1, None, "ppo_actor/n_seqs", 511.0),
        (0, 1, None, "ppo_actor/update/lr", 2e-06),
        (0, 1, None, "rollout/reward", -0.5),
    ]
    assert result.events == []
    assert result.notes == []
    assert (result.facts.framework, result.facts.total_steps) == ("areal", 100)
    assert (result.facts.steps_per_epoch, result.facts.finished) == (10, False)
    assert READER.sniff(tmp_path / "main.log", log.text()[:65536])


def test_a_containers_time_is_utc_and_the_inner_clock_is_not_known_to_be(tmp_path: Path) -> None:
    inner = got(tmp_path, ArealLog().step(0, FIRST))
    outer = got(tmp_path, ArealLog(Style(outer=f"{OUTER} ")).step(0, FIRST))
    assert {row[5] for row in inner.metrics} == {datetime(2026, 11, 29, 14, 58, 7, 185000, UTC)}
    assert {row[5] for row in outer.metrics} == {datetime(2026, 11, 29, 6, 58, 7, 185123, UTC)}
    assert not inner.facts.has_utc
    assert outer.facts.has_utc


def test_an_outer_time_with_an_offset_is_turned_into_utc(tmp_path: Path) -> None:
    style = Style(outer="2026-11-29T14:58:07+08:00 ")
    result = got(tmp_path, ArealLog(style).step(0, FIRST))
    assert result.metrics[0][5] == datetime(2026, 11, 29, 6, 58, 7, tzinfo=UTC)


@pytest.mark.parametrize("pairs", [1, 2, 3, 4, 6])
def test_any_number_of_pairs_in_a_row_and_rows_with_fewer(tmp_path: Path, pairs: int) -> None:
    names = [f"m/{index}" for index in range(7)]
    log = ArealLog().announce(4).record("Stats (1/1):")
    log.record("\n" + "\n".join(table_lines(numbered(names, 10), pairs, widths=(40, 15))))
    result = got(tmp_path, log)
    assert sorted(result.rows) == [(0, 4, None, f"m/{i}", 10.0 + i) for i in range(7)]
    assert result.notes == []


def test_nan_and_infinity_are_values(tmp_path: Path) -> None:
    values = {"a": "nan", "b": "inf", "c": "-inf", "d": "-0.0000e+00"}
    rows = got(tmp_path, ArealLog().step(0, values)).rows
    assert [row[3] for row in rows] == ["a", "b", "c", "d"]
    assert math.isnan(rows[0][4])
    assert [row[4] for row in rows[1:]] == [math.inf, -math.inf, 0.0]
    assert math.copysign(1, rows[3][4]) == -1


def test_what_is_no_number_is_noted_and_the_rest_of_the_row_kept(tmp_path: Path) -> None:
    result = got(tmp_path, ArealLog().step(0, {"a": "1.0", "b": "None", "c": "2.0"}))
    assert [row[3:] for row in result.rows] == [("a", 1.0), ("c", 2.0)]
    assert [(n.kind, n.detail, n.first_step) for n in result.notes] == [
        ("unreadable-value", "not a number: b = None", 0)
    ]


def test_several_tables_of_a_step_shift_the_trackers_count(tmp_path: Path) -> None:
    log = ArealLog().step(0, five(a=0), five(a=1)).step(1, five(a=2), five(a=3)).step(2, five(a=4))
    assert got(tmp_path, log).rows == [
        (0, 0, None, "a", 0.0),  # max(0, -1 + 1) = 0, as the step
        (0, 0, 1, "a", 1.0),
        (0, 1, 2, "a", 2.0),  # max(1, 1 + 1)
        (0, 1, 3, "a", 3.0),
        (0, 2, 4, "a", 4.0),  # max(2, 3 + 1)
    ]


def test_a_restart_takes_the_trackers_count_back_to_its_checkpoint(tmp_path: Path) -> None:
    log = ArealLog()
    for step in (0, 1, 2, 3):
        log.step(step, five(a=step), five(a=step))  # ends: 1, 3, 5, 7
    log.step(2, five(a=9)).step(3, five(a=9))
    rows = got(tmp_path, log).rows
    assert [row[:3] for row in rows[-2:]] == [(1, 2, 4), (1, 3, 5)]


def test_versions_before_one_counted_from_one(tmp_path: Path) -> None:
    log = ArealLog().plain("Requirement already satisfied: datasets (from areal==0.3.4) (4.1.1)")
    result = got(tmp_path, log.step(0, five(a=0)).step(1, five(a=1)))
    assert result.facts.framework_version == "0.3.4"
    assert [row[1:3] for row in result.rows] == [(0, 1), (1, 2)]


def test_a_log_that_begins_late_has_the_trackers_count_of_its_step(tmp_path: Path) -> None:
    rows = got(tmp_path, ArealLog().step(500, five(a=0), total=1000)).rows
    assert rows == [(0, 500, None, "a", 0.0)]


def test_a_step_that_does_not_go_forward_begins_an_attempt(tmp_path: Path) -> None:
    log = ArealLog()
    for step in (0, 1, 2, 1, 2, 3, 3, 0):
        log.step(step, five(a=step))
    assert [row[:2] for row in got(tmp_path, log).rows] == [
        (0, 0),
        (0, 1),
        (0, 2),
        (1, 1),
        (1, 2),
        (1, 3),
        (2, 3),
        (3, 0),
    ]


def test_lines_of_others_inside_a_table_do_not_harm_it(tmp_path: Path) -> None:
    names = [f"m/{index}" for index in range(8)]
    log = ArealLog(PLAIN).step(0, numbered(names, 1))
    whole = got(tmp_path, log).rows
    for place in (4, 6, 8):
        log.lines.insert(place, f"[rollout] (AReaL) {CLOCK} [FSDPEngine Rank 0] WARNING: slow 3")
        log.lines.insert(place, "Loading shards:  50%|█████     | 1/2 [00:01<00:01]")
    result = got(tmp_path, log)
    assert result.rows == whole
    assert result.notes == []
    assert [(e["logger"], e["repeats"], e["line"], e["step"]) for e in result.events] == [
        ("[FSDPEngine Rank 0]", 3, 6, 0)
    ]


def test_a_row_that_another_line_breaks_into_loses_only_the_broken_value(tmp_path: Path) -> None:
    log = ArealLog(PLAIN).step(0, {"aa": "1.0", "bb": "2.0", "cc": "3.0", "dd": "4.0"})
    row = next(i for i, line in enumerate(log.lines) if line.startswith("│"))
    text = log.lines[row]
    cut = text.index("2.0") + 1
    log.lines[row : row + 1] = [text[:cut], "[rollout] noise", text[cut:]]
    result = got(tmp_path, log)
    assert [row[3:] for row in result.rows] == [("aa", 1.0), ("cc", 3.0), ("dd", 4.0)]
    assert result.kinds() == ["broken-row"]
    assert result.notes[0].line == row + 1


def test_a_table_that_another_step_cuts_is_kept_and_noted(tmp_path: Path) -> None:
    names = [f"m/{index}" for index in range(8)]
    log = ArealLog(PLAIN).step(0, numbered(names, 1)).drop_last(2).step(1, five(a=1))
    result = got(tmp_path, log)
    assert [row[1:] for row in result.rows] == [
        (0, None, "m/0", 1.0),
        (0, None, "m/2", 3.0),
        (0, None, "m/4", 5.0),
        (0, None, "m/6", 7.0),
        (1, None, "a", 1.0),
    ]
    (note,) = result.notes
    assert (note.kind, note.first_step, note.last_step, note.line) == ("cut-table", 0, 0, 7)
    assert note.detail == "the table of step 0 breaks off after 4 values: another step follows"


def test_a_table_that_the_end_of_the_file_cuts_is_kept_and_noted(tmp_path: Path) -> None:
    data = ArealLog(PLAIN).step(0, five(a=1)).step(1, {"aa": "1.0", "bb": "2.0"}).text()
    cut = data[: data.rindex(b"2.0") + 1]
    result = got(tmp_path, cut)
    assert result.rows == [(0, 0, None, "a", 1.0), (0, 1, None, "aa", 1.0)]
    last = cut.count(b"\n") + 1
    assert [(n.kind, n.first_step, n.line) for n in result.notes] == [
        ("broken-row", 1, last),
        ("cut-table", 1, last),
    ]
    assert result.resume is not None
    assert result.resume.metrics_after == 1
    assert result.resume.offset == cut.rindex(b"\n") + 1


@pytest.mark.parametrize(
    ("log", "detail"),
    [
        (ArealLog().announce(3), "the log ends before table 1 of 1 of step 3"),
        (ArealLog().announce(3).step(4, five(a=1)), "another step follows before table 1 of 1"),
        (ArealLog().announce(3).stats(five(a=1), 1, 2), "the log ends before table 2 of 2"),
    ],
)
def test_a_step_without_its_tables_is_noted(tmp_path: Path, log: ArealLog, detail: str) -> None:
    (note,) = got(tmp_path, log).notes
    assert (note.kind, note.first_step) == ("cut-table", 3)
    assert note.detail.startswith(detail)


def test_a_table_whose_frame_never_closes_does_not_swallow_the_rest(tmp_path: Path) -> None:
    log = ArealLog(PLAIN).step(0, five(a=1)).drop_last(1)
    log.plain(*["nothing of interest"] * 1001)
    log.plain("│ b │ 2.0 │")
    result = got(tmp_path, log)
    assert [row[3] for row in result.rows] == ["a"]
    assert result.kinds() == ["cut-table"]


def test_a_table_before_the_first_step_is_noted(tmp_path: Path) -> None:
    result = got(tmp_path, ArealLog().stats(five(a=1)).step(7, five(a=2)))
    assert [row[:2] for row in result.rows] == [(0, 7)]
    assert result.kinds() == ["table-without-step"]


def test_the_launcher_names_the_run_and_the_end_is_a_fact(tmp_path: Path) -> None:
    log = ArealLog().record(
        "LocalLauncher: experiment_name=gsm8k, trial_name=t1, fileroot=/x", "Local Scheduler"
    )
    log.step(0, five(a=1)).record("Training completes! Total time elapsed 20.65.")
    result = got(tmp_path, log)
    facts = result.facts
    assert (facts.experiment, facts.trial, facts.finished) == ("gsm8k", "t1", True)
    assert [(e["level"], e["logger"], e["step"]) for e in result.events] == [
        ("INFO", "Local Scheduler", None),
        ("INFO", "StatsLogger", 1),
    ]


def test_a_step_after_the_end_means_that_it_was_not_the_end(tmp_path: Path) -> None:
    log = ArealLog().step(0, five(a=1)).record("Training completes! Total time elapsed 1.")
    assert got(tmp_path, log.step(0, five(a=2))).facts.finished is False


@pytest.mark.parametrize(
    "pack",
    [
        gzip.compress,
        lzma.compress,
        zstandard.ZstdCompressor().compress,
        lambda data: gzip.compress(data[:100]) + gzip.compress(data[100:]),
    ],
    ids=["gz", "xz", "zst", "two gz members"],
)
def test_packed_logs_are_read_by_their_content(
    tmp_path: Path, pack: Callable[[bytes], bytes]
) -> None:
    log = ArealLog().step(0, FIRST).record("slow", level="WARNING")
    plain, packed = got(tmp_path, log), got(tmp_path, pack(log.text()), "a.bin")
    assert (packed.metrics, packed.events) == (plain.metrics, plain.events)
    assert packed.resume is None


@pytest.mark.parametrize(
    "pack", [gzip.compress, lzma.compress, zstandard.ZstdCompressor().compress]
)
def test_a_packed_log_that_breaks_off_is_kept_and_noted(
    tmp_path: Path, pack: Callable[[bytes], bytes]
) -> None:
    log = ArealLog()
    for step in range(200):
        log.step(
            step, {f"m/{i}": f"{(step * 7919 + i * 104729) % 9973 / 7:.4e}" for i in range(40)}
        )
    packed = pack(log.text())
    result = got(tmp_path, packed[: len(packed) // 2])
    whole = got(tmp_path, log)
    assert 0 < len(result.rows) < len(whole.rows)
    assert result.rows == whole.rows[: len(result.rows)]
    assert result.kinds()[-1] == "cut-archive"


def growing_log() -> bytes:
    """A small log with everything that is remembered from line to line."""
    log = ArealLog(replace(PLAIN, header=False))
    log.record("failed at 3", "W", "WARNING").step(0, five(a=1, b=2), five(a=6))
    log.record("failed at 4", "W", "WARNING")
    log.plain("Traceback (most recent call last):", "    foo()", "ValueError: bad 3")
    log.announce(1).stats({"aa": "7.0", "bb": "8.0", "cc": "x"}).drop_last(1)
    log.record("CUDA error: x", "T", "ERROR").record("Recovered from step 1", "T")
    log.record("failed at 5", "W", "WARNING").step(1, five(a=1.5))
    return log.text()


GROWING = growing_log()


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("grown") / "main.log"


def test_a_log_read_in_two_pieces_is_the_log_read_at_once(scratch: Path) -> None:
    scratch.write_bytes(GROWING)
    once = read(READER, scratch)
    assert once.kinds() == ["unreadable-value", "cut-table"]
    assert [event["repeats"] for event in once.events] == [2, 1, 1, 1, 1]
    for cut in range(0, len(GROWING), 3):
        twice = read_in_pieces(READER, scratch, GROWING, [cut])
        assert twice == once, f"cut at byte {cut}"


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.lists(st.integers(0, len(GROWING)), min_size=2, max_size=5).map(sorted))
def test_a_log_read_in_many_pieces_is_the_log_read_at_once(scratch: Path, cuts: list[int]) -> None:
    scratch.write_bytes(GROWING)
    assert read_in_pieces(READER, scratch, GROWING, cuts) == read(READER, scratch)


@pytest.mark.parametrize("size", [1, 7, 64, 1000])
def test_the_rows_do_not_depend_on_where_blocks_end(
    scratch: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    scratch.write_bytes(GROWING)
    once = read(READER, scratch)
    pieces = [GROWING[start : start + size] for start in range(0, len(GROWING), size)]
    monkeypatch.setattr(LogFile, "blocks", lambda self: iter(pieces))
    assert read(READER, scratch) == once


def test_more_rows_than_a_batch_holds(tmp_path: Path) -> None:
    names = [f"m/{index}" for index in range(400)]
    log = ArealLog(PLAIN)
    for step in range(200):
        log.step(step, numbered(names, step), total=200)
    result = got(tmp_path, log)
    assert len(result.rows) == 80_000
    assert sum(row[4] for row in result.rows if row[3] == "m/0") == sum(range(200))


@pytest.mark.parametrize(
    "text",
    [
        b"step:1 - actor/kl_loss:0.001 - critic/score/mean:-1.5\n",
        b"{'loss': 0.1, 'grad_norm': 0.5, 'epoch': 0.01}\n",
        b"2026-11-29 14:58:07,185 - trainer - INFO - step 3 done\n",
        b"INFO 05-06 07:59:21 __init__.py:190] Automatically detected platform cuda.\n",
        b"20261129-14:58:07.185 OtherTool INFO: started\n",
        b"\0\0(AReaL) 20261129-14:58:07.185 StatsLogger INFO: x\n",
        b"areal is mentioned and nothing else\n",
        b"x",
        b"",
    ],
)
def test_texts_of_others_are_not_taken(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(text)
    assert not READER.sniff(path, text)


def test_a_log_that_begins_with_a_long_installation_is_recognised(tmp_path: Path) -> None:
    pip = "Requirement already satisfied: torch (from areal==0.3.4) (2.8.0)"
    log = ArealLog(PLAIN).plain(*[pip] * 3000).step(0, FIRST)
    path = tmp_path / "log.txt"
    path.write_bytes(log.text())
    assert len(log.text()) > 150_000
    assert READER.sniff(path, log.text()[:65536])


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"main\.log: cannot be read: no such file"):
        READER.read(tmp_path / "main.log")
