"""MLflow's two stores: a folder a run below `mlruns`, and an SQLite database of all runs."""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from analyzer.errors import Location, RunError
from analyzer.sources.config_rows import config_chunks, flattened, framework_of
from analyzer.sources.opening import unreadable
from analyzer.sources.records import Chunk, Facts, Format, Kin, Note, Reading, Resume, Role
from analyzer.sources.series_rows import SeriesRows
from analyzer.sources.sqlite_file import MAGIC, opened, tables_of

_DESCRIPTION = "meta.yaml"
_FINISHED, _FAILED = (3, "FINISHED"), (4, 5, "FAILED", "KILLED")


class MlflowFolder:
    """The reader of a run's folder: a file a metric, a line a value."""

    format = "mlflow"
    describes = "MLflow run (mlruns/<experiment>/<run>/)"
    digits = 17
    appends = False
    role: Role = "tracker"
    reads = "metrics, parameters, whether the run finished"
    leaves = "tags, artifacts, models, system metrics"
    tested = "MLflow 3.17"

    def sniff_folder(self, folder: Path, names: frozenset[str]) -> bool:
        """Does it hold a description, metrics and parameters?"""
        return {_DESCRIPTION, "metrics", "params"} <= names

    def kin(self, path: Path) -> Kin:
        """The run's id and name. Raises RunError."""
        run = _description(path)
        name = str(run.get("run_name") or run.get("run_id") or path.name)
        experiment = _description(path.parent).get("name") if _described(path.parent) else None
        full = f"{experiment}/{name}" if experiment else name
        return Kin(frozenset([str(run.get("run_id") or path.name), full]), label=full)

    def read(self, path: Path, resume: Resume | None = None) -> Reading:
        """Metric rows in the order of their times, then the parameters. Raises RunError."""
        reading = Reading(iter(()), facts=_facts(_description(path).get("status"), {}))
        reading.chunks = _folder_chunks(path, reading)
        return reading


def _folder_chunks(path: Path, reading: Reading) -> Iterator[Chunk]:
    """The values of all metrics in the order of their times: a restart is seen in all at once."""
    rows = SeriesRows()
    found: list[tuple[int, int, int, float]] = []  # milliseconds, step, metric, value
    bad = 0
    for file in sorted(p for p in (path / "metrics").rglob("*") if p.is_file()):
        metric = file.relative_to(path / "metrics").as_posix()
        if metric.startswith("system/"):
            continue
        number = rows.number(metric)
        for line in _lines(file):
            try:
                milliseconds, value, *rest = line.split()
                found.append((int(milliseconds), int(rest[0]) if rest else 0, number, float(value)))
            except ValueError:
                bad += 1
    found.sort(key=lambda row: row[0])
    for time, step, number, logged in found:
        rows.add_one(step, time * 1000, number, logged)
        yield from rows.full()
    yield from rows.rest()
    params = {
        file.relative_to(path / "params").as_posix(): file.read_text("utf-8", "replace")
        for file in sorted((path / "params").rglob("*"))
        if file.is_file()
    }
    yield from config_chunks(flattened({key: _value(text) for key, text in params.items()}))
    reading.facts = _facts(_description(path).get("status"), params)
    if bad:
        reading.notes.append(Note("bad-line", f"{bad} lines of metric files cannot be read"))


def _lines(file: Path) -> Iterator[str]:
    try:
        with file.open(encoding="utf-8", errors="replace") as handle:
            yield from handle
    except OSError as cause:
        raise unreadable(file, cause) from cause


