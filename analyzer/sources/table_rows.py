"""A table with a step column, as Arrow gives it, into metric rows: CSV and Parquet alike."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from analyzer.sources.metric_columns import ROWS_A_BATCH
from analyzer.sources.records import METRIC_ROWS, TIMESTAMP, Note
from analyzer.sources.step_table import Attempts, Layout, layout_of, micros, number, whole

Floats = npt.NDArray[np.float64]
_MOST_NAMED = 5

# What W&B calls a column of a chart that is exported: `run - metric`, and its extremes.
_CHART = re.compile(r"(?P<run>.+?) - (?P<metric>.+?)(?P<edge>__M(?:IN|AX))?")


@dataclass
class StepTable:
    """The columns of a table and what is remembered between stretches of its rows."""

    names: list[str]
    layout: Layout
    attempts: Attempts = field(default_factory=Attempts)
    without_step: int = 0
    broken: int = 0  # rows with another number of cells than the header
    texts: set[str] = field(default_factory=set)  # columns in which something is no number

    @classmethod
    def of(cls, header: Sequence[str]) -> StepTable | None:
        """The table with this header; None when it has no step or holds samples."""
        names = _plain_names(header)
        layout = layout_of(names)
        return cls(names, layout) if layout else None

    def rows(self, table: pa.Table) -> Iterator[pa.RecordBatch]:
        """Metric rows of the next rows of the table, whose columns are in the header's order."""
        steps = self._steps(table)
        keep = [row for row, step in enumerate(steps) if step is not None]
        self.without_step += len(steps) - len(keep)
        metrics = [
            place
            for place, name in enumerate(self.names)
            if name and name not in self.layout.aside and "__M" not in name[-5:]
        ]
        if not keep or not metrics:
            return
        values, there = self._matrix(table, metrics)
        values, there = values[keep], there[keep]
        chosen = [int(step) for step in steps if step is not None]
        attempts = self._attempts(chosen, there, self._column(table, self.layout.run), keep)
        times = self._times(table, keep)
        row, column = np.nonzero(there)
        batch = pa.RecordBatch.from_arrays(
            [
                pa.array(np.array(attempts, np.int32)[row]),
                pa.array(np.array(chosen, np.int64)[row]),
                pa.nulls(len(row), pa.int64()),
                pa.DictionaryArray.from_arrays(
                    pa.array(column.astype(np.int32)),
                    pa.array([self.names[place] for place in metrics], pa.string()),
                ),
                pa.array(values[row, column]),
                pa.array([times[r] for r in row], pa.int64()).view(TIMESTAMP),
            ],
            schema=METRIC_ROWS,
        )
        for start in range(0, batch.num_rows, ROWS_A_BATCH):
            yield batch.slice(start, ROWS_A_BATCH)

    def notes(self, line: int) -> list[Note]:
        """What was left out, as of the line behind what was read."""
        notes = []
        if self.without_step:
            detail = f"{self.without_step} rows name no step and are left out"
            notes.append(Note("row-without-step", detail, line=line))
        if self.broken:
            detail = f"{self.broken} rows have another number of cells than the header"
            notes.append(Note("bad-record", detail, line=line))
        if self.texts:
            names = sorted(self.texts)
            shown = ", ".join(names[:_MOST_NAMED]) + (" …" if len(names) > _MOST_NAMED else "")
            detail = f"columns hold text, which is left out: {shown}"
            notes.append(Note("not-a-number", detail, line=line))
        return notes

    def to_json(self) -> dict[str, Any]:
        """All that a later reading must know, but for the header."""
        return {
            "attempts": self.attempts.to_json(),
            "without_step": self.without_step,
            "broken": self.broken,
            "texts": sorted(self.texts),
        }

    def restore(self, data: dict[str, Any]) -> None:
        """Remember what to_json() wrote."""
        self.attempts = Attempts.from_json(data["attempts"])
        self.without_step, self.broken = data["without_step"], data["broken"]
        self.texts = set(data["texts"])

    def _column(self, table: pa.Table, name: str | None) -> list[Any] | None:
        return None if name is None else table.column(self.names.index(name)).to_pylist()

    def _steps(self, table: pa.Table) -> list[int | None]:
        return [whole(value) for value in self._column(table, self.layout.step) or []]

    def _times(self, table: pa.Table, keep: list[int]) -> list[int | None]:
        column = self._column(table, self.layout.time)
        return [micros(column[row]) if column else None for row in keep]

    def _matrix(self, table: pa.Table, metrics: list[int]) -> tuple[Floats, npt.NDArray[np.bool_]]:
        """The values of all rows and metrics, and which of them are there."""
        values = np.zeros((table.num_rows, len(metrics)))
        there = np.zeros(values.shape, np.bool_)
        for place, index in enumerate(metrics):
            column = self._numbers(table.column(index), self.names[index])
            there[:, place] = np.asarray(pc.is_valid(column))
            values[:, place] = np.asarray(pc.fill_null(column, 0.0))
        return values, there

    def _numbers(self, column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
        """A column as numbers; what is none becomes null, and the column's name is kept."""
        if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
            column = pc.utf8_trim_whitespace(column)
            column = pc.if_else(pc.equal(column, ""), None, column)
        try:
            return column.cast(pa.float64())
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            cells = column.to_pylist()
        found = [number(cell) for cell in cells]
        if any(f is None and cell is not None for f, cell in zip(found, cells, strict=True)):
            self.texts.add(name)
        return pa.chunked_array([pa.array(found, pa.float64())])

    def _attempts(
        self,
        steps: list[int],
        there: npt.NDArray[np.bool_],
        runs: list[Any] | None,
        keep: list[int],
    ) -> list[int]:
        found = []
        for place, (step, row) in enumerate(zip(steps, there, strict=True)):
            run = None if runs is None or runs[keep[place]] is None else str(runs[keep[place]])
            names = [str(column) for column in np.flatnonzero(row)]
            found.append(self.attempts.place(step, names, run or None))
        return found


def _plain_names(header: Sequence[str]) -> list[str]:
    """The columns' names; those of an exported chart without the run before them."""
    names = [name.strip() for name in header]
    charts = [_CHART.fullmatch(name) for name in names]
    runs = {chart["run"] for chart in charts if chart}
    others = [name for name, chart in zip(names, charts, strict=True) if not chart]
    if len(runs) != 1 or len(others) != 1:
        return names
    return [
        f"{chart['metric']}{chart['edge'] or ''}" if chart else name
        for name, chart in zip(names, charts, strict=True)
    ]
