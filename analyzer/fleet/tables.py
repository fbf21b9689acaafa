"""The fleet as Parquet tables, `runs` and `findings`, made anew from the rows that are there."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from analyzer.fleet.rows import FLEET, Entry, load_all, store_error
from analyzer.tables.parts import quoted
from analyzer.tables.run import select

RUNS = pa.schema(
    [
        pa.field("path", pa.string(), nullable=False),
        pa.field("run", pa.string(), nullable=False),
        pa.field("verdict", pa.string(), nullable=False),
        pa.field("framework", pa.string()),
        pa.field("framework_version", pa.string()),
        pa.field("steps", pa.int64()),
        pa.field("first_step", pa.int64()),
        pa.field("last_step", pa.int64()),
        pa.field("started", pa.timestamp("us", tz="UTC")),
        pa.field("ended", pa.timestamp("us", tz="UTC")),
        pa.field("findings", pa.int32()),
        pa.field("first_finding", pa.string()),
        pa.field("onset", pa.int64()),
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


_AS_WRITTEN = ("rule", "severity", "confidence", "headline", "end", "caused_by", "fingerprint")


def write_tables(store: Path) -> None:
    """Write runs.parquet and findings.parquet. Raises RunError when that cannot be done."""
    # Writing Parquet is slow to import, and other commands need none of it.
    import pyarrow.parquet as pq

    entries = list(load_all(store))
    runs = pa.Table.from_pylist([_run(entry) for entry in entries], RUNS)
    findings = pa.Table.from_pylist([row for e in entries for row in _findings(e)], FINDINGS)
    home = store / FLEET
    try:
        home.mkdir(parents=True, exist_ok=True)
        for name, table in (("runs", runs), ("findings", findings)):
            temporary = home / f"{name}.parquet.tmp"
            pq.write_table(table, temporary, compression="zstd")
            temporary.replace(home / f"{name}.parquet")
    except OSError as cause:
        raise store_error(home, cause) from cause


def _run(entry: Entry) -> dict[str, Any]:
    return {**asdict(entry.row), **_times(entry.row.started, entry.row.ended)}


def _times(started: str | None, ended: str | None) -> dict[str, Any]:
    return {
        name: datetime.fromisoformat(text) if text else None
        for name, text in (("started", started), ("ended", ended))
    }


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
    return (folder / "runs.parquet").is_file() and (folder / "findings.parquet").is_file()


def answer(folder: Path, query: str) -> pa.Table:
    """The answer of one SELECT over `runs` and `findings`. Raises UsageError."""
    with duckdb.connect() as con:
        for name in ("runs", "findings"):
            file = quoted(folder.resolve() / f"{name}.parquet")
            con.execute(f"CREATE VIEW {name} AS SELECT * FROM read_parquet('{file}')")
        con.execute("SET allowed_directories = $homes", {"homes": [str(folder.resolve())]})
        con.execute("SET enable_external_access = false")
        con.execute("SET lock_configuration = true")
        return select(con, query)
