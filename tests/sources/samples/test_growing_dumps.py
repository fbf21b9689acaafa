"""Dumps that grow are read on; those that changed are refused, so that they are read anew."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest
from dump_rows import areal, read, reader_of, write_lines

from analyzer.sources.samples.files import KnownFiles, listing, natural
from analyzer.sources.samples.reader import DumpChanged

READER = reader_of("areal-rollouts")


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    folder = tmp_path / "rollout"
    for version in (2, 10):
        for task in range(3):
            records = [areal(task, i, version) for i in range(2)]
            write_lines(folder / str(version) / f"{version}0{task}.jsonl", records)
    return folder


def test_what_is_known_is_not_read_again(dump: Path) -> None:
    rows, files, _ = read(READER, dump)
    assert len(rows) == 12
    assert files["folder"].to_pylist() == ["2"] * 3 + ["10"] * 3
    again, same, _ = read(READER, dump, KnownFiles(files))
    assert again == []
    assert same.to_pylist() == files.to_pylist()


def test_lines_that_were_added_and_files_that_came(dump: Path) -> None:
    rows, files, _ = read(READER, dump)
    with (dump / "2" / "201.jsonl").open("a") as file:
        file.write('{"task_id": 1, "sample_idx": 2')  # half a record, as of a trainer at work
    write_lines(dump / "11" / "1100.jsonl", [areal(0, 0, 11)])
    more, later, notes = read(READER, dump, KnownFiles(files))
    assert [row["text_path"] for row in more] == ["11/1100.jsonl"]
    assert [n.detail for n in notes] == ["2/201.jsonl ends within a record"]
    write_lines(dump / "2" / "201.jsonl", [areal(1, i, 2) for i in range(4)])
    rest, last, notes = read(READER, dump, KnownFiles(later))
    assert [(row["text_path"], row["sample_idx"]) for row in rest] == [
        ("2/201.jsonl", 2),
        ("2/201.jsonl", 3),
    ]
    assert notes == []
    whole, files, _ = read(READER, dump)
    assert sorted(rows + more + rest, key=str) == sorted(whole, key=str)
    assert last.to_pylist() == files.to_pylist()


def test_a_last_line_without_an_end_counts_once(dump: Path) -> None:
    path = dump / "2" / "201.jsonl"
    write_lines(path, [areal(1, 0, 2)], end="")
    rows, files, notes = read(READER, dump)
    assert (len(rows), notes) == (11, [])
    with path.open("a") as file:
        file.write("\n")
    write_lines(dump / "3" / "1.jsonl", [areal(1, 0, 3)])
    more, _, _ = read(READER, dump, KnownFiles(files))
    assert [row["text_path"] for row in more] == ["3/1.jsonl"]


@pytest.mark.parametrize("change", ["rewritten", "shorter", "gone"])
def test_a_change_that_is_no_growth(dump: Path, change: str) -> None:
    _, files, _ = read(READER, dump)
    path = dump / "2" / "201.jsonl"
    if change == "rewritten":
        write_lines(path, [areal(1, i, 2, reward=0.0) for i in range(3)])
    elif change == "shorter":
        write_lines(path, [areal(1, 0, 2)])
    else:
        path.unlink()
    with pytest.raises(DumpChanged):
        read(READER, dump, KnownFiles(files))


def test_the_listing_notices_each_change(dump: Path) -> None:
    first = listing(dump, READER.layout.files)
    assert (first.files, first.bytes) == (6, sum(p.stat().st_size for p in dump.rglob("*.jsonl")))
    assert listing(dump, READER.layout.files) == first
    path = dump / "2" / "201.jsonl"
    os.utime(path, ns=(1, 1))
    assert listing(dump, READER.layout.files).digest != first.digest


def test_the_digest_does_not_depend_on_times(dump: Path) -> None:
    first = READER.read(dump)
    list(first)
    for path in dump.rglob("*.jsonl"):
        os.utime(path, ns=(1, 1))
    second = READER.read(dump)
    list(second)
    assert first.resume == second.resume


def test_names_with_numbers_are_in_their_order() -> None:
    names = ["10", "9", "task-10", "task-9", "a"]
    random.Random(1).shuffle(names)
    assert sorted(names, key=natural) == ["9", "10", "a", "task-9", "task-10"]
