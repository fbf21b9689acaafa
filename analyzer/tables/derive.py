"""Derived series: DuckDB expressions over canonical names, joined by step, and queries."""

from __future__ import annotations

import re
from typing import Any, Protocol

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from analyzer.tables.catalog import Catalog
from analyzer.tables.evidence import Absent, Series
from analyzer.tables.metric_files import Derived, Metric

NO_SAMPLES = "needs rollout or completion dumps, which this run does not have"
_OF_SAMPLES = re.compile(r"\b(?:FROM|JOIN)\s+samples\b", re.IGNORECASE)
_WORD = re.compile(r"(\$?)\b([A-Za-z_]\w*)\b(\s*\()?")
_QUOTED = re.compile(r"'(\w+)'")
_FACT = re.compile(r"\$(\w+)")


class Known(Protocol):
    """Where series and facts come from."""

    def series(self, name: str, buckets: int | None = None) -> Series | Absent: ...

    def fact(self, name: str) -> tuple[float, str] | None: ...

    @property
    def has_samples(self) -> bool: ...


def names_in(expression: str) -> tuple[list[str], list[str]]:
    """The series names and the $facts in an expression, in order, without repeats."""
    series: dict[str, None] = {}
    facts: dict[str, None] = {}
    for dollar, word, call in _WORD.findall(expression):
        if dollar:
            facts[word] = None
        elif not call:
            series[word] = None
    return list(series), list(facts)


def parts_of(derived: Derived) -> list[str]:
    """The names that a derived series may be computed from: in any expression, or its query."""
    queried = _QUOTED.findall(derived.sql or "")
    computed = [name for e in derived.expressions for name in names_in(e)[0]]
    return list(dict.fromkeys([*queried, *computed]))


def columns_of(
    con: duckdb.DuckDBPyConnection, query: str, parameters: dict[str, object] | None = None
) -> dict[str, npt.NDArray[Any]]:
    """The answer of a query as arrays, by Arrow: numpy's masked arrays cost 0.1 s to import."""
    table = con.sql(query, params=parameters or {}).to_arrow_table()
    return {name: table[name].to_numpy() for name in table.column_names}


class Deriver:
    """Computes derived series on one run's connection."""

    def __init__(self, con: duckdb.DuckDBPyConnection, catalog: Catalog, known: Known) -> None:
        self._con = con
        self._catalog = catalog
        self._known = known
        self._stored: set[str] = set()

    def series(self, name: str) -> Series | Absent:
        """The series of that name, or why it cannot be computed."""
        derived = self._catalog.derived[name]
        reasons = []
        for expression in derived.expressions:
            found = self._evaluated(derived, expression)
            if isinstance(found, Series):
                return found
            reasons.append(found.reason)
        if derived.sql is not None:
            return self._queried(derived, derived.sql)
        return Absent(name, f"{name} {reasons[0]}")

    def in_its_place(self, metric: Metric) -> Series | Absent:
        """What stands for a metric that is not logged, kept beside the logged ones."""
        for expression in metric.expressions:
            found = self._evaluated(metric, expression)
            if isinstance(found, Series):
                self.store(found)
                return found
        return Absent(metric.name, f"{metric.name} is not logged in this run")

    def _queried(self, derived: Derived, sql: str) -> Series | Absent:
        if _OF_SAMPLES.search(sql) and not self._known.has_samples:
            return Absent(derived.name, f"{derived.name} {NO_SAMPLES}")
        for name in _QUOTED.findall(sql):
            if name in self._catalog.metrics:
                self._known.series(name)  # so that what stands in its place is in `canon`
        facts = {name: self._known.fact(name) for name in names_in(sql)[1]}
        for name, fact in facts.items():
            if fact is None:
                return Absent(derived.name, f"{derived.name} needs {name}, which is not known")
        text = _FACT.sub(lambda m: _number((facts[m[1]] or (0.0, ""))[0]), sql)
        query = f"SELECT step, CAST(value AS DOUBLE) AS value FROM ({text}) ORDER BY step"
        steps, values = columns_of(self._con, query).values()
        if not len(steps):
            return Absent(derived.name, f"{derived.name} has no rows in this run")
        return Series(
            derived.name,
            derived.unit,
            derived.logged_as or "query",
            steps.astype(np.int64),
            values.astype(np.float64),
            "queried",
        )

    def _evaluated(self, derived: Derived | Metric, expression: str) -> Series | Absent:
        names, fact_names = names_in(expression)
        facts: dict[str, float] = {}
        for fact in fact_names:
            if (found := self._known.fact(fact)) is None:
                return Absent(derived.name, f"needs {fact}, which this run does not tell")
            facts[fact] = found[0]
        parts: list[Series] = []
        for name in names:
            part = self._known.series(name)
            if isinstance(part, Absent):
                return Absent(derived.name, f"needs {name}, which is not logged in this run")
            parts.append(part)
        return self._joined(derived, expression, parts, facts)

    def _joined(
        self,
        derived: Derived | Metric,
        expression: str,
        parts: list[Series],
        facts: dict[str, float],
    ) -> Series | Absent:
        steps = parts[0].steps
        for part in parts[1:]:
            steps = np.intersect1d(steps, part.steps, assume_unique=True)
        if not len(steps):
            return Absent(derived.name, "is never computable: its parts share no step")
        columns = {p.name: p.values[np.searchsorted(p.steps, steps)] for p in parts}
        self._con.register("parts", pa.table({"step": steps, **columns}))
        text = _WORD.sub(lambda m: _number(facts[m[2]]) if m[1] else m[0], expression)
        query = f"SELECT coalesce(CAST({text} AS DOUBLE), 'nan') AS value FROM parts"
        values = columns_of(self._con, query)["value"]
        self._con.unregister("parts")
        logged = _WORD.sub(lambda m: _spelled(m, facts, parts), expression)
        caveats = tuple(dict.fromkeys(c for part in parts for c in part.caveats))
        digits = min(part.digits for part in parts)
        return Series(derived.name, derived.unit, logged, steps, values, "derived", digits, caveats)

    def store(self, series: Series) -> None:
        """Put a derived series beside the logged ones, for queries over `canon`."""
        if series.name in self._stored:
            return
        self._stored.add(series.name)
        self._con.register("computed", pa.table({"step": series.steps, "value": series.values}))
        self._con.execute(
            "INSERT INTO canon SELECT $name, step, computed.value, $logged, NULL, attempt "
            "FROM computed LEFT JOIN (SELECT step, max(attempt) AS attempt FROM standing "
            "GROUP BY step) USING (step)",
            {"name": series.name, "logged": series.logged_as},
        )
        self._con.unregister("computed")


def _number(value: float) -> str:
    return f"CAST('{value!r}' AS DOUBLE)"


def _spelled(match: re.Match[str], facts: dict[str, float], parts: list[Series]) -> str:
    """An expression with logged names and numbers in the place of canonical names and facts."""
    if match[1]:
        return f"{facts[match[2]]:g}"
    logged = {part.name: part.logged_as for part in parts}
    return logged.get(match[2], match[2]) + (match[3] or "")
