"""The box table that AReaL prints for a step, row by row into columns of values.

A row holds name and value pairs, four as AReaL has it, fewer in the last rows:
`│ rollout/reward │  3.6361e-01 │ timeperf/save │  9.7809e-04 │ … │`
"""

from __future__ import annotations

from dataclasses import dataclass

from analyzer.sources.metric_columns import MetricColumns

BAR = "│".encode()
INNER_EDGE = "├".encode()
_PLAIN_BAR = b"|"
_EDGES = (INNER_EDGE, "╒".encode(), "╞".encode(), "╘".encode())
_BOTTOM = "╘".encode()


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
