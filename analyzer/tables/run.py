"""A run as its judges see it: series, configuration, events, facts, and read-only SQL."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import date
from functools import cached_property
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa

from analyzer.errors import UsageError
from analyzer.tables.catalog import AREAL, Catalog
from analyzer.tables.derive import Deriver, columns_of
from analyzer.tables.evidence import Absent, ConfigValue, Event, Response, Series
from analyzer.tables.facts import FactFinder
from analyzer.tables.manifest import Manifest
from analyzer.tables.metric_files import Defect
from analyzer.tables.responses import chosen_responses, response_text
from analyzer.tables.schema import TABLES

_CANON = """
    CREATE TEMP TABLE canon AS
    SELECT names.canonical AS name, standing.step,
        arg_min(names.bias + names.scale * standing.value, names.rank) AS value,
        arg_min(names.spelled, names.rank) AS metric,
        arg_min(standing.source, names.rank) AS source,
        arg_min(standing.attempt, names.rank) AS attempt
    FROM standing JOIN names ON names.metric = standing.metric
    GROUP BY names.canonical, standing.step ORDER BY name, step
"""

_REDUCE = """
    SELECT CAST(median(step) AS BIGINT), median(value) FROM (
        SELECT step, value, ntile($buckets) OVER (ORDER BY step) AS bucket FROM canon
        WHERE name = $name AND isfinite(value)
    ) GROUP BY bucket ORDER BY bucket
