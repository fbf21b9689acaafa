"""A console's text within a tracker's file, handed to the reader that knows it.

What a run logged to its tracker counts before what it printed; so the console is read for metrics
only where the tracker has none. Its events are read in any case.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

from analyzer.sources.opening import CutArchiveError
from analyzer.sources.records import Chunk, Facts, Note, Reading
from analyzer.sources.text_readers import text_reader_of

_BLOCK = 1 << 18
_HEAD = 1 << 20


@dataclass
class ConsoleText:
    """Reads the text of one console."""

    wanted: Literal["metrics", "events"]  # metrics: and events
    line: int  # of the notes that it makes
    events: int = 0  # rows handed on

    def chunks(self, pieces: Iterable[tuple[int, bytes]], reading: Reading) -> Iterator[Chunk]:
        """Rows of the text, given as pieces of streams; notes and facts go into the reading."""
        blocks = _blocks(pieces)
        head: list[bytes] = []
        while sum(map(len, head)) < _HEAD and (block := next(blocks, b"")):
            head.append(block)
        reader = text_reader_of(b"".join(head)[:_HEAD])
        if reader is None:
            if head and self.wanted == "metrics":
                detail = "the console text is of no known format and left out"
                reading.notes.append(Note("console-left-out", detail, line=self.line))
            return
        text = reader.read_text(itertools.chain(head, blocks))
        for chunk in text:
            if chunk.table == "events":
                self.events += chunk.rows.num_rows
            if chunk.table == "events" or self.wanted == "metrics":
                yield chunk
        reading.facts = _joined(text.facts, reading.facts, self.wanted)
        if self.wanted == "metrics":
            detail = f"the metrics come from the console text ({reader.format})"
            reading.notes.append(Note("metrics-from-console", detail, line=self.line))
            reading.notes += text.notes
            reading.digits = text.digits or reader.digits


def _joined(text: Facts, tracker: Facts, wanted: str) -> Facts:
    """What the text says where the tracker does not."""
    said = {k: v for k in Facts.__slots__ if (v := getattr(tracker, k)) is not None}
    said["has_utc"] = text.has_utc if wanted == "metrics" else tracker.has_utc
    return replace(text, **said)


def _blocks(pieces: Iterable[tuple[int, bytes]]) -> Iterator[bytes]:
    """Whole lines in blocks; streams are written in pieces, between which others' pieces stand."""
    open_lines: dict[int, bytes] = {}
    held: list[bytes] = []
    size = 0
    try:
        for stream, piece in pieces:
            text = open_lines.get(stream, b"") + piece
            stop = text.rfind(b"\n") + 1
            open_lines[stream] = text[stop:]
            if stop:
                held.append(text[:stop])
                size += stop
            if size >= _BLOCK:
                yield b"".join(held)
                held, size = [], 0
    except CutArchiveError:
        pass  # noted when the file was read for the first time
    held += [line + b"\n" for line in open_lines.values() if line]
    if held:
        yield b"".join(held)
