"""Tracebacks and events of a console text, whoever wrote it, as they gather line by line."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from analyzer.sources.areal_lines import Line, clock_micros, outer_micros, record_of
from analyzer.sources.event_patterns import TRACEBACK, event_of
from analyzer.sources.events import EventBook, EventRow
from analyzer.sources.records import Note
from analyzer.sources.tracebacks import ClosedTraceback, Tracebacks


@dataclass(frozen=True, slots=True)
class Place:
    """Where in the run and in the file a line stands."""

    attempt: int
    step: int | None
    line: int


@dataclass(slots=True)
class TextEvents:
    """Feed it the lines that hold a needle of event_patterns, and all while `open`."""

    tracebacks: Tracebacks = field(default_factory=Tracebacks)
    book: EventBook = field(default_factory=EventBook)
    notes: list[Note] = field(default_factory=list)
    left_out: bool = False  # there was no room for an event, and a note says so
    local_clock: bool = False  # a time was taken from a process's own clock

    @property
    def open(self) -> bool:
        """Is there a traceback whose exception has not been met?"""
        return bool(self.tracebacks.open)

    def take(self, line: Line, place: Place) -> bool:
        """Does the line belong to an open traceback?"""
        for cut in self.tracebacks.expired(place.line):
            self._add_traceback(cut, place)
        if record_of(line.body) is not None:
            return False
        taken = self.tracebacks.take(line)
        if isinstance(taken, ClosedTraceback):
            self._add_traceback(taken, place)
            return True
        return taken

    def read(self, line: Line, place: Place) -> None:
        """Begin the traceback, or keep the event, that a line is."""
        if TRACEBACK not in line.body:
            self._read_event(line, place)
            return
        record = record_of(line.body)
        writers = b"" if record else line.writers  # what follows a record carries no prefix
        micros = self.micros(line, record.clock if record else None)
        before = record.message.partition(TRACEBACK.decode())[0].strip() if record else ""
        if before:
            self._read_event(line, place)
        if cut := self.tracebacks.begin(writers, place.line, micros):
            self._add_traceback(cut, place)

    def finish(self, place: Place) -> None:
        """The text ends: tracebacks that are open are told as far as they go."""
        for cut in self.tracebacks.rest():
            self._add_traceback(cut, place)

    def micros(self, line: Line, clock: bytes | None) -> int | None:
        """When a line was written: by the container's time, else by the process's own clock."""
        if line.outer is not None:
            return outer_micros(line.outer)
        if clock is None:
            return None
        self.local_clock = True
        return clock_micros(clock)

    def _read_event(self, line: Line, place: Place) -> None:
        found = event_of(line.body)
        if found is not None:
            micros = self.micros(line, found.clock)
            self._add(found.level, found.logger, found.message, micros, place, place.line)

    def _add_traceback(self, found: ClosedTraceback, place: Place) -> None:
        self._add("ERROR", "traceback", found.message, found.micros, place, found.line)

    def _add(
        self, level: str, logger: str, message: str, micros: int | None, place: Place, line: int
    ) -> None:
        row = EventRow(place.attempt, place.step, micros, level, logger, message, line)
        if not self.book.add(row) and not self.left_out:
            self.left_out = True
            detail = "more different events than are kept"
            self.notes.append(Note("events-left-out", detail, place.step, place.step, place.line))

    def to_json(self) -> dict[str, Any]:
        """All that a later reading must know."""
        return {
            "tracebacks": self.tracebacks.to_json(),
            "book": self.book.to_json(),
            "left_out": self.left_out,
            "local_clock": self.local_clock,
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> TextEvents:
        """What to_json() wrote."""
        return cls(
            Tracebacks.from_json(data["tracebacks"]),
            EventBook.from_json(data["book"]),
            left_out=data["left_out"],
            local_clock=data["local_clock"],
        )
