"""The lines of an AReaL log, one after the other: steps, tables, events.

Nothing here depends on where a block of bytes ends, and all that is remembered between lines can
be written as JSON, so that a grown log is read on at any line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field

from analyzer.sources.areal_lines import Line, record_of, split_line
from analyzer.sources.areal_steps import TrackerSteps
from analyzer.sources.areal_table import (
    BAR,
    INNER_EDGE,
    OpenTable,
    edge_of,
    is_row,
    read_row,
)
from analyzer.sources.event_patterns import ANY_NEEDLE, TRACEBACK, event_of
from analyzer.sources.metric_columns import MetricColumns, Stamp
from analyzer.sources.records import Chunk, Facts, Note
from analyzer.sources.text_events import Place, TextEvents
from analyzer.sources.text_stream import end_of_lines

_STEP = re.compile(rb"(?:Step \d+/(\d+) )?Train step (\d+)/(\d+) done")
_STATS = re.compile(rb"Stats \((\d+)/(\d+)\):")
_NAMES = re.compile(r"experiment_name=([^\s,]+), ?trial_name=([^\s,]+)")
_VERSION = re.compile(
    rb"\(from areal==([0-9][\w.]*)|Successfully installed (?:\S+ )*areal-([0-9][\w.]*)"
)
_STRAY_LINES = 1000  # lines of others after which a table is held to be cut
_MOST_NOTES = 200  # of a kind


@dataclass(slots=True)
class Known:
    """What the log has said up to a line."""

    line: int = 0
    attempt: int = 0
    step: int | None = None
    micros: int | None = None  # when the step was logged
    tables: int = 0  # of the step, met so far
    tables_of: int = 1  # that it should have
    done: bool = False  # all tables of the step are read
    total_steps: int | None = None
    steps_per_epoch: int | None = None
    version: str | None = None
    experiment: str | None = None
    trial: str | None = None
    finished: bool = False
    noted: dict[str, int] = field(default_factory=dict)

    @property
    def working_step(self) -> int | None:
        """The step that the process works on: the next one once all of a step is logged."""
        if self.step is None or not self.done:
            return self.step
        last = self.step + 1 if self.total_steps is None else self.total_steps - 1
        return min(self.step + 1, max(last, self.step))


class Scan:
    """Feed it whole lines; rows, events, notes and facts gather in it."""

    def __init__(self) -> None:
        self.known = Known()
        self.trackers = TrackerSteps()
        self.columns = MetricColumns()
        self.table: OpenTable | None = None
        self.events = TextEvents()
        self.notes: list[Note] = []

    @property
    def facts(self) -> Facts:
        """What the log says of its run."""
        known = self.known
        return Facts(
            framework="areal",
            framework_version=known.version,
            experiment=known.experiment,
            trial=known.trial,
            total_steps=known.total_steps,
            steps_per_epoch=known.steps_per_epoch,
            finished=known.finished,
            has_utc=not self.events.local_clock,
        )

    @property
    def line(self) -> int:
        """Lines read so far."""
        return self.known.line

    @property
    def all_notes(self) -> list[Note]:
        """What a reader of the report should know of the log."""
        return self.notes + self.events.notes

    def end_of_lines(self, text: bytes) -> int:
        """Where the last whole line ends."""
        return end_of_lines(text)

    def rest(self) -> Iterator[Chunk]:
        """The events."""
        for rows in self.events.book.rows():
            yield Chunk("events", rows)

    def feed(self, text: bytes) -> None:
        """Read complete lines."""
        position, end = 0, len(text)
        while position < end:
            if self.table or self.events.open:
                stop = text.index(b"\n", position)
                self._read_line(text[position:stop])
            else:
                stop = self._skip(text, position)
            position = stop + 1

    def finish(self, tail: bytes) -> None:
        """The log ends, perhaps within a line."""
        end = self.known.line + 1
        if tail:
            self._read_line(tail)
        self.events.finish(self._place)
        self.known.line = end
        self._end_step("the log ends")

    def _skip(self, text: bytes, position: int) -> int:
        """Go to the next line worth reading and read it; where it ends."""
        known = self.known
        match = ANY_NEEDLE.search(text, position)
        if match is None:
            known.line += text.count(b"\n", position)
            return len(text)
        start = max(position, text.rfind(b"\n", position, match.start()) + 1)
        stop = text.index(b"\n", match.start())
        known.line += text.count(b"\n", position, start) + 1
        self._read_marked(text[start:stop])
        return stop

    def _read_line(self, raw: bytes) -> None:
        """Any line, while a table or a traceback is open, or at the end."""
        self.known.line += 1
        if self.table and b"\x1b" not in raw:  # most of a log; what follows handles it as well
            if raw.startswith(BAR):
                self._read_row(raw.rstrip(b"\r"), self.table)
                return
            if raw.startswith(INNER_EDGE):
                return
        if self.table or self.events.open:
            line = split_line(raw)
            if self.table and self._table_takes(line.body, self.table):
                return
            if self.events.open and self.events.take(line, self._place):
                return
        if ANY_NEEDLE.search(raw):
            self._read_marked(raw)

    def _table_takes(self, body: bytes, table: OpenTable) -> bool:
        if is_row(body, table):
            self._read_row(body, table)
            return True
        edge = edge_of(body, table)
        if edge == "bottom":
            self.table = None
            self.known.done = table.number >= table.of
        elif edge is None:
            table.other_lines += 1
            if table.other_lines > _STRAY_LINES:
                self._cut_table("its frame is not closed")
        return edge is not None

    def _read_row(self, body: bytes, table: OpenTable) -> None:
        table.other_lines = 0
        result = read_row(body, table, self.columns)
        if result.broken:
            self._note("broken-row", "a row of the table breaks off, its last values are lost")
        for cell in result.unreadable:
            self._note("unreadable-value", f"not a number: {cell}")

    @property
    def _place(self) -> Place:
        return Place(self.known.attempt, self.known.working_step, self.known.line)

    def _read_marked(self, raw: bytes) -> None:
        """A line with one of the needles in it."""
        line = split_line(raw)
        if self.known.version is None and (match := _VERSION.search(line.body)):
            self.known.version = (match[1] or match[2]).decode()
        if match := _STEP.search(line.body):
            self._begin_step(match, line)
        elif match := _STATS.search(line.body):
            self._begin_table(int(match[1]), int(match[2]))
        elif b"Initializing CUDA platform" in line.body and TRACEBACK not in line.body:
            self._sign_of_start()
        else:
            self._read_event(line)

    def _begin_step(self, match: re.Match[bytes], line: Line) -> None:
        known = self.known
        step = int(match[2]) - 1
        self._end_step("another step follows")
        restarted = known.step is not None and step <= known.step
        known.attempt += restarted
        self.events.book.settle(known.attempt if restarted else None)
        known.step, known.tables, known.tables_of = step, 0, 1
        known.done = known.finished = False
        known.total_steps = int(match[3])
        known.steps_per_epoch = int(match[1]) if match[1] else known.steps_per_epoch
        record = record_of(line.body)
        known.micros = self.events.micros(line, record.clock if record else None)
        legacy = known.version is not None and known.version.startswith("0.")
        self.trackers.begin(step, restarted, legacy)

    def _begin_table(self, number: int, of: int) -> None:
        known = self.known
        if known.step is None:
            self._note("table-without-step", "a table before the first step is left out")
            return
        if self.table:
            self._cut_table("another table follows")
        known.tables, known.tables_of, known.done = number, of, False
        log_step = self.trackers.table(number, of)
        same = log_step == known.step
        stamp = Stamp(known.attempt, known.step, None if same else log_step, known.micros)
        self.columns.begin(stamp)
        self.table = OpenTable(known.line, number, of)

    def _read_event(self, line: Line) -> None:
        record = record_of(line.body)
        if record is not None and record.level == "INFO" and event_of(line.body) is not None:
            self._read_milestone(record.message)
        self.events.read(line, self._place)

    def _read_milestone(self, message: str) -> None:
        if message.startswith("Training completes!"):
            self.known.finished = True
        elif match := _NAMES.search(message):
            self.known.experiment, self.known.trial = match[1], match[2]
            self._sign_of_start()
        elif message.startswith("Recover"):
            self._sign_of_start()

    def _sign_of_start(self) -> None:
        if self.known.step is not None:
            self.events.book.start()

    def _end_step(self, how: str) -> None:
        """The step before must be complete by now."""
        known = self.known
        if self.table:
            self._cut_table(how)
        elif known.step is not None and known.tables < known.tables_of:
            missing = f"table {known.tables + 1} of {known.tables_of}"
            self._note("cut-table", f"{how} before {missing} of step {known.step}")

    def _cut_table(self, how: str) -> None:
        table, self.table = self.table, None
        assert table is not None
        self._note(
            "cut-table",
            f"the table of step {self.known.step} breaks off after {table.values} values: {how}",
        )

    def _note(self, kind: str, detail: str) -> None:
        known = self.known
        count = known.noted[kind] = known.noted.get(kind, 0) + 1
        if count < _MOST_NOTES:
            self.notes.append(Note(kind, detail, known.step, known.step, known.line))
        elif count == _MOST_NOTES:
            self.notes.append(Note(kind, f"{detail}; more are not listed", line=known.line))

    def to_json(self) -> str:
        """All that a later reading must know, as text."""
        stamp = self.columns.stamps[-1] if self.table else None
        return json.dumps(
            {
                "known": asdict(self.known),
                "trackers": asdict(self.trackers),
                "table": asdict(self.table) if self.table else None,
                "stamp": asdict(stamp) if stamp else None,
                "events": self.events.to_json(),
            },
            ensure_ascii=False,
            separators=(",", ":"),
        )

    @classmethod
    def from_json(cls, text: str) -> Scan:
        """The scan that to_json() wrote, without its rows and notes."""
        data = json.loads(text)
        scan = cls()
        scan.known = Known(**data["known"])
        scan.trackers = TrackerSteps(**data["trackers"])
        if data["table"]:
            scan.table = OpenTable(**data["table"])
            scan.columns.begin(Stamp(**data["stamp"]))
        scan.events = TextEvents.from_json(data["events"])
        return scan
