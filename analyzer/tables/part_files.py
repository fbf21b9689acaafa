"""The rows of a source as they were read: Parquet files in parts/, one a table."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pyarrow as pa

from analyzer.sources.records import SCHEMAS, Reading

PARTS = "parts"


def write_parts(reading: Reading, folder: Path, part: str) -> dict[str, int]:
    """Stream a reading into one Parquet file a table; how many rows each has."""
    import pyarrow.parquet as pq  # slow to import; see _update

    folder.mkdir(exist_ok=True)
    rows = dict.fromkeys(SCHEMAS, 0)
    writers: dict[str, pq.ParquetWriter] = {}
    try:
        for chunk in reading:
            if chunk.table not in writers:
                path = folder / f"{part}.{chunk.table}.parquet.tmp"
                schema = SCHEMAS[chunk.table]
                writers[chunk.table] = pq.ParquetWriter(path, schema, compression="zstd")
            writers[chunk.table].write_batch(cast(pa.RecordBatch, chunk.rows))
            rows[chunk.table] += chunk.rows.num_rows
    finally:
        for writer in writers.values():
            writer.close()
    for table in writers:
        path = folder / f"{part}.{table}.parquet"
        path.with_name(path.name + ".tmp").replace(path)
    return rows
