"""Metrics as JSON lines: one object a step, or several, with a key for the step."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from analyzer.sources.metric_columns import MetricColumns, Stamp
from analyzer.sources.opening import open_log
from analyzer.sources.records import Chunk, Facts, Kin, Note, Reading, Resume, Role
from analyzer.sources.step_table import Attempts, Layout, flat, layout_of, micros, number, whole
from analyzer.sources.text_stream import end_of_lines, read_log

_MOST_BAD = 20  # lines that are named one by one


class JsonLines:
    """The reader of JSON lines with a step: verl's file logger, tinker, SkyRL, an export."""

    format = "json-lines"
    describes = "metrics as JSON lines with a step"
    digits = 17
    appends = True
    role: Role = "tracker"
    reads = "rows of numbers, nested objects under dotted names, times; restarts"
    leaves = "texts and lists; rows without a step"
    tested = "verl FileLogger, tinker, SkyRL layouts; a public tinker run, resumed"

    def sniff(self, path: Path, head: bytes) -> bool:
        """Is the first line an object with a step and a number beside it?"""
        line = head.lstrip().partition(b"\n")[0]
        if not line.startswith(b"{"):
            return False
        row = _object(line)
        if row is None:
            return False
        row = flat(row)
        layout = layout_of(list(row))
        if layout is None or whole(row[layout.step]) is None:
            return False
        return any(number(row[name]) is not None for name in row.keys() - layout.aside)

    def kin(self, path: Path) -> Kin:
        """Nothing: the folder says whose it is."""
        return Kin()

    def read(self, path: Path, resume: Resume | None = None) -> Reading:
        """Metric rows in file order. Raises RunError when the file cannot be read."""
        log = open_log(path, resume.offset if resume else 0)
        scan = JsonScan.from_json(resume.state) if resume else JsonScan()
        return read_log(log, scan, resume)


class JsonScan:
    """Reads lines; rows and notes gather in it."""

    def __init__(self) -> None:
        self.columns = MetricColumns()
        self.attempts = Attempts()
        self.line = 0
        self.layout: Layout | None = None
        self.notes: list[Note] = []
        self.bad = 0
        self.without_step = 0

    facts = Facts()

    @property
    def all_notes(self) -> list[Note]:
        """Lines that are no objects, and rows that name no step."""
        if not self.without_step:
            return self.notes
        detail = f"{self.without_step} rows name no step and are left out"
        return [*self.notes, Note("row-without-step", detail, line=self.line + 1)]

    def end_of_lines(self, text: bytes) -> int:
        """Where the last whole line ends."""
        return end_of_lines(text)

    def feed(self, text: bytes) -> None:
        """Read whole lines."""
        for line in text.split(b"\n")[:-1]:
            self.line += 1
            if line.strip():
                self._read(line, "a line is no JSON object")

    def finish(self, tail: bytes) -> None:
        """The last line, which may be cut off."""
        if tail.strip():
            self.line += 1
            self._read(tail, "the last line is cut off")

    def rest(self) -> Iterator[Chunk]:
        """There are only metrics."""
        return iter(())

    def _read(self, line: bytes, fault: str) -> None:
        row = _object(line)
        if row is None:
            self.bad += 1
            if self.bad <= _MOST_BAD:
                self.notes.append(Note("bad-record", fault, line=self.line))
            return
        row = flat(row)
        self.layout = self.layout or layout_of(list(row))
        step = whole(row.get(self.layout.step)) if self.layout else None
        if self.layout is None or step is None:
            self.without_step += 1
            return
        self._keep(row, step, self.layout)

    def _keep(self, row: dict[str, Any], step: int, layout: Layout) -> None:
        values = {
            name: found
            for name, value in row.items()
            if name not in layout.aside and (found := number(value)) is not None
        }
        if not values:
            return
        run = str(row[layout.run]) if layout.run and row.get(layout.run) is not None else None
        attempt = self.attempts.place(step, values, run)
        at = micros(row.get(layout.time)) if layout.time else None
        self.columns.begin(Stamp(attempt, step, None, at))
        for name, value in values.items():
            self.columns.add(name, value)

    def to_json(self) -> str:
        """All that a later reading must know."""
        layout = asdict(self.layout) if self.layout else None
        kept = {"line": self.line, "bad": self.bad, "without_step": self.without_step}
        return json.dumps({**kept, "layout": layout, "attempts": self.attempts.to_json()})

    @classmethod
    def from_json(cls, text: str) -> JsonScan:
        """The scan that to_json() wrote, without its rows and notes."""
        data = json.loads(text)
        scan = cls()
        scan.line, scan.bad, scan.without_step = data["line"], data["bad"], data["without_step"]
        scan.layout = Layout(**data["layout"]) if data["layout"] else None
        scan.attempts = Attempts.from_json(data["attempts"])
        return scan


def _object(line: bytes) -> dict[str, Any] | None:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return row if isinstance(row, dict) else None
