"""AReaL's text log: main.log, merged.log, a worker's log, the output of a console or container."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from analyzer.sources.areal_lines import RECORD_ANYWHERE
from analyzer.sources.areal_scan import Scan
from analyzer.sources.areal_table import ROWS_A_BATCH
from analyzer.sources.opening import CutArchiveError, LogFile, open_log, read_head
from analyzer.sources.records import Chunk, Note, Reading, Resume

_DEEP_HEAD = 1 << 20  # a container prints pip's output before AReaL says anything
_MARK = re.compile(rb"\(AReaL\)|StatsLogger INFO: |(?i:\bareal\b)")


class ArealText:
    """The reader of AReaL's text logs; values carry the five digits of its tables."""

    format = "areal-text"
    describes = "AReaL text log (main.log, merged.log, console or container output)"
    digits = 5
    appends = True

    def sniff(self, path: Path, head: bytes) -> bool:
        """Does the text hold lines of AReaL's logging, and AReaL's name?"""
        if b"\0" in head:
            return False
        if _is_areal(head):
            return True
        return b"areal" in head.lower() and _is_areal(read_head(path, _DEEP_HEAD))

    def read(self, path: Path, resume: Resume | None = None) -> Reading:
        """Metric rows of the tables, then the events.

        Raises RunError when the file cannot be read.
        """
        log = open_log(path, resume.offset if resume else 0)
        reading = Reading(iter(()))
        reading.chunks = _chunks(log, resume, reading)
        return reading


def _is_areal(text: bytes) -> bool:
    return bool(RECORD_ANYWHERE.search(text) and _MARK.search(text))


def _chunks(log: LogFile, resume: Resume | None, reading: Reading) -> Iterator[Chunk]:
    """The rows of a log; the reading's other fields are set at the end."""
    scan = Scan.from_json(resume.state) if resume else Scan()
    offset = resume.offset if resume else 0
    rest = b""
    cut: CutArchiveError | None = None
    try:
        for block in log.blocks():
            rest, read = _feed(scan, rest, block)
            offset += read
            if len(scan.columns.values) >= ROWS_A_BATCH:
                yield from _metrics(scan)
    except CutArchiveError as cause:
        cut = cause
    yield from _metrics(scan)
    line, state = scan.known.line, "" if log.compressed else scan.to_json()
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
    if not log.compressed:
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
