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

SAMPLES = pa.schema(
    [
        pa.field("run", DICTIONARY, nullable=False),
        pa.field("attempt", pa.int32(), nullable=False),
        pa.field("step", pa.int64()),
        pa.field("split", DICTIONARY, nullable=False),
        pa.field("task_id", pa.string()),
        pa.field("sample_idx", pa.int32()),
        pa.field("prompt_len", pa.int32()),
        pa.field("response_len", pa.int32()),
        pa.field("seq_len", pa.int32()),
        pa.field("reward", pa.float64()),
        pa.field("correct", pa.bool_()),
        pa.field("head_version", pa.int64()),
        pa.field("tail_version", pa.int64()),
        pa.field("staleness", pa.int64()),
        pa.field("truncated", pa.bool_()),
        pa.field("prompt_hash", pa.string(), nullable=False),
        pa.field("completion_hash", pa.string(), nullable=False),
        pa.field("text_path", pa.string(), nullable=False),
        pa.field("text_offset", pa.int64(), nullable=False),
        pa.field("text_bytes", pa.int64()),
        pa.field("chars", pa.int32(), nullable=False),
        pa.field("ended", pa.bool_(), nullable=False),
        pa.field("empty", pa.bool_(), nullable=False),
        pa.field("mid_sentence", pa.bool_(), nullable=False),
        pa.field("has_answer", pa.bool_(), nullable=False),
        pa.field("distinct_ngrams", pa.float64()),
        pa.field("repetition", pa.float64(), nullable=False),
        pa.field("loop_share", pa.float64(), nullable=False),
        pa.field("loops", pa.bool_(), nullable=False),
        pa.field("foreign_share", pa.float64()),
        pa.field("source", DICTIONARY, nullable=False),
    ]
)

TABLES = {"metrics": METRICS, "events": EVENTS, "config": CONFIG, "samples": SAMPLES}
