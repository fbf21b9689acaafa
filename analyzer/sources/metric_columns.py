"""Metric rows as they gather while a text is read, and the record batches that they become."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from analyzer.sources.records import METRIC_ROWS, TIMESTAMP

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

    def add(self, name: str, value: float) -> None:
        """One more value under the current stamp."""
        self.metrics.append(self.number_of(name.encode()))
        self.values.append(value)

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
