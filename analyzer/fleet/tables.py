"""The fleet as Parquet tables, made anew from the rows that are there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from analyzer.fleet.rows import FLEET, Entry, Row, load_all, store_error, temporary_beside
from analyzer.fleet.summaries import SUMMARY
from analyzer.fleet.views import define
from analyzer.tables.parts import quoted
from analyzer.tables.run import select

RUNS = pa.schema(
    [
        pa.field("path", pa.string(), nullable=False),
        pa.field("run", pa.string(), nullable=False),
        pa.field("verdict", pa.string(), nullable=False),
        pa.field("framework", pa.string()),
        pa.field("framework_version", pa.string()),
        pa.field("model", pa.string()),
        pa.field("task", pa.string()),
        pa.field("gpus", pa.int32()),
        pa.field("steps", pa.int64()),
        pa.field("first_step", pa.int64()),
        pa.field("last_step", pa.int64()),
        pa.field("started", pa.timestamp("us", tz="UTC")),
        pa.field("ended", pa.timestamp("us", tz="UTC")),
        pa.field("week", pa.date32()),  # its Monday, by UTC
        pa.field("hours", pa.float64()),
        pa.field("gpu_hours", pa.float64()),
        pa.field("findings", pa.int32()),
        pa.field("first_finding", pa.string()),
        pa.field("onset", pa.int64()),
        pa.field("hours_after_onset", pa.float64()),
        pa.field("gpu_hours_after_onset", pa.float64()),
        pa.field("checks", pa.int32()),
        pa.field("not_checked", pa.int32()),
        pa.field("tool_version", pa.string()),
        pa.field("rules_sha256", pa.string()),
        pa.field("error", pa.string()),
        pa.field("defect", pa.bool_(), nullable=False),
    ]
)

FINDINGS = pa.schema(
    [
        pa.field("path", pa.string(), nullable=False),
        pa.field("run", pa.string(), nullable=False),
        pa.field("place", pa.int32(), nullable=False),  # in the order of the run's findings, from 0
        pa.field("rule", pa.string(), nullable=False),
        pa.field("severity", pa.string(), nullable=False),
        pa.field("confidence", pa.float64(), nullable=False),
        pa.field("headline", pa.string(), nullable=False),
        pa.field("onset", pa.int64()),
        pa.field("onset_low", pa.int64()),
        pa.field("onset_high", pa.int64()),
        pa.field("end", pa.int64()),
        pa.field("caused_by", pa.list_(pa.string()), nullable=False),
        pa.field("suppressed", pa.bool_(), nullable=False),
        pa.field("fingerprint", pa.string(), nullable=False),
    ]
)

CHECKS = pa.schema(
    [
        pa.field("path", pa.string(), nullable=False),
        pa.field("run", pa.string(), nullable=False),
        pa.field("rule", pa.string(), nullable=False),
        pa.field("state", pa.string(), nullable=False),  # fired, clear, not-checked, error
    ]
)

CONFIG = pa.schema(
    [
        pa.field("path", pa.string(), nullable=False),
        pa.field("run", pa.string(), nullable=False),
        pa.field("key", pa.string(), nullable=False),
        pa.field("value", pa.string(), nullable=False),  # JSON text
    ]
)

METRICS = pa.schema([FINDINGS.field("path"), FINDINGS.field("run"), *SUMMARY])

TABLES = ("runs", "findings", "checks", "config", "metrics")

_AS_WRITTEN = ("rule", "severity", "confidence", "headline", "end", "caused_by", "fingerprint")


def write_tables(store: Path) -> None:
    """Write the tables, each to a Parquet file. Raises RunError when that cannot be done."""
    # Writing Parquet is slow to import, and other commands need none of it.
    import pyarrow.parquet as pq

    home = store / FLEET
    try:
        home.mkdir(parents=True, exist_ok=True)
        for name, table in tables_of(list(load_all(store))).items():
            path = home / f"{name}.parquet"
            temporary = temporary_beside(path)
            pq.write_table(table, temporary, compression="zstd")
            temporary.replace(path)
    except OSError as cause:
        raise store_error(home, cause) from cause


def tables_of(entries: Sequence[Entry]) -> dict[str, pa.Table]:
    """The fleet's tables, by the names in TABLES."""
    tables = (
        pa.Table.from_pylist([_run(entry.row) for entry in entries], RUNS),
        pa.Table.from_pylist([row for e in entries for row in _findings(e)], FINDINGS),
        _joined(CHECKS, ((entry.row, _checks(entry)) for entry in entries)),
        _joined(CONFIG, ((entry.row, _config(entry)) for entry in entries)),
        _joined(METRICS, ((entry.row, entry.metrics) for entry in entries)),
    )
    return dict(zip(TABLES, tables, strict=True))


def _joined(schema: pa.Schema, parts: Iterable[tuple[Row, dict[str, list[Any]]]]) -> pa.Table:
    """One table of the columns of all runs, each with the run's path and name before them."""
    tables = [schema.empty_table()]
    for row, columns in parts:
        count = len(next(iter(columns.values()), ()))
        if count:
            which = {"path": [row.path] * count, "run": [row.run] * count}
            tables.append(pa.Table.from_pydict({**which, **columns}, schema))
    return pa.concat_tables(tables).combine_chunks()


def _checks(entry: Entry) -> dict[str, list[Any]]:
    checks = (entry.document or {}).get("checks", ())
    return {name: [check[name] for check in checks] for name in ("rule", "state")}


def _config(entry: Entry) -> dict[str, list[Any]]:
    return {"key": list(entry.config), "value": list(entry.config.values())}


def _run(row: Row) -> dict[str, Any]:
    started, ended = (datetime.fromisoformat(t) if t else None for t in (row.started, row.ended))
    day = started.astimezone(UTC).date() if started else None
    return {
        **asdict(row),
        "started": started,
        "ended": ended,
        "week": day and day - timedelta(days=day.weekday()),
        "gpu_hours": _product(row.hours, row.gpus),
        "gpu_hours_after_onset": _product(row.hours_after_onset, row.gpus),
    }


def _product(hours: float | None, gpus: int | None) -> float | None:
    return None if hours is None or gpus is None else hours * gpus


def _findings(entry: Entry) -> Iterable[dict[str, Any]]:
    for place, finding in enumerate((entry.document or {}).get("findings", ())):
        onset = finding["onset"] or {}
        yield {
            "path": entry.row.path,
            "run": entry.row.run,
            "place": place,
            "onset": onset.get("step"),
            "onset_low": onset.get("low"),
            "onset_high": onset.get("high"),
            "suppressed": finding["suppressed"] is not None,
            **{name: finding[name] for name in _AS_WRITTEN},
        }


def is_fleet(folder: Path) -> bool:
    """Is this the folder that holds the tables?"""
    return all((folder / f"{name}.parquet").is_file() for name in TABLES)


def answer(folder: Path, query: str) -> pa.Table:
    """The answer of one SELECT over tables and views. Raises UsageError."""
    with opened(folder) as con:
        return select(con, query)


@contextmanager
def opened(folder: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection that sees the fleet's tables and views, and no other file."""
    with duckdb.connect() as con:
        for name in TABLES:
            file = quoted(folder.resolve() / f"{name}.parquet")
            con.execute(f"CREATE VIEW {name} AS SELECT * FROM read_parquet('{file}')")
        define(con)
        con.execute("SET allowed_directories = $homes", {"homes": [str(folder.resolve())]})
        con.execute("SET enable_external_access = false")
        con.execute("SET lock_configuration = true")
        yield con
