"""The box table that AReaL prints for a step, row by row into columns of values.

A row holds name and value pairs, four as AReaL has it, fewer in the last rows:
`│ rollout/reward │  3.6361e-01 │ timeperf/save │  9.7809e-04 │ … │`
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from analyzer.sources.records import METRIC_ROWS, TIMESTAMP

BAR = "│".encode()
INNER_EDGE = "├".encode()
_PLAIN_BAR = b"|"
_EDGES = (INNER_EDGE, "╒".encode(), "╞".encode(), "╘".encode())
_BOTTOM = "╘".encode()
ROWS_A_BATCH = 1 << 16


@dataclass(frozen=True, slots=True)
class Stamp:
    """What all rows of one table have in common."""

    attempt: int
    step: int
    log_step: int | None
    micros: int | None


@dataclass(slots=True)
class MetricColumns:
    """Values in the order of the log; the stamp of each table is kept once."""

    names: list[str] = field(default_factory=list)
    numbers: dict[bytes, int] = field(default_factory=dict)  # a cell as printed → its name
    metrics: list[int] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    stamps: list[Stamp] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)  # where the rows of each stamp begin

    def begin(self, stamp: Stamp) -> None:
        """The rows that follow carry this stamp."""
        self.stamps.append(stamp)
        self.starts.append(len(self.values))

    def number_of(self, cell: bytes) -> int:
        """The index of the name that a cell holds."""
        number = self.numbers.get(cell)
        if number is None:
            name = cell.strip()
            number = self.numbers.get(name)
            if number is None:
                number = len(self.names)
                self.names.append(name.decode("utf-8", "replace"))
                self.numbers[name] = number
            self.numbers[cell] = number
        return number

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Everything held, as record batches; empty afterwards, but for the current stamp."""
        if not self.values:
            return
        lengths = np.diff([*self.starts, len(self.values)])
        stamps = self.stamps
        columns = [
            pa.array(np.repeat([stamp.attempt for stamp in stamps], lengths), pa.int32()),
            _repeated([stamp.step for stamp in stamps], lengths),
            _repeated([stamp.log_step for stamp in stamps], lengths),
            pa.DictionaryArray.from_arrays(
                pa.array(self.metrics, pa.int32()), pa.array(self.names, pa.string())
            ),
            pa.array(self.values, pa.float64()),
            _repeated([stamp.micros for stamp in stamps], lengths).view(TIMESTAMP),
        ]
        rows = pa.RecordBatch.from_arrays(columns, schema=METRIC_ROWS)
        for start in range(0, rows.num_rows, ROWS_A_BATCH):
            yield rows.slice(start, ROWS_A_BATCH)
        self.metrics, self.values = [], []
        self.stamps, self.starts = self.stamps[-1:], [0] * bool(self.stamps)


def _repeated(each: list[int | None], lengths: np.ndarray) -> pa.Array:
    """The number of each table for all of its rows."""
    numbers = np.array([number or 0 for number in each], np.int64)
    missing = np.array([number is None for number in each], np.bool_)
    return pa.array(np.repeat(numbers, lengths), mask=np.repeat(missing, lengths))


@dataclass(slots=True)
class OpenTable:
    """A table that is being read."""

    line: int  # of its `Stats (i/n):`
    number: int
    of: int
    values: int = 0
    rows: int = 0
    other_lines: int = 0  # in a row, without one of the table
    broken: bool = False  # the last row does not end in a bar
    plain: bool | None = None  # rows are drawn with | and not with │


@dataclass(frozen=True, slots=True)
class RowResult:
    """What a row gave beside values."""

    broken: bool
    unreadable: tuple[str, ...]  # cells that should be a number and are not


_GOOD = RowResult(False, ())


def is_row(body: bytes, table: OpenTable) -> bool:
    """Is this line a row of the table, or the rest of a row that another line broke into?"""
    if body.startswith(BAR):
        return True
    if body.startswith(_PLAIN_BAR):
        return table.plain is not False
    return table.broken and BAR in body


def edge_of(body: bytes, table: OpenTable) -> str | None:
    """`bottom` for the line that ends a table, `inner` for another line of its frame."""
    if body.startswith(_BOTTOM):
        return "bottom"
    if body.startswith(_EDGES):
        return "inner"
    if body.startswith((b"+=", b"+-")) and not body.strip().strip(b"+=-"):
        return "bottom" if table.rows and body.startswith(b"+=") else "inner"
    return None


def read_row(body: bytes, table: OpenTable, columns: MetricColumns) -> RowResult:
    """Append a row's pairs to the columns; only cells with a bar on both sides count."""
    table.plain = BAR not in body
    cells = body.split(_PLAIN_BAR if table.plain else BAR)
    first, last = cells[0], cells[-1]
    inner = cells[1:-1]
    table.broken = bool(last.strip())
    table.rows += 1
    if first.strip() and inner and _number(inner[0]) is not None:
        inner = inner[1:]  # the value of a name that the break took away
    try:
        values = list(map(float, inner[1::2]))
        metrics = list(map(columns.numbers.__getitem__, inner[: 2 * len(values) : 2]))
    except (ValueError, KeyError):
        return _read_slowly(inner, table, columns)
    columns.values += values
    columns.metrics += metrics
    table.values += len(values)
    return RowResult(True, ()) if table.broken else _GOOD


def _read_slowly(inner: list[bytes], table: OpenTable, columns: MetricColumns) -> RowResult:
    """A row with names that are new, empty cells or values that are no numbers."""
    unreadable = []
    for name, cell in zip(inner[::2], inner[1::2], strict=False):
        if not name.strip():
            continue
        value = _number(cell)
        if value is None:
            unreadable.append(f"{_shown(name)} = {_shown(cell)}")
            continue
        columns.metrics.append(columns.number_of(name))
        columns.values.append(value)
        table.values += 1
    return RowResult(table.broken, tuple(unreadable))


def _number(cell: bytes) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return None


def _shown(cell: bytes) -> str:
    return cell.strip().decode("utf-8", "replace")[:80]
