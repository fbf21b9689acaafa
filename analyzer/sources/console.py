"""Consoles of trainers: lines that tell a step's metrics, among everything else that is printed.

What a format prints is told by a grammar (console_grammars.py and others); what all consoles have
in common is here: prefixes, restarts, events, tracebacks, reading on.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Protocol

from analyzer.sources.areal_lines import Line, split_line
from analyzer.sources.config_rows import config_chunks
from analyzer.sources.event_patterns import ANY_NEEDLE
from analyzer.sources.metric_columns import MetricColumns, Stamp
from analyzer.sources.records import Chunk, Facts, Note
from analyzer.sources.step_table import Attempts
from analyzer.sources.text_events import Place, TextEvents
from analyzer.sources.text_stream import end_of_lines

_CLOCK = re.compile(rb"(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(?:[.,](\d{1,6}))?")


@dataclass(frozen=True, slots=True)
class Record:
    """Metrics of a step, by the names that the framework's trackers give them."""

    step: int
    values: Mapping[str, float]
    log_step: int | None = None


class Grammar(Protocol):
    """How a trainer prints its metrics. It may remember things, which can be written as JSON."""

    needle: bytes  # a regular expression that every line worth reading matches

    @property
    def open(self) -> bool:
        """Is a block being read, so that every line counts?"""

    @property
    def facts(self) -> Facts:
        """What the lines say of the run."""

    @property
    def config(self) -> Mapping[str, str]:
        """Configuration that was printed: dotted key → JSON."""

    def take(self, raw: bytes, line: Line) -> Iterator[Record]:
        """The records that a line gives; `line` is what `raw` holds without its prefixes."""

    def flush(self) -> Iterator[Record]:
        """Records held back, when the text ends; a later reading gives them again."""

    def notes(self) -> list[Note]:
        """What a reader of the report should know."""

    def to_json(self) -> dict[str, Any]:
        """All that a later reading must know."""

    def restore(self, data: dict[str, Any]) -> None:
        """Remember what to_json() wrote."""


@dataclass
class ConsoleScan:
    """Feed it whole lines; rows, events, notes and facts gather in it."""

    grammar: Grammar
    columns: MetricColumns = field(default_factory=MetricColumns)
    attempts: Attempts = field(default_factory=Attempts)
    events: TextEvents = field(default_factory=TextEvents)
    line: int = 0
    repeated: str = ""  # the last record: some programs print it to two places at once

    def __post_init__(self) -> None:
        self._needle = re.compile(ANY_NEEDLE.pattern + b"|" + self.grammar.needle, re.MULTILINE)

    @property
    def facts(self) -> Facts:
        """What the text says of its run."""
        return replace(self.grammar.facts, has_utc=not self.events.local_clock)

    @property
    def all_notes(self) -> list[Note]:
        """What a reader of the report should know."""
        notes = [replace(note, line=self.line + 1) for note in self.grammar.notes()]
        return notes + self.events.notes

    def end_of_lines(self, text: bytes) -> int:
        """Where the last whole line ends."""
        return end_of_lines(text)

    def feed(self, text: bytes) -> None:
        """Read whole lines."""
        position, end = 0, len(text)
        while position < end:
            if self.grammar.open or self.events.open:
                stop = text.index(b"\n", position)
                self.line += 1
                self._read(text[position:stop])
            else:
                stop = self._skip(text, position)
            position = stop + 1

    def finish(self, tail: bytes) -> None:
        """The text ends, perhaps within a line."""
        if tail:
            self.line += 1
            self._read(tail)
        for record in self.grammar.flush():
            self._keep(record, None)
        self.events.finish(self._place)

    def rest(self) -> Iterator[Chunk]:
        """Events, and the configuration where it was printed."""
        for rows in self.events.book.rows():
            yield Chunk("events", rows)
        yield from config_chunks(self.grammar.config)

    def _skip(self, text: bytes, position: int) -> int:
        """Go to the next line worth reading and read it; where it ends."""
        match = self._needle.search(text, position)
        if match is None:
            self.line += text.count(b"\n", position)
            return len(text)
        start = max(position, text.rfind(b"\n", position, match.start()) + 1)
        stop = text.index(b"\n", match.start())
        self.line += text.count(b"\n", position, start) + 1
        self._read(text[start:stop])
        return stop

    def _read(self, raw: bytes) -> None:
        line = split_line(raw)
        if self.events.open and self.events.take(line, self._place):
            return
        told = False
        for record in self.grammar.take(raw, line):
            told = True
            self._keep(record, self._micros(line))
        if not told:
            self.events.read(line, self._place)

    def _keep(self, record: Record, micros: int | None) -> None:
        key = self._mark(record)
        if key == self.repeated:
            return
        self.repeated = key
        attempt = self.attempts.place(record.step, record.values)
        self.columns.begin(Stamp(attempt, record.step, record.log_step, micros))
        for name, value in record.values.items():
            self.columns.add(name, value)

    def _mark(self, record: Record) -> str:
        """By what a record is known to be the same."""
        return f"{record.step} {record.log_step} {sorted(record.values.items())}"

    def _micros(self, line: Line) -> int | None:
        """The container's time, else a date and a time that the line begins with."""
        if line.outer is not None:
            return self.events.micros(line, None)
        match = _CLOCK.search(line.body[:100])
        if match is None:
            return None
        try:
            moment = datetime.fromisoformat(f"{match[1].decode()} {match[2].decode()}")
        except ValueError:
            return None
        self.events.local_clock = True
        fraction = (match[3] or b"").ljust(6, b"0").decode()
        return int(moment.replace(tzinfo=UTC).timestamp()) * 1_000_000 + int(fraction)

    @property
    def _place(self) -> Place:
        last = self.attempts.last
        return Place(self.attempts.attempt, None if last is None else last + 1, self.line)

    def to_json(self) -> str:
        """All that a later reading must know."""
        return json.dumps(
            {
                "line": self.line,
                "repeated": self.repeated,
                "attempts": self.attempts.to_json(),
                "events": self.events.to_json(),
                "grammar": self.grammar.to_json(),
            },
            ensure_ascii=False,
        )

    def restore(self, text: str) -> None:
        """Remember what to_json() wrote, without its rows and notes."""
        data = json.loads(text)
        self.line, self.repeated = data["line"], data["repeated"]
        self.attempts = Attempts.from_json(data["attempts"])
        self.events = TextEvents.from_json(data["events"])
        self.grammar.restore(data["grammar"])


@dataclass
class MarksScan(ConsoleScan):
    """Keeps of each record only a mark by which a copy of the text is known."""

    marks: set[bytes] = field(default_factory=set)

    def _keep(self, record: Record, micros: int | None) -> None:
        self.marks.add(hashlib.blake2b(self._mark(record).encode(), digest_size=16).digest())
