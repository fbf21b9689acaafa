"""Weights & Biases run files: every layout of a value, every way a file can be cut."""

from __future__ import annotations

import json
import math
from datetime import UTC, datetime
from pathlib import Path

import pytest
from areal_log import ArealLog, Style, five
from block_file import BLOCK, block_file, end, history, item, output, plain, run
from event_file import message
from hypothesis import given, settings
from hypothesis import strategies as st
from reading import Got, read, read_in_pieces
from tracker_truth import expected, told

from analyzer.sources.discover import discover
from analyzer.sources.readers import reader_of
from analyzer.sources.wandb_file import WandbFile

READER = WandbFile()
FILES = Path(__file__).parent / "trackers"


def got(path: Path, *records: bytes) -> Got:
    path.write_bytes(block_file(records))
    assert reader_of(path).format == "wandb"  # type: ignore[union-attr]
    return read(READER, path)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run-abc.wandb"


def test_values_of_every_kind(path: Path) -> None:
    long = "metric/" + "x" * 150
    found = got(
        path,
        run("abc"),
        history(
            item("flat", value="1.5"),
            item("", "nested", value="-2e3"),
            item("", "a", "b", value="7"),
            item("nan", value="NaN"),
            item("inf", value="Infinity"),
            item("low", value='"-Infinity"'),
            item("yes", value="true"),
            item("dict", value='{"x": 1, "y": {"z": false}, "t": "text"}'),
            item("histogram", value='{"_type": "histogram", "values": [1]}'),
            item("nothing", value="null"),
            item("text", value='"5"'),
            item("list", value="[1, 2]"),
            item(long, value="3"),
            item("digits", value="0." + "3" * 200),
            item("_wandb", value='{"x": 1}'),
            item("", "_wandb", "runtime", value="4"),
            step=3,
        ),
        end(),
    )
    values = {name: value for _, step, _, name, value in found.rows if step == 3}
    assert math.isnan(values.pop("nan"))
    assert values == {
        "flat": 1.5,
        "nested": -2000.0,
        "a.b": 7.0,
        "inf": math.inf,
        "low": -math.inf,
        "yes": 1.0,
        "dict.x": 1.0,
        "dict.y.z": 0.0,
        long: 3.0,
        "digits": 1 / 3,
    }
    assert [note.kind for note in found.notes] == ["not-a-scalar"]
    assert found.notes[0].detail.startswith("5 values are no numbers")


def test_steps_said_in_three_ways_and_times_in_two(path: Path) -> None:
    found = got(
        path,
        run("abc", first=4),
        history(item("x", value="0")),
        history(item("x", value="1"), item("_step", value="9"), item("_runtime", value="2.5")),
        history(item("x", value="2"), item("_timestamp", value="1500.25")),
        plain(20, x=3),
        end(),
    )
    assert [row[1] for row in found.metrics] == [4, 9, 10, 20]
    times = [row[5] for row in found.metrics]
    assert times[0] is None
    assert times[1:3] == [datetime.fromtimestamp(s, UTC) for s in (1002.5, 1500.25)]
    assert found.kinds() == ["implicit-steps"]
    assert found.notes[0].detail.startswith("2 records say no step")


def test_a_step_that_is_no_whole_number_counts_on(path: Path) -> None:
    odd = [item("_step", value=value) for value in ('"5"', "5.5", "null", "true", "[1]", "6.0")]
    records = [history(item("x", value=str(i)), step_item) for i, step_item in enumerate(odd)]
    found = got(path, run("abc"), *records, end())
    assert [row[1] for row in found.metrics] == [0, 1, 2, 3, 4, 6]
    assert found.kinds() == ["bad-step"]
    assert found.notes[0].detail == (
        '5 records whose _step is no whole number (first "5") are counted on from the record before'
    )


def test_a_step_that_goes_back_is_another_attempt(path: Path) -> None:
    found = got(path, run("abc"), plain(0, x=1), plain(1, x=2), plain(1, y=3), plain(0, x=4), end())
    assert found.rows == [
        (0, 0, None, "x", 1.0),
        (0, 1, None, "x", 2.0),
        (0, 1, None, "y", 3.0),
        (1, 0, None, "x", 4.0),
    ]


