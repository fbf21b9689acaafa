"""Each dump format: what its records say, and what is no record of it."""

from __future__ import annotations

import collections
import json
import pickle
import zipfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from dump_rows import areal, read, reader_of, write_lines

from analyzer.sources.opening import read_head
from analyzer.sources.readers import folder_reader_of
from analyzer.sources.readers import reader_of as reader_of_file
from analyzer.sources.samples.reader import DumpReader


def one(rows: list[dict[str, Any]], *keys: str) -> tuple[Any, ...]:
    (row,) = rows
    return tuple(row[key] for key in keys)


def takes(reader: DumpReader, folder: Path) -> bool:
    names = frozenset(path.name for path in folder.iterdir())
    return folder_reader_of(folder, names) is reader


# --- AReaL ----------------------------------------------------------------------------------


def test_areal(tmp_path: Path) -> None:
    dump = tmp_path / "rollout"
    write_lines(dump / "20" / "7.jsonl", [areal(7, 0, 20), areal(7, 1, 19, reward=0.5)])
    write_lines(dump / "3" / "1.jsonl", [areal(1, 0, 3)])
    reader = reader_of("areal-rollouts")
    assert takes(reader, dump)
    rows, _, notes = read(reader, dump)
    keys = ("step", "task_id", "sample_idx", "reward", "head_version", "tail_version", "text_path")
    assert [tuple(row[key] for key in keys) for row in rows] == [
        (3, "1", 0, 1.0, 2, 3, "3/1.jsonl"),
        (20, "7", 0, 1.0, 19, 20, "20/7.jsonl"),
        (20, "7", 1, 0.5, 18, 19, "20/7.jsonl"),
    ]
    assert {(row["split"], row["prompt_len"], row["seq_len"]) for row in rows} == {("train", 4, 12)}
    assert all(row["ended"] and row["truncated"] is None for row in rows)
    assert len({row["prompt_hash"] for row in rows}) == 1
    assert notes == []


@pytest.mark.parametrize(
    ("record", "versions"),
    [
        ({"head_version": -1, "tail_version": 6}, (None, 6)),
        ({"head_version": -1, "tail_version": -1}, (None, None)),
        ({"head_version": 5, "tail_version": 6, "version_rle": [[5, 2], [6, 1]]}, (5, 6)),
        ({"head_version": -1, "tail_version": 6, "version_rle": [[-1, 9], [4, 2], [6, 1]]}, (4, 6)),
    ],
)
def test_both_forms_of_areals_versions(
    tmp_path: Path, record: dict[str, Any], versions: tuple[int | None, int | None]
) -> None:
    path = tmp_path / "r" / "6" / "1.jsonl"
    write_lines(path, [areal(1, 0, 6, **record)])
    rows, _, _ = read(reader_of("areal-rollouts"), tmp_path / "r")
    assert one(rows, "step", "head_version", "tail_version") == (6, *versions)


def test_areals_evaluation_is_told_apart(tmp_path: Path) -> None:
    write_lines(tmp_path / "eval-rollout" / "20" / "7.jsonl", [areal(7, 0, 20)])
    rows, _, _ = read(reader_of("areal-rollouts"), tmp_path / "eval-rollout")
    assert one(rows, "split") == ("eval",)


def test_one_version_or_one_file_alone(tmp_path: Path) -> None:
    folder = tmp_path / "20"
    write_lines(folder / "7.jsonl", [areal(7, 0, 20)])
    reader = reader_of("areal-rollouts")
    assert takes(reader, folder)
    rows, _, _ = read(reader, folder)
    assert one(rows, "step", "text_path") == (20, "7.jsonl")
    assert reader_of_file(folder / "7.jsonl") is reader
    rows, _, _ = read(reader, folder / "7.jsonl")
    assert one(rows, "step", "text_path") == (20, "")


def test_a_folder_with_something_else_in_it_is_not_taken_whole(tmp_path: Path) -> None:
    write_lines(tmp_path / "rollout" / "20" / "7.jsonl", [areal(7, 0, 20)])
    (tmp_path / "rollout" / "notes.txt").write_text("mine")
    assert not takes(reader_of("areal-rollouts"), tmp_path / "rollout")
    assert takes(reader_of("areal-rollouts"), tmp_path / "rollout" / "20")


