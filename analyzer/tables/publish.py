"""From the parts of all sources to the tables and the manifest of a run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from analyzer import __version__
from analyzer.sources.records import Facts, Note, RunFiles
from analyzer.tables.catalog import Catalog
from analyzer.tables.clock import align_clocks
from analyzer.tables.manifest import (
    Manifest,
    NoteRecord,
    SkippedRecord,
    SourceRecord,
)
from analyzer.tables.merge import Merged, merge, rows_of
from analyzer.tables.near_names import near_names
from analyzer.tables.parts import by_weight, in_order, metric_parts, quoted, told_by_log
from analyzer.tables.samples import sample_rows, sampled
from analyzer.tables.schema import CONFIG, EVENTS, TABLES
from analyzer.tables.state import (
    SCHEMA_VERSION,
    SourceState,
    StoreState,
    joined,
    save_state,
    table_sizes,
)

_ISO = "%Y-%m-%dT%H:%M:%SZ"


def publish(
    files: RunFiles, sources: tuple[SourceState, ...], home: Path, catalog: Catalog
) -> None:
    """Write metrics, events, config and samples, then run.json."""
    run = _run_id(files)
    with duckdb.connect() as con:
        con.execute("SET threads = 2")
        _load_raw(con, sources, home)
        names = [name for (name,) in con.execute("SELECT DISTINCT metric FROM raw").fetchall()]
        framework = _facts(sources).framework or catalog.framework_of(names)
        aliases = _alias_table(catalog, names, framework)
        con.register("aliases", aliases)
        clock_notes = align_clocks(con)
        merged = merge(con)
        _write(home, "metrics", rows_of(con, run))
        _write(home, "events", _event_rows(con, sources, home, run))
        _write(home, "config", _config_rows(con, sources, home, run))
        _write(home, "samples", sample_rows(con, sources, home, run, catalog))
        notes = [*clock_notes, *merged.notes]
        if framework is None:
            notes += _strange_names(con, names, aliases, catalog)
        manifest = _manifest(con, home, files, sources, merged, notes, catalog, framework)
    save_state(
        home,
        StoreState(
            SCHEMA_VERSION,
            __version__,
            catalog.sha256,
            table_sizes(home),
            manifest.skipped,
            sources,
            manifest,
        ),
    )


def _run_id(files: RunFiles) -> str:
    return files.name.replace(" / ", "/")


def _alias_table(catalog: Catalog, names: Sequence[str], framework: str | None) -> pa.Table:
    known = catalog.resolve(names, framework)
    return pa.table(
        {"metric": list(known), "canonical": [alias.canonical for alias in known.values()]},
        schema=pa.schema([("metric", pa.string()), ("canonical", pa.string())]),
    )


def _strange_names(
    con: duckdb.DuckDBPyConnection, names: Sequence[str], aliases: pa.Table, catalog: Catalog
) -> list[tuple[Note, str]]:
    known = set(aliases["metric"].to_pylist())
    series = set(aliases["canonical"].to_pylist())
    note = near_names([name for name in names if name not in known], series, catalog)
    if note is None:
        return []
    sources = con.execute("SELECT DISTINCT source FROM raw ORDER BY source").fetchall()
    return [(note, ", ".join(source for (source,) in sources))]


def _load_raw(con: duckdb.DuckDBPyConnection, sources: Sequence[SourceState], home: Path) -> None:
    """The table `raw`: all metric rows of all sources, with each source's own attempts."""
    con.execute(
        "CREATE TEMP TABLE raw (source VARCHAR, file VARCHAR, digits INTEGER, attempt INTEGER, "
        "step BIGINT, log_step BIGINT, metric VARCHAR, value DOUBLE, wall_time TIMESTAMPTZ, "
        "utc BOOLEAN, place BIGINT)"
    )
    last: dict[str, tuple[int, int]] = {}  # tracker → its last attempt and step so far
    for source, origin in in_order(sources, home):
        parts = metric_parts(source, home)
        shift = _attempt_shift(con, parts[0][0], last.get(origin))
        for path, rows in parts:
            _insert(con, source, origin, path, rows, shift)
        ((attempt, step),) = con.execute(
            "SELECT attempt, max(step) FROM raw WHERE source = $origin GROUP BY attempt "
            "ORDER BY attempt DESC LIMIT 1",
            {"origin": origin},
        ).fetchall()
        last[origin] = (attempt, step)


def _insert(
    con: duckdb.DuckDBPyConnection,
    source: SourceState,
    origin: str,
    path: Path,
    rows: int,
    shift: int,
) -> None:
    """Add the first `rows` rows of a part; `place` goes on counting."""
    con.execute(
        "INSERT INTO raw SELECT $origin, $file, $digits, attempt + $shift, step, log_step, metric, "
        "value, wall_time, $utc, (SELECT count(*) FROM raw) + row_number() OVER () "
        f"FROM (SELECT * FROM read_parquet('{quoted(path)}') LIMIT {rows})",
        {
            "origin": origin,
            "file": source.path,
            "digits": source.digits,
            "shift": shift,
            "utc": source.facts.has_utc,
        },
    )


def _attempt_shift(
    con: duckdb.DuckDBPyConnection, path: Path, earlier: tuple[int, int] | None
) -> int:
    """By how much a file's attempts are later ones than those of the tracker's files before."""
    if earlier is None:
        return 0
    ((first,),) = con.execute(
        f"SELECT min(step) FROM read_parquet('{quoted(path)}') WHERE attempt = 0"
    ).fetchall()
    attempt, last_step = earlier
    goes_back = first is not None and first <= last_step
    return attempt + 1 if goes_back else attempt


