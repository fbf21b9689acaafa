"""Samples as Arrow record batches, a few thousand at a time."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

import pyarrow as pa

from analyzer.sources.records import DUMP_FILE_ROWS, SAMPLE_ROWS, Chunk
from analyzer.sources.samples.files import DumpFile
from analyzer.sources.samples.measures import foreign_share, measure
from analyzer.sources.samples.sample import Sample

_BATCH = 8192


class SampleRows:
    """Gathers measured samples."""

    def __init__(self) -> None:
        self._rows: list[tuple[Any, ...]] = []

    def add(self, sample: Sample, path: str) -> None:
        """Measure a sample of the file at `path`, relative to the dump."""
        text = measure(sample.completion)
        self._rows.append(
            (
                sample.step,
                sample.split,
                sample.task_id,
                _small(sample.sample_idx),
                _small(sample.prompt_len),
                _small(sample.seq_len),
                sample.reward,
                sample.correct,
                sample.head_version,
                sample.tail_version,
                sample.truncated,
                text_hash(sample.prompt),
                text_hash(sample.completion),
                path,
                sample.offset,
                sample.bytes,
                text.chars,
                text.ended,
                text.empty,
                text.mid_sentence,
                text.has_answer,
                text.distinct_ngrams,
                text.repetition,
                text.loop_share,
                text.loops,
                foreign_share(sample.prompt, sample.completion),
            )
        )

    @property
    def full(self) -> bool:
        """Is it time to take the rows?"""
        return len(self._rows) >= _BATCH

    def take(self) -> Chunk | None:
        """The rows gathered so far, if there are any."""
        if not self._rows:
            return None
        columns = zip(*self._rows, strict=True)
        arrays = [pa.array(c, f.type) for c, f in zip(columns, SAMPLE_ROWS, strict=True)]
        self._rows = []
        return Chunk("samples", pa.RecordBatch.from_arrays(arrays, schema=SAMPLE_ROWS))


def text_hash(text: str) -> str:
    """Sixteen hexadecimal digits by which equal texts are known."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _small(value: int | None) -> int | None:
    return value if value is None or abs(value) < 2**31 else None


def file_rows(files: list[tuple[DumpFile, int, bytes]]) -> Chunk:
    """The files of one folder with how much was taken of each."""
    columns = [
        pa.array([file.folder for file, _, _ in files], pa.string()).dictionary_encode(),
        pa.array([file.name for file, _, _ in files], pa.string()),
        pa.array([file.bytes for file, _, _ in files], pa.int64()),
        pa.array([file.mtime_ns for file, _, _ in files], pa.int64()),
        pa.array([taken for _, taken, _ in files], pa.int64()),
        pa.array([sha for _, _, sha in files], pa.binary(32)),
    ]
    return Chunk("files", pa.RecordBatch.from_arrays(columns, schema=DUMP_FILE_ROWS))