def test_the_configuration_and_how_the_run_ended(path: Path) -> None:
    config = (
        item("lr", value="1e-05")
        + item("actor", value='{"api_key": "hidden", "optimizer": {"lr": 0.5}}')
        + item("_wandb", value='{"t": 1}')
    )
    update = message(5, item("", "actor", "optimizer", "eps", value="1e-08"))
    found = got(path, run("abc", "p", "n", config=config), update, end(3))
    assert found.config == {
        "lr": "1e-05",
        "actor.api_key": '"***"',
        "actor.optimizer.lr": "0.5",
        "actor.optimizer.eps": "1e-08",
    }
    assert found.facts.finished is False
    assert found.facts.tracker_run == "abc"
    assert found.kinds() == ["no-history", "exit-code"]
    kin = READER.kin(path)
    assert (kin.names, kin.label) == (frozenset(["abc", "p/n"]), "p/n")


def test_files_that_say_little(path: Path) -> None:
    header_only = got(path)
    assert header_only.kinds() == ["no-history", "no-exit-record"]
    assert header_only.facts.finished is None
    assert READER.kin(path).names == {"abc"}
    statistics = message(7, message(3, message(1, b"cpu") + message(16, b"3")))
    summary = message(3, item("score", value="1"))
    found = got(path, run("abc"), statistics, statistics, summary, end())
    assert (found.rows, found.kinds()) == ([], ["no-history", "system-statistics"])
    assert "its summary, which has no step, is left out" in found.notes[0].detail
    bad = got(path, run("abc"), b"\x12\x05ab", plain(1, x=1), end())
    assert (len(bad.rows), bad.kinds()) == (1, ["bad-record"])
    cut_item = got(path, run("abc"), message(2, b"\x0a\x30\x0a\x01x\x82\x01\x01"), end())
    assert cut_item.kinds() == ["bad-record", "no-history"]


def test_records_that_go_over_blocks(path: Path) -> None:
    names = [f"metric/{i:04}" for i in range(3000)]
    items = [item("", name, value=repr(i / 7)) for i, name in enumerate(names)]
    found = got(path, run("abc"), *[history(*items, step=step) for step in range(3)], end())
    assert path.stat().st_size > 6 * BLOCK
    assert [row[4] for row in found.metrics] == [i / 7 for i in range(3000)] * 3
    assert found.notes == []


def test_a_block_with_room_for_less_than_a_header(path: Path) -> None:
    for room in range(9):
        size = BLOCK - 7 - 7 - room
        filler = message(27, bytes(size - 5))
        assert len(filler) == size
        found = got(path, filler, plain(0, x=room), plain(1, x=1), end())
        assert [row[4] for row in found.metrics] == [room, 1.0]
        assert found.notes == []


def test_a_file_cut_anywhere_gives_what_came_before(path: Path) -> None:
    records = [run("abc"), *[plain(step, 100.0 + step, loss=step / 3) for step in range(40)], end()]
    data = block_file(records)
    whole = [step / 3 for step in range(40)]
    for cut in range(7, len(data), 13):
        path.write_bytes(data[:cut])
        found = read(READER, path)
        values = [row[4] for row in found.metrics]
        assert values == whole[: len(values)]
        assert len(values) >= (cut - 60) // 60 - 1
        assert "no-exit-record" in found.kinds()


def test_zeros_at_the_end_and_a_flipped_byte(path: Path) -> None:
    data = block_file([run("abc"), *[plain(step, loss=step) for step in range(2500)]])
    assert len(data) > 2 * BLOCK
    path.write_bytes(data + bytes(3 * BLOCK))
    found = read(READER, path)
    assert len(found.rows) == 2500
    assert found.kinds() == ["zero-filled", "no-exit-record"]
    assert found.notes[0].detail == f"{3 * BLOCK} zero bytes where records should be"
    damaged = bytearray(data)
    damaged[data.index(b"loss") + 1] ^= 1
    path.write_bytes(damaged)
    found = read(READER, path)
    assert [row[4] for row in found.metrics] == [float(step) for step in range(1, 2500)]
    assert found.kinds() == ["bad-checksum", "no-exit-record"]
    damaged = bytearray(data)
    damaged[BLOCK + 6 : BLOCK + 7] = b"\xff"  # the kind of a fragment: its block is lost
    path.write_bytes(damaged)
    found = read(READER, path)
    steps = [row[1] for row in found.metrics]
    assert steps == sorted(set(steps))
    assert 1000 < len(steps) < 2500
    assert "bad-checksum" in found.kinds()