# --- verl -----------------------------------------------------------------------------------


def verl(**more: Any) -> dict[str, Any]:
    return {"input": "user\n2+2?", "output": "4", "score": 1.0, "step": 3, **more}


def test_verl(tmp_path: Path) -> None:
    write_lines(tmp_path / "dump" / "3.jsonl", [verl(gts="4", acc=True)])
    write_lines(tmp_path / "dump" / "10.jsonl", [verl(step=10, score=-1, acc=0.0)])
    reader = reader_of("verl-rollouts")
    assert takes(reader, tmp_path / "dump")
    rows, _, _ = read(reader, tmp_path / "dump")
    keys = ("step", "reward", "correct", "split", "seq_len", "truncated")
    assert [tuple(row[key] for key in keys) for row in rows] == [
        (3, 1.0, True, "train", None, None),
        (10, -1.0, False, "train", None, None),
    ]


@pytest.mark.parametrize("folder", ["val_dump", "validation", "rollouts-val"])
def test_verls_validation_is_told_apart(tmp_path: Path, folder: str) -> None:
    write_lines(tmp_path / folder / "3.jsonl", [verl()])
    rows, _, _ = read(reader_of("verl-rollouts"), tmp_path / folder)
    assert one(rows, "split") == ("eval",)


# --- prime-rl -------------------------------------------------------------------------------


def test_prime_rl(tmp_path: Path) -> None:
    record = {
        "example_id": 12,
        "prompt": [{"role": "user", "content": "2+2?"}],
        "completion": [{"role": "assistant", "content": "It is 4."}],
        "reward": 1.0,
        "is_truncated": False,
        "token_usage": {"input_tokens": 9.0, "output_tokens": 5.0},
    }
    dump = tmp_path / "rollouts"
    write_lines(dump / "step_4" / "train_rollouts.jsonl", [record])
    write_lines(dump / "step_4" / "eval_rollouts.jsonl", [{**record, "is_truncated": True}])
    reader = reader_of("prime-rollouts")
    assert takes(reader, dump)
    rows, _, _ = read(reader, dump)
    keys = ("step", "task_id", "prompt_len", "seq_len", "truncated", "split", "chars")
    assert [tuple(row[key] for key in keys) for row in rows] == [
        (4, "12", 9, 14, True, "eval", 8),
        (4, "12", 9, 14, False, "train", 8),
    ]


# --- TRL ------------------------------------------------------------------------------------


def test_trl(tmp_path: Path) -> None:
    folder = tmp_path / "completions"
    folder.mkdir()
    table = pa.table(
        {
            "step": [10, 10],
            "prompt": ["2+2?", "3+3?"],
            "completion": ["4", "7"],
            "accuracy_reward": [1.0, 0.0],
            "format_reward": [0.5, None],
            "advantage": [0.7, -0.7],
        }
    )
    pq.write_table(table, folder / "completions_00010.parquet")
    reader = reader_of("trl-completions")
    assert takes(reader, folder)
    rows, _, _ = read(reader, folder)
    keys = ("step", "reward", "split", "text_offset", "text_bytes")
    assert [tuple(row[key] for key in keys) for row in rows] == [
        (10, 1.5, "train", 0, None),
        (10, 0.0, "train", 1, None),
    ]


def test_trls_modes_and_messages(tmp_path: Path) -> None:
    folder = tmp_path / "completions" / "eval"
    folder.mkdir(parents=True)
    chat = [{"role": "user", "content": "2+2?"}]
    answer = [{"role": "assistant", "content": "four"}]
    table = pa.table(
        {"mode": ["eval"], "step": [5], "prompt": [chat], "completion": [answer], "r": [1.0]}
    )
    pq.write_table(table, folder / "completions_00005.parquet")
    rows, _, _ = read(reader_of("trl-completions"), tmp_path / "completions")
    assert one(rows, "split", "chars", "reward") == ("eval", 4, 1.0)


# --- slime ----------------------------------------------------------------------------------


