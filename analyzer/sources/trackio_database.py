"""trackio's databases: a file a project, with all of its runs."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from analyzer.sources.config_rows import config_chunks, flattened, framework_of
from analyzer.sources.json_values import numbers_in
from analyzer.sources.records import Chunk, Facts, Format, Kin, Note, Reading, Resume, Role
from analyzer.sources.series_rows import SeriesRows
from analyzer.sources.sqlite_file import MAGIC, opened, tables_of


class TrackioDatabase:
    """The reader of trackio's databases, and of one run in them."""

    format = "trackio"
    describes = "trackio database (<project>.db)"
    digits = 17
    appends = False
    role: Role = "tracker"
    reads = "metrics and configuration of each run"
    leaves = "system metrics, traces, media, alerts, artifacts"
    tested = "trackio 0.15, 0.43"

    def __init__(self, run: str = "") -> None:
        self._run = run

    def sniff(self, path: Path, head: bytes) -> bool:
        """Is it a database with trackio's table of metrics?"""
        if not head.startswith(MAGIC):
            return False
        return {"run_name", "step", "metrics"} <= tables_of(path).get("metrics", frozenset())

    def runs(self, path: Path) -> tuple[str, ...]:
        """The names of the runs, in the order of their first entries. Raises RunError."""
        with opened(path) as con:
            query = "SELECT run_name FROM metrics GROUP BY run_name ORDER BY min(id)"
            return tuple(str(name) for (name,) in con.execute(query))

    def of(self, run: str) -> Format:
        """The reader of this run alone."""
        return TrackioDatabase(run)

    def kin(self, path: Path) -> Kin:
        """The run's name, within the project that the file is named after."""
        full = f"{path.name.partition('.')[0]}/{self._run}"
        return Kin(frozenset([full]), label=full)

    def read(self, path: Path, resume: Resume | None = None) -> Reading:
        """Metric rows in the order of logging, then the configuration. Raises RunError."""
        reading = Reading(iter(()))
        reading.chunks = self._chunks(path, reading)
        return reading

    def _chunks(self, path: Path, reading: Reading) -> Iterator[Chunk]:
        rows = SeriesRows()
        left_out, has_utc = 0, True
        with opened(path) as con:
            query = "SELECT step, timestamp, metrics FROM metrics WHERE run_name = ? ORDER BY id"
            for step, time, text in con.execute(query, [self._run]):
                values, others = numbers_in(_loads(text))
                left_out += others
                micros, zoned = _micros(time)
                has_utc = has_utc and zoned
                rows.add(int(step), micros, [rows.number(n) for n in values], values.values())
                yield from rows.full()
            yield from rows.rest()
            config = _config(con, self._run)
        yield from config_chunks(flattened(config))
        reading.facts = Facts(framework=framework_of(config), has_utc=has_utc)
        if left_out:
            what = "values are no numbers (texts, media, tables …) and left out"
            reading.notes.append(Note("not-a-scalar", f"{left_out} {what}"))


def _config(con: sqlite3.Connection, run: str) -> dict[str, Any]:
    """The configuration that the run was begun with last; trackio's own keys begin with `_`."""
    has_table = con.execute("SELECT 1 FROM sqlite_master WHERE name = 'configs'").fetchall()
    if not has_table:
        return {}
    query = "SELECT config FROM configs WHERE run_name = ? ORDER BY id DESC LIMIT 1"
    found = con.execute(query, [run]).fetchall()
    config = _loads(found[0][0]) if found else {}
    return {key: value for key, value in config.items() if not key.startswith("_")}


def _loads(text: str | bytes) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _micros(time: str) -> tuple[int | None, bool]:
    """Microseconds since 1970, and whether the zone is known: version 0.15 wrote none."""
    try:
        moment = datetime.fromisoformat(time)
    except (TypeError, ValueError):
        return None, True
    zoned = moment.tzinfo is not None
    moment = moment if zoned else moment.replace(tzinfo=UTC)
    return round(moment.timestamp() * 1e6), zoned
