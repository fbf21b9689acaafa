"""AReaL's text log: main.log, merged.log, a worker's log, the output of a console or container."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from analyzer.sources.areal_lines import RECORD_ANYWHERE
from analyzer.sources.areal_marks import kin_of
from analyzer.sources.areal_scan import Scan
from analyzer.sources.areal_table import ROWS_A_BATCH
from analyzer.sources.opening import CutArchiveError, open_log, read_head
from analyzer.sources.records import Chunk, Kin, Note, Reading, Resume, Role

_DEEP_HEAD = 1 << 20  # a container prints pip's output before AReaL says anything
_MARK = re.compile(rb"\(AReaL\)|StatsLogger INFO: |(?i:\bareal\b)")


class ArealText:
    """The reader of AReaL's text logs; values carry the five digits of its tables."""

    format = "areal-text"
    describes = "AReaL text log (main.log, merged.log, console or container output)"
    digits = 5
    appends = True
    role: Role = "log"
    reads = "metric tables, steps and attempts, errors and other events, names, version"
    leaves = "lines that are neither"
    tested = "AReaL 2025-11 to 2026-08"

    def sniff(self, path: Path, head: bytes) -> bool:
        """Does the text hold lines of AReaL's logging, and AReaL's name?"""
        if self.sniff_text(head):
            return True
        deep = b"\0" not in head and b"areal" in head.lower()
        return deep and self.sniff_text(read_head(path, _DEEP_HEAD))

    def sniff_text(self, head: bytes) -> bool:
        """Does the text hold lines of AReaL's logging, and AReaL's name?"""
        return b"\0" not in head and bool(RECORD_ANYWHERE.search(head) and _MARK.search(head))

    def kin(self, path: Path) -> Kin:
        """The lines that announce a step."""
        return kin_of(path)

    def read(self, path: Path, resume: Resume | None = None) -> Reading:
        """Metric rows of the tables, then the events.

        Raises RunError when the file cannot be read.
        """
        log = open_log(path, resume.offset if resume else 0)
        reading = Reading(iter(()))
        reading.chunks = _chunks(log.blocks(), not log.compressed, resume, reading)
        return reading

    def read_text(self, blocks: Iterator[bytes]) -> Reading:
        """The same of a text that is no file."""
        reading = Reading(iter(()))
        reading.chunks = _chunks(blocks, False, None, reading)
        return reading


def _chunks(
    blocks: Iterator[bytes], resumes: bool, resume: Resume | None, reading: Reading
) -> Iterator[Chunk]:
    """The rows of a text; the reading's other fields are set at the end."""
    scan = Scan.from_json(resume.state) if resume else Scan()
    offset = resume.offset if resume else 0
    rest = b""
    cut: CutArchiveError | None = None
    try:
        for block in blocks:
            rest, read = _feed(scan, rest, block)
            offset += read
            if len(scan.columns.values) >= ROWS_A_BATCH:
                yield from _metrics(scan)
    except CutArchiveError as cause:
        cut = cause
    yield from _metrics(scan)
    line, state = scan.known.line, scan.to_json() if resumes else ""
    scan.finish(rest)
    pending = len(scan.columns.values)
    yield from _metrics(scan)
    events = 0
    for rows in scan.book.rows():
        events += rows.num_rows
        yield Chunk("events", rows)
    reading.facts = scan.facts
    reading.notes = scan.notes
    if cut is not None:
        reading.notes.append(Note("cut-archive", f"the file breaks off: {cut}", line=line + 1))
    if resumes:
        reading.resume = Resume(offset, line, state, pending, events)


def _feed(scan: Scan, rest: bytes, block: bytes) -> tuple[bytes, int]:
    """Feed the whole lines of a block; what is left over, and the bytes that were fed."""
    stop = block.rfind(b"\n") + 1
    if not stop:
        return rest + block, 0
    scan.feed(rest + block[:stop])
    return block[stop:], len(rest) + stop


def _metrics(scan: Scan) -> Iterator[Chunk]:
    for rows in scan.columns.batches():
        yield Chunk("metrics", rows)
