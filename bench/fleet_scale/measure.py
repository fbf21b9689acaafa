"""One measurement, in a process of its own, so that its peak memory is its own."""

from __future__ import annotations

import resource
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pyarrow as pa

from analyzer.fleet.associate import associate
from analyzer.fleet.rows import publish
from analyzer.fleet.summaries import Stored, summarized
from analyzer.fleet.tables import opened, write_tables
from analyzer.fleet.views import VIEWS
from analyzer.pipeline import Settings, judge_tables, open_rules
from analyzer.tables.catalog import AREAL, Catalog
from analyzer.tables.run import RunTables
from fleet_scale import made

THREADS = 2
Times = dict[str, float]


def slope_pass(store: Path, runs: int) -> Times:
    """One query over all files: the slope of each series of each run."""
    files = [str(made.home_of(store, i) / "metrics.parquet") for i in range(runs)]
    times: Times = {}
    with duckdb.connect(config={"threads": THREADS}) as con, _timed(times, "slopes"):
        query = (
            "SELECT filename, metric, regr_slope(value, step) FROM "
            f"read_parquet({files!r}, filename = true) GROUP BY ALL"
        )
        found = con.sql(query).to_arrow_table()
    if len(found) != runs * made.SERIES:
        raise SystemExit(f"{len(found)} slopes of {runs} runs")
    return {**times, "peak_mb": _peak_mb()}


def questions(store: Path, runs: int) -> Times:
    """Every metric of every run summarized, the fleet's tables written, all views answered."""
    rules = open_rules(Settings(store=store))
    ids = [rule.id for rule in rules.rulebook.rules]
    times: Times = {}
    with _timed(times, "summaries"), ThreadPoolExecutor(THREADS) as pool:
        parts = [range(first, runs, THREADS) for first in range(THREADS)]
        found = list(pool.map(lambda part: _summaries(store, part, rules.catalog), parts))
    with _timed(times, "rows"):
        for part, summaries in zip(parts, found, strict=True):
            for number, table in zip(part, summaries, strict=True):
                publish(store, made.entry_of(store, number, ids, table.to_pydict()))
    del found
    with _timed(times, "tables"):
        write_tables(store)
    with _timed(times, "views"), opened(store / "fleet") as con:
        for view in VIEWS:
            with _timed(times, f"view {view.name}"):
                con.sql(f"SELECT * FROM {view.name}").to_arrow_table()
    return {**times, "peak_mb": _peak_mb()}


def associations(store: Path) -> Times:
    """The settings of all runs against every finding."""
    times: Times = {}
    with _timed(times, "associate"):
        associate(store / "fleet", [], 0.05)
    return {**times, "peak_mb": _peak_mb()}


def judging(store: Path, runs: int) -> Times:
    """All rules on each of a few runs, as `analyzer batch` does after a log has been read."""
    rules = open_rules(Settings(store=store))
    times: Times = {}
    with _timed(times, "judging"):
        for number in range(runs):
            home = made.home_of(store, number)
            tables = RunTables.open(home, made.manifest_of(number), rules.catalog)
            judge_tables(tables, rules.rulebook, "en")
    return {**times, "rules": len(rules.rulebook.rules), "peak_mb": _peak_mb()}


def _summaries(store: Path, part: range, catalog: Catalog) -> list[pa.Table]:
    runs = (Stored(made.home_of(store, i), AREAL, 0, made.STEPS - 1) for i in part)
    return list(summarized(runs, catalog))


@contextmanager
def _timed(times: Times, name: str) -> Iterator[None]:
    """Seconds on the wall, and of all processors together."""
    wall, processors = time.perf_counter(), time.process_time()
    yield
    times[name] = time.perf_counter() - wall
    times[f"{name} cpu"] = time.process_time() - processors


def _peak_mb() -> float:
    """The most memory that this process ever had, in MB (Linux gives KiB)."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6
