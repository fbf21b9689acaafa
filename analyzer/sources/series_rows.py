"""Metric rows of a tracker, gathered to record batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa

from analyzer.sources.records import METRIC_ROWS, TIMESTAMP, Chunk

ROWS_A_BATCH = 1 << 16


class SeriesRows:
    """Values come entry by entry: what was logged together, at one step and time.

    A step that goes back begins a new attempt.
    """

    def __init__(self, attempt: int = 0, last: int | None = None) -> None:
        self.names: list[str] = []
        self.attempt = attempt
        self.last = last  # step of the last entry
        self._numbers: dict[str, int] = {}
        self._steps: dict[int, int] = {}  # metric → its last step in this attempt
        self._metrics: list[int] = []
        self._values: list[float] = []
        self._entries: list[tuple[int, int, int | None, int]] = []  # attempt, step, micros, rows

    def number(self, name: str) -> int:
        """The number of a metric, which add() takes."""
        found = self._numbers.get(name)
        if found is None:
            found = self._numbers[name] = len(self.names)
            self.names.append(name)
        return found

    def add(
        self, step: int, micros: int | None, metrics: list[int], values: Iterable[float]
    ) -> None:
        """One entry: numbers of metrics and their values; micros since 1970."""
        if self.last is not None and step < self.last:
            self.attempt += 1
        self.last = step
        self._metrics += metrics
        self._values += values
        self._entries.append((self.attempt, step, micros, len(metrics)))

    def add_one(self, step: int, micros: int | None, metric: int, value: float) -> None:
        """One value of a tracker that writes each by itself: a metric's own step goes back."""
        if step < self._steps.get(metric, step):
            self.attempt += 1
            self._steps = {}
        self._steps[metric] = step
        self._metrics.append(metric)
        self._values.append(value)
        self._entries.append((self.attempt, step, micros, 1))

    def full(self) -> Iterator[Chunk]:
        """Batches when there are enough rows for one."""
        if len(self._values) >= ROWS_A_BATCH:
            yield from self.rest()

    def rest(self) -> Iterator[Chunk]:
        """All rows that were not handed on yet, as batches."""
        if self._values:
            table = self._batch()
            for start in range(0, table.num_rows, ROWS_A_BATCH):
                yield Chunk("metrics", table.slice(start, ROWS_A_BATCH))
        self._metrics, self._values, self._entries = [], [], []

    def _batch(self) -> pa.RecordBatch:
        attempts, steps, micros, counts = zip(*self._entries, strict=True)
        times = np.array([0 if m is None else m for m in micros], np.int64)
        unknown = np.array([m is None for m in micros], np.bool_)
        numbers = pa.array(np.array(self._metrics, np.int32))
        columns = [
            pa.array(np.repeat(np.array(attempts, np.int32), counts)),
            pa.array(np.repeat(np.array(steps, np.int64), counts)),
            pa.nulls(len(self._values), pa.int64()),
            pa.DictionaryArray.from_arrays(numbers, pa.array(self.names, pa.string())),
            pa.array(np.array(self._values, np.float64)),
            pa.array(np.repeat(times, counts), mask=np.repeat(unknown, counts)).view(TIMESTAMP),
        ]
        return pa.RecordBatch.from_arrays(columns, schema=METRIC_ROWS)
