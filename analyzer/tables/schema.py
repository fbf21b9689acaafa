"""The columns of the tables that the store keeps (docs/contracts.md)."""

from __future__ import annotations

import pyarrow as pa

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
