"""Metrics as CSV: a header, a column for the step, a row a step."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from analyzer.errors import Location, RunError
from analyzer.sources.opening import CutArchiveError, LogFile, open_log, read_head
from analyzer.sources.records import Chunk, Kin, Note, Reading, Resume, Role
from analyzer.sources.step_table import whole
from analyzer.sources.table_rows import StepTable

_DELIMITERS = (",", "\t", ";")
_BOM = b"\xef\xbb\xbf"


class CsvTable:
    """The reader of CSV files with a step column, whatever the other columns are called."""

    format = "csv"
    describes = "metrics as CSV with a step column"
    digits = 15
    appends = True
    role: Role = "tracker"
    reads = "columns of numbers, a time and a run column, exported charts; restarts"
    leaves = "columns of text; rows without a step"
    tested = "verl and open-instruct exports that are public"

    def sniff(self, path: Path, head: bytes) -> bool:
        """Is there a header with a step, and a whole number in that column below it?"""
        if b"\0" in head:
            return False
        start = _header(head)
        if start is None:
            return False
        names, delimiter, length = start
        table = StepTable.of(names) if len(names) > 1 else None
        if table is None:
            return False
        first = _first_row(_text(head[length:]), delimiter)
        place = table.names.index(table.layout.step)
        return len(first) > place and whole(first[place]) is not None

    def kin(self, path: Path) -> Kin:
        """Nothing: the folder says whose it is."""
        return Kin()

    def read(self, path: Path, resume: Resume | None = None) -> Reading:
        """Metric rows in file order. Raises RunError when the file cannot be read."""
        start = _header(read_head(path))
        table = StepTable.of(start[0]) if start else None
        if start is None or table is None:
            raise RunError("no CSV with a step column", at=Location(str(path), 1))
        log = open_log(path, resume.offset if resume else 0)
        reading = Reading(iter(()))
        reading.chunks = _chunks(log, table, start, resume, reading)
        return reading


def _header(head: bytes) -> tuple[list[str], str, int] | None:
    """The column names, what parts them, and the bytes of the header with its line end."""
    line, newline, _ = head.partition(b"\n")
    if not newline:
        return None
    text = _text(line.removeprefix(_BOM)).rstrip("\r")
    delimiter = max(_DELIMITERS, key=text.count)
    return _first_row(text, delimiter), delimiter, len(line) + 1


def _first_row(text: str, delimiter: str) -> list[str]:
    """The cells of the first row that has any; none where the text is no CSV."""
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        return next((row for row in rows if row), [])
    except csv.Error:  # a carriage return within a line, a cell without end
        return []


def _chunks(
    log: LogFile,
    table: StepTable,
    start: tuple[list[str], str, int],
    resume: Resume | None,
    reading: Reading,
) -> Iterator[Chunk]:
    """The rows of a file; the reading's other fields are set at the end."""
    names, delimiter, skip = start
    offset, line = (resume.offset, resume.line) if resume else (0, 0)
    if resume:
        table.restore(json.loads(resume.state))
        skip = 0
    left, cut = b"", None
    try:
        for block in log.blocks():
            text = left + block
            stop = _end_of_records(text)
            if stop > skip:
                yield from _metrics(text[skip:stop], names, delimiter, table)
                skip = 0
            line += text.count(b"\n", 0, stop)
            left, offset = text[stop:], offset + stop
    except CutArchiveError as cause:
        cut = cause
    state = json.dumps(table.to_json())
    pending = 0
    for chunk in _metrics(left, names, delimiter, table):
        pending += chunk.rows.num_rows
        yield chunk
    reading.notes = table.notes(line + 1)
    if cut is not None:
        reading.notes.append(Note("cut-archive", f"the file breaks off: {cut}", line=line + 1))
    if not log.compressed:
        reading.resume = Resume(offset, line, state, pending)


def _end_of_records(text: bytes) -> int:
    """Where the last whole record ends: a newline within quotation marks ends none."""
    stop = text.rfind(b"\n") + 1
    while stop and text.count(b'"', 0, stop) % 2:
        stop = text.rfind(b"\n", 0, stop - 1) + 1
    return stop


def _metrics(text: bytes, names: list[str], delimiter: str, table: StepTable) -> Iterator[Chunk]:
    """The rows of whole records; cells are text until a column is known to be numbers."""
    if not text.strip():
        return
    from pyarrow import csv as arrow_csv  # slow to import, and most runs have no CSV

    columns = [str(place) for place in range(len(names))]

    def broken(_: object) -> str:
        table.broken += 1
        return "skip"

    parsed = arrow_csv.read_csv(
        io.BytesIO(text),
        arrow_csv.ReadOptions(column_names=columns),
        arrow_csv.ParseOptions(
            delimiter=delimiter,
            newlines_in_values=True,
            invalid_row_handler=broken,
        ),
        arrow_csv.ConvertOptions(
            column_types=dict.fromkeys(columns, pa.string()), strings_can_be_null=False
        ),
    )
    for rows in table.rows(parsed):
        yield Chunk("metrics", rows)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")