class MlflowDatabase:
    """The reader of MLflow's databases, and of one run in them."""

    format = "mlflow-sqlite"
    describes = "MLflow database (mlflow.db)"
    digits = 17
    appends = False
    role: Role = "tracker"
    reads = "metrics, parameters, whether the run finished, of each run that is not deleted"
    leaves = "tags, artifacts, models, traces, system metrics"
    tested = "MLflow 3.17"

    def __init__(self, run: str = "") -> None:
        self._run = run

    def sniff(self, path: Path, head: bytes) -> bool:
        """Is it a database with MLflow's tables?"""
        if not head.startswith(MAGIC):
            return False
        tables = tables_of(path)
        named = "run_uuid" in tables.get("runs", frozenset())
        return named and {"key", "value", "step", "run_uuid"} <= tables.get("metrics", frozenset())

    def runs(self, path: Path) -> tuple[str, ...]:
        """The runs by name, by id where several have one name. Raises RunError."""
        with opened(path) as con:
            return tuple(_ids(con))

    def of(self, run: str) -> Format:
        """The reader of this run alone."""
        return MlflowDatabase(run)

    def kin(self, path: Path) -> Kin:
        """The run's id and name. Raises RunError."""
        with opened(path) as con:
            run_id = _ids(con)[self._run]
            query = (
                "SELECT experiments.name, runs.name FROM runs "
                "LEFT JOIN experiments USING (experiment_id) WHERE run_uuid = ?"
            )
            ((experiment, name),) = con.execute(query, [run_id]).fetchall()
        full = f"{experiment}/{name or run_id}" if experiment else str(name or run_id)
        return Kin(frozenset([run_id, full]), label=full)

    def read(self, path: Path, resume: Resume | None = None) -> Reading:
        """Metric rows in the order of their times, then the parameters. Raises RunError."""
        reading = Reading(iter(()))
        reading.chunks = self._chunks(path, reading)
        return reading

    def _chunks(self, path: Path, reading: Reading) -> Iterator[Chunk]:
        rows = SeriesRows()
        with opened(path) as con:
            run_id = _ids(con)[self._run]
            query = (
                "SELECT key, step, timestamp, value, is_nan FROM metrics WHERE run_uuid = ? "
                "AND key NOT LIKE 'system/%' ORDER BY timestamp, step, key"
            )
            for key, step, milliseconds, value, is_nan in con.execute(query, [run_id]):
                number = math.nan if is_nan else float(value)
                rows.add_one(int(step), int(milliseconds) * 1000, rows.number(key), number)
                yield from rows.full()
            yield from rows.rest()
            query = "SELECT key, value FROM params WHERE run_uuid = ? ORDER BY key"
            params = dict(con.execute(query, [run_id]).fetchall())
            query = "SELECT status FROM runs WHERE run_uuid = ?"
            ((status,),) = con.execute(query, [run_id]).fetchall()
        yield from config_chunks(flattened({key: _value(text) for key, text in params.items()}))
        reading.facts = _facts(status, params)


def _ids(con: sqlite3.Connection) -> dict[str, str]:
    """Name → id of each run that is not deleted."""
    query = "SELECT name, run_uuid FROM runs WHERE lifecycle_stage = 'active' ORDER BY start_time"
    found = con.execute(query).fetchall()
    names = [name for name, _ in found]
    return {name if name and names.count(name) == 1 else run_id: run_id for name, run_id in found}


def _facts(status: Any, params: dict[str, str]) -> Facts:
    finished = True if status in _FINISHED else False if status in _FAILED else None
    return Facts(
        framework=framework_of({key.partition(".")[0]: None for key in params}), finished=finished
    )


def _value(text: str) -> Any:
    """MLflow keeps parameters as texts; numbers and truth values are read as such."""
    try:
        return json.loads({"True": "true", "False": "false", "None": "null"}.get(text, text))
    except ValueError:
        return text


def _described(folder: Path) -> bool:
    return (folder / _DESCRIPTION).is_file()


def _description(folder: Path) -> dict[str, Any]:
    path = folder / _DESCRIPTION
    try:
        found = YAML(typ="safe").load(path.read_bytes())
    except OSError as cause:
        raise unreadable(path, cause) from cause
    except YAMLError as cause:
        what = str(cause).strip().partition("\n")[0]
        raise RunError(f"no valid YAML: {what}", at=Location(str(path))) from cause
    return found if isinstance(found, dict) else {}
