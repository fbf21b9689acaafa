"""The lines of an AReaL log, one after the other: steps, tables, events.

Nothing here depends on where a block of bytes ends, and all that is remembered between lines can
be written as JSON, so that a grown log is read on at any line.
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass, field

from analyzer.sources.areal_lines import Line, clock_micros, outer_micros, record_of, split_line
from analyzer.sources.areal_steps import TrackerSteps
from analyzer.sources.areal_table import (
    BAR,
    INNER_EDGE,
    MetricColumns,
    OpenTable,
    Stamp,
    edge_of,
    is_row,
    read_row,
)
from analyzer.sources.event_patterns import ANY_NEEDLE, TRACEBACK, event_of
from analyzer.sources.events import EventBook, EventRow
from analyzer.sources.records import Facts, Note
from analyzer.sources.tracebacks import ClosedTraceback, Tracebacks

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
    local_clock: bool = False  # a time was taken from a process's own clock
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
        self.tracebacks = Tracebacks()
        self.book = EventBook()
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
            has_utc=not known.local_clock,
        )

    def feed(self, text: bytes) -> None:
        """Read complete lines."""
        position, end = 0, len(text)
        while position < end:
            if self.table or self.tracebacks.open:
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
        for cut in self.tracebacks.rest():
            self._add_traceback(cut)
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
        if self.table or self.tracebacks.open:
            line = split_line(raw)
            if self.table and self._table_takes(line.body, self.table):
                return
            if self.tracebacks.open and self._traceback_takes(line):
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

    def _traceback_takes(self, line: Line) -> bool:
        for cut in self.tracebacks.expired(self.known.line):
            self._add_traceback(cut)
        if record_of(line.body) is not None:
            return False
        taken = self.tracebacks.take(line)
        if isinstance(taken, ClosedTraceback):
            self._add_traceback(taken)
            return True
        return taken

    def _read_marked(self, raw: bytes) -> None:
        """A line with one of the needles in it."""
        line = split_line(raw)
        if self.known.version is None and (match := _VERSION.search(line.body)):
            self.known.version = (match[1] or match[2]).decode()
        if match := _STEP.search(line.body):
            self._begin_step(match, line)
        elif match := _STATS.search(line.body):
            self._begin_table(int(match[1]), int(match[2]))
        elif TRACEBACK in line.body:
            self._begin_traceback(line)
        elif b"Initializing CUDA platform" in line.body:
            self._sign_of_start()
        else:
            self._read_event(line)

    def _begin_step(self, match: re.Match[bytes], line: Line) -> None:
        known = self.known
        step = int(match[2]) - 1
        self._end_step("another step follows")
        restarted = known.step is not None and step <= known.step
        known.attempt += restarted
        self.book.settle(known.attempt if restarted else None)
        known.step, known.tables, known.tables_of = step, 0, 1
        known.done = known.finished = False
        known.total_steps = int(match[3])
        known.steps_per_epoch = int(match[1]) if match[1] else known.steps_per_epoch
        record = record_of(line.body)
        known.micros = self._micros(line, record.clock if record else None)
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

    def _begin_traceback(self, line: Line) -> None:
        record = record_of(line.body)
        writers = b"" if record else line.writers  # what follows a record carries no prefix
        micros = self._micros(line, record.clock if record else None)
        before = record.message.partition(TRACEBACK.decode())[0].strip() if record else ""
        if before:
            self._read_event(line)
        if cut := self.tracebacks.begin(writers, self.known.line, micros):
            self._add_traceback(cut)

    def _read_event(self, line: Line) -> None:
        found = event_of(line.body)
        if found is None:
            return
        known = self.known
        if found.level == "INFO":
            self._read_milestone(found.message)
        micros = self._micros(line, found.clock)
        self._add(
            EventRow(
                known.attempt,
                known.working_step,
                micros,
                found.level,
                found.logger,
                found.message,
                known.line,
            )
        )

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
            self.book.start()

    def _add_traceback(self, found: ClosedTraceback) -> None:
        known = self.known
        row = EventRow(
            known.attempt,
            known.working_step,
            found.micros,
            "ERROR",
            "traceback",
            found.message,
            found.line,
        )
        self._add(row)

    def _add(self, row: EventRow) -> None:
        if not self.book.add(row):
            self._note("events-left-out", "more different events than are kept", most=1)

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

    def _note(self, kind: str, detail: str, most: int = _MOST_NOTES) -> None:
        known = self.known
        count = known.noted[kind] = known.noted.get(kind, 0) + 1
        if count < most or most == 1 == count:
            self.notes.append(Note(kind, detail, known.step, known.step, known.line))
        elif count == most:
            self.notes.append(Note(kind, f"{detail}; more are not listed", line=known.line))

    def _micros(self, line: Line, clock: bytes | None) -> int | None:
        if line.outer is not None:
            return outer_micros(line.outer)
        if clock is None:
            return None
        self.known.local_clock = True
        return clock_micros(clock)

    def to_json(self) -> str:
        """All that a later reading must know, as text."""
        stamp = self.columns.stamps[-1] if self.table else None
        return json.dumps(
            {
                "known": asdict(self.known),
                "trackers": asdict(self.trackers),
                "table": asdict(self.table) if self.table else None,
                "stamp": asdict(stamp) if stamp else None,
                "tracebacks": self.tracebacks.to_json(),
                "events": self.book.to_json(),
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
        scan.tracebacks = Tracebacks.from_json(data["tracebacks"])
        scan.book = EventBook.from_json(data["events"])
        return scan
