"""TensorBoard event files: values worked out by hand from the bytes that are written here."""

from __future__ import annotations

import math
import struct
from datetime import UTC, datetime
from pathlib import Path

import pytest
from event_file import (
    VERSION,
    event,
    integer,
    message,
    record,
    scalar,
    simple,
    single,
    tensor,
    varint,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from reading import Got, read, read_in_pieces

from analyzer.sources.opening import LogFile
from analyzer.sources.tensorboard import TensorBoard

READER = TensorBoard()


def got(tmp_path: Path, data: bytes) -> Got:
    path = tmp_path / "events.out.tfevents.1.host"
    path.write_bytes(data)
    return read(READER, path)


def test_scalars_as_summary_writers_write_them(tmp_path: Path) -> None:
    result = got(
        tmp_path,
        VERSION
        + scalar(1795964287.25, 0, "rollout/reward", 0.1)
        + scalar(1795964288.5, 1, "rollout/reward", -2.0)
        + scalar(1795964288.5, 300, "a", 1e30)
        + scalar(1795964288.5, 1 << 40, "a", 5.0),
    )
    assert result.metrics == [
        # 0.1 as a float32 is 13421773 / 2**27
        (
            0,
            0,
            None,
            "rollout/reward",
            13421773 / 2**27,
            datetime(2026, 11, 29, 14, 58, 7, 250000, UTC),
        ),
        (0, 1, None, "rollout/reward", -2.0, datetime(2026, 11, 29, 14, 58, 8, 500000, UTC)),
        (0, 300, None, "a", 1.0000000150474662e30, datetime(2026, 11, 29, 14, 58, 8, 500000, UTC)),
        (0, 1 << 40, None, "a", 5.0, datetime(2026, 11, 29, 14, 58, 8, 500000, UTC)),
    ]
    assert result.notes == []
    assert READER.sniff(tmp_path, VERSION)


def test_nan_infinity_and_a_negative_step(tmp_path: Path) -> None:
    data = VERSION + scalar(1, -3, "a", math.nan) + scalar(1, 2, "a", math.inf)
    rows = got(tmp_path, data + scalar(1, 3, "a", -math.inf)).rows
    assert [row[1] for row in rows] == [-3, 2, 3]
    assert math.isnan(rows[0][4])
    assert [row[4] for row in rows[1:]] == [math.inf, -math.inf]


def test_a_time_that_is_none_is_no_time(tmp_path: Path) -> None:
    data = VERSION + scalar(math.nan, 0, "a", 1) + scalar(0.0, 1, "a", 1)
    assert [row[5] for row in got(tmp_path, data).metrics] == [None, None]


def test_a_tag_as_long_as_you_like(tmp_path: Path) -> None:
    tags = ["t" * length for length in (1, 110, 118, 119, 120, 121, 127, 128, 300, 20000)]
    data = VERSION + b"".join(scalar(1, 5, tag, index) for index, tag in enumerate(tags))
    assert [row[3:] for row in got(tmp_path, data).rows] == [
        (tag, float(index)) for index, tag in enumerate(tags)
    ]


TENSORS = {
    "float content": (1, message(4, struct.pack("<f", 0.5)), 0.5),
    "float list": (1, single(5, 0.5), 0.5),
    "float packed": (1, message(5, struct.pack("<f", 0.5)), 0.5),
    "double content": (2, message(4, struct.pack("<d", 0.1)), 0.1),
    "double packed": (2, message(6, struct.pack("<d", 0.1)), 0.1),
    "int32 list": (3, integer(7, 7), 7.0),
    "int32 packed": (3, message(7, varint(-7)), -7.0),
    "int64 content": (9, message(4, struct.pack("<q", -(1 << 40))), -float(1 << 40)),
    "int64 packed": (9, message(10, varint(1 << 40)), float(1 << 40)),
    "half content": (19, message(4, b"\x00\x3e"), 1.5),
    "half list": (19, integer(13, 0x3E00), 1.5),
    "bfloat16 content": (14, message(4, b"\xc0\x3f"), 1.5),
    "bfloat16 packed": (14, message(13, varint(0x3FC0)), 1.5),
    "bool": (10, integer(11, 1), 1.0),
    "uint64": (23, message(17, varint((1 << 64) - 1)), float((1 << 64) - 1)),
    "zero left out": (1, b"", 0.0),
}


@pytest.mark.parametrize(("dtype", "body", "value"), TENSORS.values(), ids=TENSORS.keys())
@pytest.mark.parametrize("shape", [b"", message(2, integer(1, 1))], ids=["scalar", "one element"])
def test_scalars_in_tensors(
    tmp_path: Path, dtype: int, body: bytes, value: float, shape: bytes
) -> None:
    result = got(tmp_path, VERSION + event(1, 4, tensor("a", dtype, body, "scalars", shape)))
    assert result.rows == [(0, 4, None, "a", value)]
    assert result.notes == []


def test_what_is_no_scalar_is_counted_and_left_out(tmp_path: Path) -> None:
    pair = message(2, integer(1, 2))
    data = (
        VERSION
        + event(1, 0, message(1, b"image") + message(4, b"png"))
        + event(1, 0, message(1, b"histogram") + message(5, b"bins"))
        + event(1, 0, tensor("text", 7, message(8, b"words"), "text"))
        + event(1, 0, tensor("pair", 1, message(4, bytes(8)), "scalars", pair))
        + event(1, 0, tensor("pr", 1, single(5, 0.5), "pr_curves"))
        + event(1, 1, tensor("pr", 1, single(5, 0.5)))  # only a tag's first value tells its kind
        + event(1, 1, tensor("a", 1, single(5, 0.5)))
        + record(message(4, b"a graph"))
    )
    result = got(tmp_path, data)
    assert [row[3] for row in result.rows] == ["a"]
    assert [(n.kind, n.detail.split()[0]) for n in result.notes] == [("not-a-scalar", "6")]


def test_several_values_and_other_field_orders_stay_in_file_order(tmp_path: Path) -> None:
    summary = message(5, message(1, single(2, 3.0) + message(1, b"swapped")))
    data = (
        VERSION
        + scalar(1, 1, "a", 1)
        + event(1, 1, simple("b", 2), simple("c", 2.5))
        + record(summary + integer(2, 1))
        + scalar(1, 1, "d", 4)
        + scalar(1, 2, "a", 5)
    )
    assert [row[1:] for row in got(tmp_path, data).rows] == [
        (1, None, "a", 1.0),
        (1, None, "b", 2.0),
        (1, None, "c", 2.5),
        (1, None, "swapped", 3.0),
        (1, None, "d", 4.0),
        (2, None, "a", 5.0),
    ]


def test_a_step_that_goes_back_for_its_tag_begins_an_attempt(tmp_path: Path) -> None:
    steps = [
        ("a", 0),
        ("b", 0),
        ("a", 1),
        ("b", 1),
        ("a", 1),
        ("a", 0),
        ("b", 0),
        ("a", 1),
        ("b", 0),
    ]
    data = VERSION + b"".join(scalar(1, step, tag, 0) for tag, step in steps)
    assert [row[0] for row in got(tmp_path, data).rows] == [0, 0, 0, 0, 0, 1, 1, 1, 1]


def test_a_record_with_a_wrong_checksum_is_named_and_skipped(tmp_path: Path) -> None:
    parts = [scalar(1, step, "a", step) for step in range(5)]
    data = bytearray(VERSION + b"".join(parts))
    place = len(VERSION) + len(parts[0]) + len(parts[1])
    data[place + 20] ^= 1
    result = got(tmp_path, bytes(data))
    assert [row[1] for row in result.rows] == [0, 1, 3, 4]
    (note,) = result.notes
    assert (note.kind, note.line) == ("bad-checksum", 4)
    assert note.detail.startswith(f"record 4 at byte {place}: its data does not fit")


@pytest.mark.parametrize("byte", [0, 5, 9])
def test_after_a_wrong_length_the_next_record_is_found(tmp_path: Path, byte: int) -> None:
    parts = [scalar(1, step, "a", step) for step in range(5)]
    data = bytearray(VERSION + b"".join(parts))
    place = len(VERSION) + len(parts[0]) + len(parts[1])
    data[place + byte] ^= 0x41
    result = got(tmp_path, bytes(data))
    assert [row[1] for row in result.rows] == [0, 1, 3, 4]
    (note,) = result.notes
    assert (note.kind, note.line) == ("bad-checksum", 4)
    assert f"at byte {place}" in note.detail
    assert f"{len(parts[2])} bytes are skipped" in note.detail


def test_a_wrong_length_with_nothing_behind_it(tmp_path: Path) -> None:
    data = VERSION + scalar(1, 0, "a", 1)
    result = got(tmp_path, data + b"\x07" * 50)
    assert len(result.rows) == 1
    assert result.kinds() == ["bad-checksum"]
    assert result.resume is not None
    assert result.resume.offset == len(data)


def test_a_record_that_the_end_of_the_file_cuts(tmp_path: Path) -> None:
    good = VERSION + scalar(1, 0, "a", 1)
    for left in (1, 12, 30):
        result = got(tmp_path, good + scalar(1, 1, "a", 2)[:left])
        assert [row[1] for row in result.rows] == [0]
        assert [(n.kind, n.line) for n in result.notes] == [("cut-record", 3)]
        assert result.resume is not None
        assert (result.resume.offset, result.resume.line) == (len(good), 2)


def test_a_record_that_is_no_event_is_named(tmp_path: Path) -> None:
    data = VERSION + record(b"\x0b\x00") + record(b"\x2a\x7f\x00") + scalar(1, 0, "a", 1)
    result = got(tmp_path, data)
    assert len(result.rows) == 1
    assert [(n.kind, n.line) for n in result.notes] == [("bad-record", 2), ("bad-record", 3)]


@pytest.mark.parametrize("size", [1, 13, 64, 500])
def test_the_rows_do_not_depend_on_where_blocks_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    data = growing()
    once = got(tmp_path, data)
    pieces = [data[start : start + size] for start in range(0, len(data), size)]
    monkeypatch.setattr(LogFile, "blocks", lambda self: iter(pieces))
    again = got(tmp_path, data)
    assert (again.metrics, again.resume) == (once.metrics, once.resume)
    assert sorted(map(repr, again.notes)) == sorted(map(repr, once.notes))


def growing() -> bytes:
    """Scalars of two attempts with a damaged length, a damaged value and a tensor among them."""
    bad_value = bytearray(scalar(1, 3, "a", 1))
    bad_value[25] ^= 1
    bad_length = bytearray(scalar(1, 4, "a", 1))
    bad_length[0] ^= 1
    parts = [VERSION]
    parts += [scalar(5, step, tag, step) for step in range(3) for tag in ("a", "b")]
    parts += [bytes(bad_value), bytes(bad_length), event(1, 5, tensor("t", 1, single(5, 2.0), "x"))]
    parts += [scalar(6, step, tag, step) for step in range(1, 4) for tag in ("a", "b")]
    return b"".join([*parts, event(1, 6, tensor("t", 1, single(5, 2.0)))])


GROWING = growing()


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("grown") / "events.out.tfevents.1"


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.lists(st.integers(0, len(GROWING)), min_size=1, max_size=4).map(sorted))
def test_a_file_read_in_pieces_is_the_file_read_at_once(scratch: Path, cuts: list[int]) -> None:
    scratch.write_bytes(GROWING)
    once = read(READER, scratch)
    assert [row[0] for row in once.rows] == [0] * 6 + [1] * 6
    pieces = read_in_pieces(READER, scratch, GROWING, cuts)
    assert pieces.metrics == once.metrics
    counted = ("bad-checksum", "cut-record")
    assert [n for n in pieces.notes if n.kind in counted] == [
        n for n in once.notes if n.kind in counted
    ]
    left_out = [int(n.detail.split()[0]) for n in pieces.notes if n.kind == "not-a-scalar"]
    assert sum(left_out) == 2


def test_more_rows_than_a_batch_holds(tmp_path: Path) -> None:
    data = VERSION + b"".join(scalar(1, step, "a", step % 7) for step in range(70_000))
    rows = got(tmp_path, data).rows
    assert len(rows) == 70_000
    assert [row[1] for row in rows[::10_000]] == list(range(0, 70_000, 10_000))


@pytest.mark.parametrize(
    "head", [b"", b"x", VERSION[:20], b"\0" * 64, b"brain.Event:2 in a text", VERSION[1:]]
)
def test_other_files_are_not_taken(tmp_path: Path, head: bytes) -> None:
    assert not READER.sniff(tmp_path, head)
