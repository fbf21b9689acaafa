"""A text that is read block by block, and read on from where it ended once it has grown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol

from analyzer.sources.metric_columns import ROWS_A_BATCH, MetricColumns
from analyzer.sources.opening import CutArchiveError, LogFile
from analyzer.sources.records import Chunk, Facts, Note, Reading, Resume


class TextScan(Protocol):
    """What reads the lines. All that it remembers between them can be written as JSON."""

    columns: MetricColumns

    @property
    def line(self) -> int:
        """Lines read so far."""

    @property
    def facts(self) -> Facts:
        """What the text says of its run."""

    @property
    def all_notes(self) -> list[Note]:
        """What a reader of the report should know of the text."""

    def end_of_lines(self, text: bytes) -> int:
        """Where the last whole line of the text ends; 0 when it has none."""

    def feed(self, text: bytes) -> None:
        """Read whole lines."""

    def finish(self, tail: bytes) -> None:
        """The text ends, perhaps within a line."""

    def rest(self) -> Iterator[Chunk]:
        """Rows that are handed on at the end and, in a later reading, once more: events …"""

    def to_json(self) -> str:
        """All that a later reading must know."""


def read_stream(
    blocks: Iterable[bytes], scan: TextScan, reading: Reading, offset: int, resumable: bool
) -> Iterator[Chunk]:
    """The rows of a text that begins `offset` bytes into its file; the reading's fields are set
    at the end.

    What raises in `blocks` is not caught, but for a compressed file that breaks off.
    """
    left = b""
    cut: CutArchiveError | None = None
    try:
        for block in blocks:
            text = left + block if left else block
            stop = scan.end_of_lines(text)
            scan.feed(text[:stop])
            left, offset = text[stop:], offset + stop
            if len(scan.columns.values) >= ROWS_A_BATCH:
                yield from _metrics(scan)
    except CutArchiveError as cause:
        cut = cause
    yield from _metrics(scan)
    line, state = scan.line, scan.to_json() if resumable else ""
    scan.finish(left)
    pending = len(scan.columns.values)
    yield from _metrics(scan)
    events = 0
    for chunk in scan.rest():
        events += chunk.rows.num_rows if chunk.table == "events" else 0
        yield chunk
    reading.facts = scan.facts
    reading.notes = scan.all_notes
    if cut is not None:
        reading.notes.append(Note("cut-archive", f"the file breaks off: {cut}", line=line + 1))
    if resumable:
        reading.resume = Resume(offset, line, state, pending, events)


def read_log(log: LogFile, scan: TextScan, resume: Resume | None) -> Reading:
    """The reading of an open file whose scan knows what was read before."""
    reading = Reading(iter(()))
    offset = resume.offset if resume else 0
    reading.chunks = read_stream(log.blocks(), scan, reading, offset, not log.compressed)
    return reading


def read_text(blocks: Iterator[bytes], scan: TextScan) -> Reading:
    """The reading of a text that is no file, as a tracker keeps the console's."""
    reading = Reading(iter(()))
    reading.chunks = read_stream(blocks, scan, reading, 0, False)
    return reading


def end_of_lines(text: bytes) -> int:
    """Where the last whole line of a text ends."""
    return text.rfind(b"\n") + 1


def _metrics(scan: TextScan) -> Iterator[Chunk]:
    for rows in scan.columns.batches():
        yield Chunk("metrics", rows)