def _write(home: Path, table: str, rows: pa.RecordBatchReader | pa.Table) -> None:
    schema = TABLES[table]
    path = home / f"{table}.parquet"
    temporary = home / f"{table}.parquet.tmp"
    with parquet_writer(temporary, schema) as writer:
        batches = rows if isinstance(rows, pa.RecordBatchReader) else rows.to_reader()
        for batch in batches:
            if batch.num_rows:
                # One row group a batch of up to 122,880 rows: what DuckDB reads in parallel.
                writer.write_table(pa.Table.from_batches([batch]).cast(schema))
    temporary.replace(path)


def _event_rows(
    con: duckdb.DuckDBPyConnection, sources: Sequence[SourceState], home: Path, run: str
) -> pa.Table:
    parts = [
        pq.read_table(path)
        .slice(0, events)
        .append_column("source", pa.array([source.path] * events))
        for source in told_by_log(sources)
        for name, _, events in source.parts
        if events and (path := home / "parts" / f"{name}.events.parquet").exists()
    ]
    if not parts:
        return EVENTS.empty_table()
    con.register("all_events", pa.concat_tables(parts))
    return con.sql(
        "SELECT $run AS run, attempt, step, wall_time - to_seconds(coalesce((SELECT seconds FROM "
        "offsets WHERE offsets.file = source), 0)) AS wall_time, level, logger, message, repeats, "
        "source, line FROM all_events ORDER BY source, line",
        params={"run": run},
    ).to_arrow_table()


def _config_rows(
    con: duckdb.DuckDBPyConnection, sources: Sequence[SourceState], home: Path, run: str
) -> pa.Table:
    """Configuration keys; where two sources have a key, the one of most weight counts."""
    tables = []
    for weight, source in enumerate(by_weight(sources)):
        for part, (name, _, _) in enumerate(source.parts):
            path = home / "parts" / f"{name}.config.parquet"
            if path.exists():
                rows = pq.read_table(path)
                rows = rows.append_column("source", pa.array([source.path] * len(rows)))
                order = [weight * 1_000_000 + part] * len(rows)  # a later part is a newer reading
                tables.append(rows.append_column("weight", pa.array(order, pa.int64())))
    if not tables:
        return CONFIG.empty_table()
    con.register("all_config", pa.concat_tables(tables))
    return con.sql(
        "SELECT $run AS run, key, arg_max(value, weight) AS value, arg_max(source, weight) AS "
        "source FROM all_config GROUP BY key ORDER BY key",
        params={"run": run},
    ).to_arrow_table()


def _manifest(
    con: duckdb.DuckDBPyConnection,
    home: Path,
    files: RunFiles,
    sources: tuple[SourceState, ...],
    merged: Merged,
    found: list[tuple[Note, str]],
    catalog: Catalog,
    framework: str | None,
) -> Manifest:
    first, last, steps, metrics = con.execute(
        "SELECT min(step), max(step), count(DISTINCT step), count(DISTINCT metric) FROM rows"
    ).fetchall()[0]
    dumps = sampled(con, home)
    if not steps:
        first, last, steps = dumps.first, dumps.last, dumps.steps
    started, ended = _times(con, home)
    notes = [(note, source.path) for source in sources for note in source.notes]
    facts = _facts(sources)
    return Manifest(
        run=_run_id(files),
        framework=framework,
        framework_version=facts.framework_version or _dated(con, catalog),
        first_step=first,
        last_step=last,
        step_count=steps,
        total_steps=facts.total_steps,
        steps_per_epoch=facts.steps_per_epoch,
        finished=facts.finished,
        started=started,
        ended=ended,
        metrics=metrics,
        samples=dumps.samples,
        attempts=merged.attempts,
        sources=tuple(_source_record(source) for source in sources),
        skipped=tuple(SkippedRecord(s.relative, s.reason) for s in files.skipped),
        notes=tuple(
            NoteRecord(note.kind, note.detail, _steps(note), source, note.line)
            for note, source in [*notes, *found]
        ),
    )


def _dated(con: duckdb.DuckDBPyConnection, catalog: Catalog) -> str | None:
    """What the metric names say of the build, where the log names no version."""
    logged = con.execute("SELECT DISTINCT metric FROM rows").fetchall()
    days = [build.since for (name,) in logged if (build := catalog.builds.get(name))]
    return f"of {max(days)} or later, by its metric names" if days else None


def _times(con: duckdb.DuckDBPyConnection, home: Path) -> tuple[str | None, str | None]:
    """First and last time of the run: of its steps, or of its events where it has no step."""
    events = f"read_parquet('{quoted(home / 'events.parquet')}')"
    ((started, ended),) = con.execute(
        f"""
        WITH steps AS (SELECT min(wall_time) AS a, max(wall_time) AS b FROM rows),
        events AS (SELECT min(wall_time) AS a, max(wall_time) AS b FROM {events})
        SELECT strftime(coalesce(steps.a, events.a), '{_ISO}'),
            strftime(coalesce(steps.b, events.b), '{_ISO}') FROM steps, events
        """
    ).fetchall()
    return started, ended


def _facts(sources: tuple[SourceState, ...]) -> Facts:
    """What the sources say of the run; where two differ, the one of most weight counts."""
    facts = Facts()
    for source in by_weight(sources):
        facts = joined(facts, source.facts)
    return facts


def _source_record(source: SourceState) -> SourceRecord:
    rows = sum(metrics for _, metrics, _ in source.parts)
    return SourceRecord(
        source.path,
        source.format,
        source.bytes,
        source.sha256,
        source.digits,
        rows,
        len(source.notes),
    )


def _steps(note: Note) -> tuple[int, int] | None:
    if note.first_step is None:
        return None
    return note.first_step, note.last_step if note.last_step is not None else note.first_step


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
