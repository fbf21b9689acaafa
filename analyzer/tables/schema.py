"""The columns of the tables that the store keeps (docs/contracts.md)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from analyzer.sources.records import TIMESTAMP

DICTIONARY = pa.dictionary(pa.int32(), pa.string())

METRICS = pa.schema(
    [
        pa.field("run", DICTIONARY, nullable=False),
        pa.field("attempt", pa.int32(), nullable=False),
        pa.field("step", pa.int64(), nullable=False),
        pa.field("log_step", pa.int64()),
        pa.field("metric", DICTIONARY, nullable=False),
        pa.field("canonical", DICTIONARY),
        pa.field("value", pa.float64(), nullable=False),
        pa.field("wall_time", TIMESTAMP),
        pa.field("source", DICTIONARY, nullable=False),
        pa.field("superseded", pa.bool_(), nullable=False),
    ]
)

EVENTS = pa.schema(
    [
        pa.field("run", DICTIONARY, nullable=False),
        pa.field("attempt", pa.int32(), nullable=False),
        pa.field("step", pa.int64()),
        pa.field("wall_time", TIMESTAMP),
        pa.field("level", pa.string(), nullable=False),
        pa.field("logger", pa.string(), nullable=False),
        pa.field("message", pa.string(), nullable=False),
        pa.field("repeats", pa.int32(), nullable=False),
        pa.field("source", DICTIONARY, nullable=False),
        pa.field("line", pa.int64(), nullable=False),
    ]
)

CONFIG = pa.schema(
    [
        pa.field("run", DICTIONARY, nullable=False),
        pa.field("key", pa.string(), nullable=False),
        pa.field("value", pa.string(), nullable=False),
        pa.field("source", DICTIONARY, nullable=False),
    ]
)

TABLES = {"metrics": METRICS, "events": EVENTS, "config": CONFIG}


def parquet_writer(path: Path, schema: pa.Schema) -> pq.ParquetWriter:
    """A writer with the encodings that were measured to be smallest and fastest for such rows."""
    encodings: dict[str, str] = {}
    for name, encoding in (("value", "BYTE_STREAM_SPLIT"), ("step", "DELTA_BINARY_PACKED")):
        if name in schema.names and not pa.types.is_string(schema.field(name).type):
            encodings[name] = encoding
    options: dict[str, Any] = {"compression": "zstd"}
    dictionary = [f.name for f in schema if pa.types.is_dictionary(f.type)]
    return pq.ParquetWriter(
        path, schema, use_dictionary=dictionary, column_encoding=encodings, **options
    )
