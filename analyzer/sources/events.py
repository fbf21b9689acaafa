"""Events as they are kept: equal messages of an attempt in one row, with how often."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

import pyarrow as pa

from analyzer.sources.masking import mask_secrets, without_numbers
from analyzer.sources.records import EVENT_ROWS

LONGEST_MESSAGE = 2000
MOST_EVENTS = 5000  # different ones a file; more are left out, with a note

Key = tuple[str, str, str]


@dataclass(slots=True)
class EventRow:
    """One message of an attempt: where it stood first and how often it came."""

    attempt: int
    step: int | None
    micros: int | None
    level: str
    logger: str
    message: str
    line: int
    repeats: int = 1


@dataclass(slots=True)
class EventBook:
    """The events of a file.

    After a sign of a new start it is not known whether the run goes back a step, which makes a
    new attempt. Until the next step says so, events are held apart.
    """

    settled: list[EventRow] = field(default_factory=list)
    starting: list[EventRow] | None = None
    _known: dict[tuple[int, Key], EventRow] = field(default_factory=dict)
    _held: dict[tuple[int, Key], EventRow] = field(default_factory=dict)

    def add(self, row: EventRow) -> bool:
        """Keep an event or count it; False when there is no room for another."""
        row.message = mask_secrets(row.message[: 2 * LONGEST_MESSAGE])[:LONGEST_MESSAGE]
        if self.starting is None:
            return _fold(row, self.settled, self._known)
        return _fold(row, self.starting, self._held)

    def start(self) -> None:
        """A sign of a new start was met."""
        if self.starting is None:
            self.starting, self._held = [], {}

    def settle(self, attempt: int | None) -> None:
        """The next step is known: it began `attempt`, or None when it went on with the old one."""
        held, self.starting = self.starting or [], None
        for row in held:
            if attempt is not None:
                row.attempt, row.step = attempt, None
            _fold(row, self.settled, self._known)

    def rows(self) -> Iterator[pa.RecordBatch]:
        """All events by line, held ones in the attempt that they were met in."""
        self.settle(None)
        rows = sorted(self.settled, key=lambda row: row.line)
        if rows:
            columns = {
                "attempt": [row.attempt for row in rows],
                "step": [row.step for row in rows],
                "wall_time": [row.micros for row in rows],
                "level": [row.level for row in rows],
                "logger": [row.logger for row in rows],
                "message": [row.message for row in rows],
                "repeats": [row.repeats for row in rows],
                "line": [row.line for row in rows],
            }
            yield pa.RecordBatch.from_pydict(columns, schema=EVENT_ROWS)

    def to_json(self) -> dict[str, Any]:
        """Everything kept, for a later reading."""
        held = None if self.starting is None else [asdict(row) for row in self.starting]
        return {"settled": [asdict(row) for row in self.settled], "starting": held}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> EventBook:
        """The book that to_json() wrote."""
        book = cls()
        for row in data["settled"]:
            _fold(EventRow(**row), book.settled, book._known)
        if data["starting"] is not None:
            book.starting = []
            for row in data["starting"]:
                _fold(EventRow(**row), book.starting, book._held)
        return book


def _fold(row: EventRow, rows: list[EventRow], known: dict[tuple[int, Key], EventRow]) -> bool:
    key = (row.attempt, (row.level, without_numbers(row.logger), without_numbers(row.message)))
    if (first := known.get(key)) is not None:
        first.repeats += row.repeats
        return True
    if len(rows) >= MOST_EVENTS:
        return False
    known[key] = row
    rows.append(row)
    return True