class Evil:
    """Would write a file when it is unpickled by Python's own rules."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        return open, (str(self.path), "w")


def archive(path: Path, samples: list[dict[str, Any]]) -> None:
    """As torch.save makes it: a zip of stored members, the pickle first."""
    data = {"rollout_id": 7, "samples": samples}
    with zipfile.ZipFile(path, "w") as file:
        file.writestr(f"{path.stem}/data.pkl", pickle.dumps(data, protocol=2))
        file.writestr(f"{path.stem}/version", "3\n")


def slime(**more: Any) -> dict[str, Any]:
    return {
        "group_index": 2,
        "index": 17,
        "prompt": "2+2?",
        "tokens": [5, 6, 7, 8, 9],
        "response": "It is",
        "response_length": 2,
        "reward": 0.0,
        "status": "truncated",
        "metadata": collections.OrderedDict(),
        **more,
    }


def test_slime(tmp_path: Path) -> None:
    folder = tmp_path / "debug"
    folder.mkdir()
    archive(folder / "data_7.pt", [slime(), slime(status="completed", reward={"acc": 1})])
    reader = reader_of("slime-rollouts")
    assert takes(reader, folder)
    rows, _, _ = read(reader, folder)
    keys = ("step", "task_id", "sample_idx", "prompt_len", "seq_len", "reward", "truncated")
    assert [tuple(row[key] for key in keys) for row in rows] == [
        (7, "2", 17, 3, 5, 0.0, True),
        (7, "2", 17, 3, 5, None, False),
    ]


def test_nothing_that_a_pickle_names_is_run(tmp_path: Path) -> None:
    trap = tmp_path / "trap"
    archive(tmp_path / "data_7.pt", [slime(metadata=Evil(trap))])
    rows, _, _ = read(reader_of("slime-rollouts"), tmp_path / "data_7.pt")
    assert one(rows, "seq_len") == (5,)
    assert not trap.exists()


def test_a_damaged_archive_is_told(tmp_path: Path) -> None:
    folder = tmp_path / "debug"
    folder.mkdir()
    archive(folder / "data_7.pt", [slime()])
    whole = (folder / "data_7.pt").read_bytes()
    (folder / "data_8.pt").write_bytes(whole[: len(whole) // 2])
    rows, _, notes = read(reader_of("slime-rollouts"), folder)
    assert len(rows) == 1
    assert [(note.kind, note.detail) for note in notes] == [
        ("bad-records", "1 record is none of this format and is left out: data_8.pt at 0")
    ]


# --- all ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line",
    ['{"a": 1}', '{"input": 3, "output": "x", "score": 1}', "[1, 2]", "no json", '{"step": 1'],
)
def test_lines_of_other_formats_are_nobodys(tmp_path: Path, line: str) -> None:
    path = tmp_path / "1.jsonl"
    path.write_text(line + "\n")
    found = [r for r in map(reader_of, FORMATS) if r.sniff(path, read_head(path))]
    records = [] if not found else read(found[0], path)[0]
    assert records == []


FORMATS = ("areal-rollouts", "verl-rollouts", "prime-rollouts", "trl-completions", "slime-rollouts")


def test_bad_lines_are_left_out_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "dump" / "3.jsonl"
    write_lines(path, [verl()])
    first = path.stat().st_size
    with path.open("a") as file:
        file.write('no json\n\n{"input": 1}\n' + json.dumps(verl(output="5")) + "\n")
    rows, _, notes = read(reader_of("verl-rollouts"), tmp_path / "dump")
    assert [row["chars"] for row in rows] == [1, 1]
    assert [(note.kind, note.detail) for note in notes] == [
        (
            "bad-records",
            f"2 records are none of this format and are left out, first 3.jsonl at {first}",
        )
    ]


def test_a_record_is_found_again_by_its_place(tmp_path: Path) -> None:
    dump = tmp_path / "rollout"
    path = dump / "20" / "7.jsonl"
    write_lines(path, [areal(7, i, 20, completion=f"answer {i}") for i in range(3)])
    reader = reader_of("areal-rollouts")
    rows, _, _ = read(reader, dump)
    for i, row in enumerate(rows):
        sample = reader.sample_at(dump, dump / row["text_path"], row["text_offset"])
        assert sample is not None
        assert sample.completion == f"answer {i}"
    assert reader.sample_at(dump, path, 1) is None
    assert reader.sample_at(dump, path, 10**6) is None