@settings(deadline=None, max_examples=40)
@given(st.lists(st.integers(200, 4000), max_size=4).map(sorted))
def test_a_grown_file_is_read_on(tmp_path_factory: pytest.TempPathFactory, cuts: list[int]) -> None:
    path = tmp_path_factory.mktemp("grown") / "run-abc.wandb"
    records = [run("abc")]
    for step in range(45):
        records.append(plain(step % 30, 100.0 + step, loss=step / 3, kl=-step))
        records.append(output(f"line {step}\n"))
    data = block_file([*records, history(item("x", value='"text"')), end()])
    pieces = read_in_pieces(READER, path, data, [cut for cut in cuts if cut < len(data)])
    whole = read(READER, path)
    assert pieces.rows == whole.rows
    assert pieces.metrics == whole.metrics
    assert pieces.notes == whole.notes
    assert pieces.facts == whole.facts


def console(steps: range) -> str:
    text = ArealLog(Style(header=True, colours=False)).record("started", "A")
    for step in steps:
        text.step(step, five(reward=step))
    return text.text().decode()


def test_metrics_that_are_only_in_the_console(path: Path) -> None:
    text = console(range(3))
    pieces = [text[at : at + 37] for at in range(0, len(text), 37)]
    mixed = []
    for piece in pieces:
        mixed += [output(piece), output("(a progress bar ", 0), output("of stderr)\n", 0)]
    found = got(path, run("abc"), *mixed)
    assert [(row[1], row[3]) for row in found.metrics] == [(step, "reward") for step in range(3)]
    assert found.resume is None
    assert found.facts.framework == "areal"
    detail = next(n.detail for n in found.notes if n.kind == "metrics-from-console")
    assert detail == "the metrics come from the console text (areal-text)"
    reading = READER.read(path)
    assert list(reading) != []
    assert reading.digits == 5


def test_a_console_beside_a_history_gives_events_only(path: Path) -> None:
    text = console(range(2)) + "(AReaL) 20261129-14:58:07.185 A ERROR: gone\n"
    found = got(path, run("abc"), plain(0, 100.0, reward=8), output(text), end())
    assert found.rows == [(0, 0, None, "reward", 8.0)]
    assert [event["message"] for event in found.events] == ["gone"]
    assert found.facts.has_utc
    assert found.resume is not None
    assert found.resume.events_after == 1
    unknown = got(path, run("abc"), output("hello\n"), end())
    assert unknown.kinds() == ["no-history", "console-left-out"]


@pytest.mark.parametrize("version", ["0.31.0", "0.15.12"])
def test_a_resumed_run_written_by_the_client(version: str) -> None:
    files = discover(FILES / f"wandb-{version}")
    assert files.name == "exp/one"
    assert [source.format for source in files.sources] == ["wandb", "wandb"]
    found = [read(READER, source.path) for source in files.sources]
    found.sort(key=lambda one: one.metrics[0][1])
    for one, (first, last) in zip(found, ((0, 4), (3, 5)), strict=True):
        nested = [(last, "nested.a", "1.0"), (last, "nested.b", "1.0")]
        assert told(one.metrics) == sorted([*expected(first, last), *nested])
        assert one.facts.tracker_run == "abc123"
        assert (one.facts.framework, one.facts.finished) == ("areal", True)
        assert json.loads(one.config["actor.optimizer.lr"]) == 1e-5
        assert one.config["actor.api_key"] == '"***"'
        assert all(row[5].year == 2026 for row in one.metrics)
    assert set(found[0].kinds()) == {"not-a-scalar", "system-statistics"}
