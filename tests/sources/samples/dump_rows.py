"""A dump's reading as plain Python values."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from analyzer.sources.records import Note
from analyzer.sources.samples import dump_reader
from analyzer.sources.samples.files import KnownFiles
from analyzer.sources.samples.reader import DumpReader


def reader_of(name: str) -> DumpReader:
    """The reader of that format."""
    reader = dump_reader(name)
    assert reader is not None
    return reader


def read(
    reader: DumpReader, path: Path, known: KnownFiles | None = None
) -> tuple[list[dict[str, Any]], pa.Table, list[Note]]:
    """Sample rows, the files as a table, and the notes."""
    reading = reader.read_on(path, known or KnownFiles())
    samples: list[dict[str, Any]] = []
    files = []
    for chunk in reading:
        if chunk.table == "samples":
            samples += chunk.rows.to_pylist()
        else:
            files.append(pa.Table.from_batches([chunk.rows]))
    return samples, pa.concat_tables(files).unify_dictionaries(), reading.notes


def write_lines(path: Path, records: Sequence[Mapping[str, Any]], end: str = "\n") -> None:
    """A file of JSON lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "\n".join(json.dumps(record, ensure_ascii=False) for record in records) + end
    path.write_text(text, "utf-8")


def areal(task: int, idx: int, version: int, **more: Any) -> dict[str, Any]:
    """A record as AReaL writes it."""
    return {
        "task_id": task,
        "sample_idx": idx,
        "seqlen": 12,
        "prompt_len": 4,
        "head_version": version - 1,
        "tail_version": version,
        "reward": 1.0,
        "prompt": "<|im_start|>user\n2+2?<|im_end|>\n",
        "completion": f"It is {idx}.<|im_end|>",
        **more,
    }
