"""Metrics as Parquet: a column for the step, a row a step."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from analyzer.errors import Location, RunError
from analyzer.sources.records import Chunk, Kin, Reading, Resume, Role
from analyzer.sources.table_rows import StepTable

_MAGIC = b"PAR1"
_ROWS = 1 << 12


class ParquetTable:
    """The reader of Parquet files with a step column, whatever the other columns are called."""

    format = "parquet"
    describes = "metrics as Parquet with a step column"
    digits = 17
    appends = False
    role: Role = "tracker"
    reads = "columns of numbers, a time and a run column; restarts"
    leaves = "columns of text and lists; rows without a step"
    tested = "files of pyarrow"

    def sniff(self, path: Path, head: bytes) -> bool:
        """Does the file's schema have a step and a number beside it?"""
        if not head.startswith(_MAGIC):
            return False
        import pyarrow.parquet as pq  # slow to import

        try:
            schema = pq.read_schema(path)
        except (OSError, pa.ArrowException):
            return False
        table = StepTable.of(schema.names)
        if table is None:
            return False
        numbers = [f.name for f in schema if _is_number(f.type)]
        return table.layout.step in numbers and len(set(numbers) - table.layout.aside) > 0

    def kin(self, path: Path) -> Kin:
        """Nothing: the folder says whose it is."""
        return Kin()

    def read(self, path: Path, resume: Resume | None = None) -> Reading:
        """Metric rows in file order. Raises RunError when the file cannot be read."""
        import pyarrow.parquet as pq  # slow to import

        try:
            file = pq.ParquetFile(path)
        except (OSError, pa.ArrowException) as cause:
            what = str(cause).partition("\n")[0]
            raise RunError(f"no valid Parquet: {what}", at=Location(str(path))) from cause
        columns = [f.name for f in file.schema_arrow if _is_plain(f.type)]
        table = StepTable.of(columns)
        if table is None:
            raise RunError("no step column", at=Location(str(path)))
        reading = Reading(iter(()))
        reading.chunks = _chunks(file.iter_batches(_ROWS, columns=columns), table, reading)
        return reading


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def _is_plain(kind: pa.DataType) -> bool:
    """Can a value of this type be a number, a time or a name?"""
    text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
    return bool(_is_number(kind) or text or pa.types.is_boolean(kind) or pa.types.is_null(kind))


def _chunks(
    batches: Iterator[pa.RecordBatch], table: StepTable, reading: Reading
) -> Iterator[Chunk]:
    for batch in batches:
        for rows in table.rows(pa.Table.from_batches([batch])):
            yield Chunk("metrics", rows)
    reading.notes = table.notes(1)