"""


class RunTables:
    """One run's tables behind DuckDB views `metrics`, `standing`, `events`, `config`, `samples`."""

    def __init__(
        self,
        manifest: Manifest,
        catalog: Catalog,
        tables: dict[str, Path | pa.Table],
        con: duckdb.DuckDBPyConnection | None = None,
        root: Path | None = None,
    ) -> None:
        """`con`: a connection of the caller's own; everything made on it is temporary.

        `root`: the run's directory, where the texts of sampled responses lie.
        """
        self.root = root
        self.home: Path | None = None  # where an ingested run's tables lie
        self.manifest = manifest
        self.catalog = catalog
        self.others: dict[str, tuple[RunTables, ...]] = {}
        self._con = con or duckdb.connect(config={"threads": 2})
        for name, table in {**empty_tables(), **tables}.items():
            if isinstance(table, Path):
                quoted = str(table).replace("'", "''")
                self._con.execute(f"CREATE TEMP VIEW {name} AS FROM read_parquet('{quoted}')")
            else:
                self._con.register(name, table)
        self._con.execute("CREATE TEMP VIEW standing AS FROM metrics WHERE NOT superseded")
        if con is None:
            self._wall_in(tables)
        self._digits = {source.path: source.digits for source in manifest.sources}
        self._series: dict[str, Series | Absent] = {}
        self._reduced: dict[tuple[str, int], Series] = {}
        self._deriver = Deriver(self._con, catalog, self)
        self._facts = FactFinder(self._con, catalog, self)

    def _wall_in(self, tables: dict[str, Path | pa.Table]) -> None:
        """Queries, a user's too, read this run's tables and no other file."""
        homes = sorted({str(t.parent) for t in tables.values() if isinstance(t, Path)})
        self._con.execute("SET allowed_directories = $homes", {"homes": homes})
        self._con.execute("SET enable_external_access = false")
        self._con.execute("SET lock_configuration = true")

    @classmethod
    def open(
        cls, home: Path, manifest: Manifest, catalog: Catalog, root: Path | None = None
    ) -> RunTables:
        """The tables of an ingested run, which lies at `root`."""
        tables = {name: home / f"{name}.parquet" for name in TABLES}
        run = cls(manifest, catalog, {**tables}, root=root)
        run.home = home
        return run

    @property
    def first_step(self) -> int:
        """The first logged step; 0 where there is none."""
        return self.manifest.first_step or 0

    @property
    def last_step(self) -> int:
        """The last logged step; -1 where there is none."""
        return -1 if self.manifest.last_step is None else self.manifest.last_step

    @cached_property
    def resumes(self) -> Sequence[int]:
        """Steps at which a later attempt took up."""
        return tuple(attempt.first_step for attempt in self.manifest.attempts[1:])

    @cached_property
    def attempt_ends(self) -> Sequence[int]:
        """The last step of each attempt that another one followed."""
        return tuple(attempt.last_step for attempt in self.manifest.attempts[:-1])

    @cached_property
    def has_config(self) -> bool:
        """Is there a configuration?"""
        return bool(self._config)

    @property
    def has_samples(self) -> bool:
        """Is there a dump of rollouts or completions?"""
        return self.manifest.samples > 0

    @property
    def has_text_log(self) -> bool:
        """Is there a text that events are read from: a log, or a tracker's copy of the console?"""
        logs = any(source.format.endswith("-text") for source in self.manifest.sources)
        return logs or bool(self.events())

    # --- series ---------------------------------------------------------------------------

    def series(self, name: str, buckets: int | None = None) -> Series | Absent:
        """A series by canonical, derived or queried name, or why there is none.

        `buckets` reduces a longer one to that many equal-count medians of its finite values.
        """
        if name not in self._series:
            self._series[name] = self._find(name)
        found = self._series[name]
        if buckets is None or isinstance(found, Absent) or len(found) <= buckets:
            return found
        if (name, buckets) not in self._reduced:
            self._reduced[name, buckets] = self._reduce(found, buckets)
        return self._reduced[name, buckets]

    def _find(self, name: str) -> Series | Absent:
        if name in self.catalog.derived:
            return self._deriver.series(name)
        if name not in self.catalog.metrics:
            return Absent(name, f"{name} is not a series of the catalog")
        span = self._logged.get(name)
        if span is None:
            self._series[name] = Absent(name, f"{name} is not logged in this run")
            return self._deriver.in_its_place(self.catalog.metrics[name])
        first, last = span
        return Series(
            name,
            self.catalog.unit(name),
            str(self._canon["metric"][first]),
            self._canon["step"][first:last],
            self._canon["value"][first:last],
            "logged",
            min(self._digits.get(str(s), 17) for s in set(self._canon["source"][first:last])),
            self._caveats(name),
        )

    @cached_property
    def _canon(self) -> dict[str, np.ndarray]:
        """All canonical rows that stand, sorted by name and step; read once."""
        names = self.catalog.resolve(self.logged_names, self.manifest.framework)
        columns = {
            "metric": pa.array(list(names), pa.string()),
            "canonical": pa.array([a.canonical for a in names.values()], pa.string()),
            "rank": pa.array([a.rank for a in names.values()], pa.int64()),
            "scale": pa.array([a.scale for a in names.values()], pa.float64()),
            "bias": pa.array([a.offset for a in names.values()], pa.float64()),
            "spelled": pa.array([a.spelled(name) for name, a in names.items()], pa.string()),
        }
        self._con.register("names", pa.table(columns))
        self._con.execute(_CANON)
        return columns_of(
            self._con, "SELECT name, step, value, metric, source FROM canon ORDER BY name, step"
        )

    @cached_property
    def logged_names(self) -> tuple[str, ...]:
        """All names that stand in this run, as logged."""
        rows = self._con.execute("SELECT DISTINCT metric FROM standing ORDER BY metric").fetchall()
        return tuple(name for (name,) in rows)

    @cached_property
    def _logged(self) -> dict[str, tuple[int, int]]:
        """Canonical name → its rows in `_canon`."""
        names = self._canon["name"]
        if not len(names):
            return {}
        starts = np.flatnonzero(np.r_[True, names[1:] != names[:-1]])
        ends = np.r_[starts[1:], len(names)]
        return {str(names[a]): (int(a), int(b)) for a, b in zip(starts, ends, strict=True)}

    def _reduce(self, series: Series, buckets: int) -> Series:
        if series.kind != "logged":
            self._deriver.store(series)  # a logged one is there
        rows = columns_of(self._con, _REDUCE, {"name": series.name, "buckets": buckets})
        steps, values = rows.values()
        return Series(
            series.name,
            series.unit,
            series.logged_as,
            steps.astype(np.int64),
            values.astype(np.float64),
            series.kind,
            series.digits,
            series.caveats,
        )

    def _caveats(self, name: str) -> tuple[str, ...]:
        """Known defects of this name that this run's configuration does not rule out."""
        return tuple(
            defect.text
            for defect in self._defects.get(name, ())
            if not self._is_mended(defect.fixed)
            and all(self._may_be(key, wanted) for key, wanted in defect.only_if.items())
        )

    @cached_property
    def _defects(self) -> Mapping[str, tuple[Defect, ...]]:
        vocabulary = self.catalog.vocabularies.get(self.framework or "")
        return vocabulary.defects if vocabulary else {}

    @cached_property
    def build_since(self) -> date | None:
        """The day since which builds write names that this run logged; None: it dates nothing."""
        builds = self.catalog.builds
        days = [build.since for name in self.logged_names if (build := builds.get(name))]
        return max(days, default=None)

    def _is_mended(self, fixed: date | None) -> bool:
        return fixed is not None and self.build_since is not None and self.build_since >= fixed

    def _may_be(self, key: str, wanted: object) -> bool:
        value = self.config(key)
        if value is None:
            return not self.has_config
        if isinstance(wanted, dict):
            return re.search(str(wanted["match"]), str(value.value)) is not None
        return value.value == wanted

    # --- configuration, events, facts -----------------------------------------------------

    @cached_property
    def _config(self) -> dict[str, ConfigValue]:
        rows = self._con.execute("SELECT key, value, source FROM config ORDER BY key").fetchall()
        return {key: ConfigValue(json.loads(value), source) for key, value, source in rows}

    @cached_property
    def _sections(self) -> frozenset[str]:
        return frozenset(key[:dot] for key in self._config for dot, c in enumerate(key) if c == ".")

    @cached_property
    def framework(self) -> str | None:
        """Who trained: "areal", "verl" …; None where the logs do not tell."""
        return self.manifest.framework.lower() if self.manifest.framework else None

    def key_of(self, key: str) -> str | None:
        """What this run's framework calls AReaL's `key`; None where it has no such thing."""
        if self.framework == AREAL:
            return key
        dialect = self.catalog.dialects.get(self.framework or "")
        return dialect.name_of(key) if dialect else None

    def config(self, key: str) -> ConfigValue | None:
        """The value of AReaL's dotted `key`, by the name that this run's framework has for it.

        A section that has keys is an object of them.
        """
        if self.framework in (AREAL, None):
            return self._own_config(key)
        dialect = self.catalog.dialects.get(self.framework or "")
        found = dialect.find(key, self._own_config) if dialect else None
        if found is None or found.key:
            return found
        name = self.key_of(key) or key
        return ConfigValue(found.value, found.source, name, name)

    def _own_config(self, key: str) -> ConfigValue | None:
        if key in self._config:
            return self._config[key]
        if key not in self._sections:
            return None
        inside = {k[len(key) + 1 :]: v for k, v in self._config.items() if k.startswith(key + ".")}
        source = next(iter(inside.values())).source
        return ConfigValue({k: v.value for k, v in inside.items()}, source)

    def config_items(self) -> Sequence[tuple[str, ConfigValue]]:
        """All keys and values."""
        return tuple(self._config.items())

    @cached_property
    def _events(self) -> tuple[Event, ...]:
        rows = self._con.execute(
            "SELECT attempt, step, wall_time, level, logger, message, repeats, line, source "
            "FROM events ORDER BY source, line"
        ).fetchall()
        return tuple(Event(*row) for row in rows)

    def events(self) -> Sequence[Event]:
        """What the text logs said, in file order."""
        return self._events

    def responses(
        self, where: str, order: str, one_per: str, steps: tuple[int, int] | None
    ) -> Sequence[Response]:
        """Up to five sampled responses of training that fit, of those at these steps."""
        return chosen_responses(self._con, where, order, one_per, steps)

    def response_text(self, path: str, offset: int) -> tuple[str, str] | None:
        """Prompt and completion of a response; None where there is none now."""
        return None if self.root is None else response_text(self.root, self.manifest, path, offset)

    def fact(self, name: str) -> tuple[float, str] | None:
        """A number of the run and where it comes from; None where no way leads to it."""
        return self._facts.fact(name)

    def other(self, role: str) -> RunTables | None:
        """The first run that was given in a role; None where none was."""
        return next(iter(self.others.get(role, ())), None)

    def fact_unit(self, name: str) -> str:
        """The unit of a fact; "1" where it is not known."""
        return self.catalog.facts[name].unit if name in self.catalog.facts else "1"

    # --- SQL ------------------------------------------------------------------------------

    def sql(self, query: str) -> pa.Table:
        """The answer of a query over the views. Raises UsageError with DuckDB's words."""
        return select(self._con, query)


def select(con: duckdb.DuckDBPyConnection, query: str) -> pa.Table:
    """The answer of one SELECT. Raises UsageError with DuckDB's words, or if it is none."""
    try:
        statements = con.extract_statements(query)
        if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
            raise UsageError("one SELECT is allowed, nothing that writes")
        return con.sql(query).to_arrow_table()
    except duckdb.Error as cause:
        raise UsageError(f"SQL: {str(cause).splitlines()[0]}") from cause


def empty_tables() -> dict[str, pa.Table]:
    """Tables without rows."""
    return {name: schema.empty_table() for name, schema in TABLES.items()}
