"""Numbers of a run: from its configuration, its series or its manifest, best way first."""

from __future__ import annotations

import math
import re
from typing import Protocol

import duckdb
import numpy as np

from analyzer.tables.catalog import AREAL, Catalog
from analyzer.tables.derive import names_in
from analyzer.tables.evidence import Absent, ConfigValue, Series
from analyzer.tables.manifest import Manifest
from analyzer.tables.metric_files import FactSource
from analyzer.tables.vocabulary import ANY


class Known(Protocol):
    """Where a run's evidence comes from."""

    manifest: Manifest

    @property
    def has_config(self) -> bool: ...

    def series(self, name: str, buckets: int | None = None) -> Series | Absent: ...

    @property
    def framework(self) -> str | None: ...

    def config(self, key: str) -> ConfigValue | None: ...


class FactFinder:
    """Finds and remembers the facts of one run."""

    def __init__(self, con: duckdb.DuckDBPyConnection, catalog: Catalog, known: Known) -> None:
        self._con = con
        self._catalog = catalog
        self._known = known
        self._found: dict[str, tuple[float, str] | None] = {}

    def fact(self, name: str) -> tuple[float, str] | None:
        """The value and where it comes from; None where no way leads to it."""
        if name not in self._found:
            self._found[name] = None  # a fact that needs itself is not to be had
            spec = self._catalog.facts.get(name)
            ways = spec.ways if spec else ()
            answers = (answer for way in ways if (answer := self._follow(way)) is not None)
            self._found[name] = next(answers, None)
        return self._found[name]

    def _follow(self, way: FactSource) -> tuple[float, str] | None:
        if way.frameworks and (self._known.framework or ANY) not in way.frameworks:
            return None
        if way.config is not None:
            return self._from_config(way.config, way.match) or self._by_default(way)
        if way.product is not None:
            return self._from_product(way.product)
        if way.series is not None:
            return self._from_series(way)
        if way.manifest is not None:
            value = manifest_fact(self._known.manifest, way.manifest, self._first_step)
            return None if value is None else (value, "the log")
        return self._from_expression(way.expression or "", way.because)

    @property
    def _first_step(self) -> int:
        """What the framework calls its first step."""
        vocabulary = self._catalog.vocabularies.get(self._known.framework or "")
        return vocabulary.first_step if vocabulary else 0

    def _from_config(self, key: str, match: str | None) -> tuple[float, str] | None:
        value = self._known.config(key)
        if value is None:
            return None
        shown = value.shown or key
        if match is not None:
            found = re.search(match, str(value.value))
            return (float(found[1]), f"{shown} = {value.value}") if found else None
        if isinstance(value.value, bool) or not isinstance(value.value, int | float):
            return None
        return float(value.value), f"{shown} = {value.value:g}"

    def _by_default(self, way: FactSource) -> tuple[float, str] | None:
        """The framework's own value of a key that this run's configuration leaves out."""
        assert way.config is not None
        if way.default is None or not self._known.has_config or self._known.framework != AREAL:
            return None
        found = self._known.config(way.config)
        if found is not None and found.value is not None:
            return None
        return way.default, f"{way.config} = {way.default:g}, its default"

    def _from_product(self, keys: tuple[str, ...]) -> tuple[float, str] | None:
        parts = [self._from_config(key, None) for key in keys]
        known = [part for part in parts if part is not None]
        if len(known) < len(keys):
            return None
        return math.prod(value for value, _ in known), " × ".join(text for _, text in known)

    def _from_series(self, way: FactSource) -> tuple[float, str] | None:
        names, _ = names_in(way.series or "")
        parts = [self._known.series(name) for name in names]
        present = [part for part in parts if isinstance(part, Series)]
        if len(present) < len(parts):
            return None
        steps = present[0].steps
        for part in present[1:]:
            steps = np.intersect1d(steps, part.steps, assume_unique=True)
        columns = {p.name: p.values[np.searchsorted(p.steps, steps)] for p in present}
        values = _product(way.series or "", columns)
        values = values[np.isfinite(values)]
        if not len(values):
            return None
        value = _reduced(values, way.reduce or "median")
        text = f"{way.reduce or 'median'} of {way.series}"
        return (float(round(value)) if way.round else float(value)), text

    def _from_expression(self, expression: str, because: str) -> tuple[float, str] | None:
        _, names = names_in(expression)
        facts = {name: self.fact(name) for name in names}
        known = {name: fact for name, fact in facts.items() if fact is not None}
        if len(known) < len(facts):
            return None
        text = re.sub(r"\$(\w+)", lambda m: f"CAST('{known[m[1]][0]!r}' AS DOUBLE)", expression)
        ((value,),) = self._con.execute(f"SELECT CAST({text} AS DOUBLE)").fetchall()
        if value is None:
            return None
        shown = re.sub(r"\$(\w+)", lambda m: f"{known[m[1]][0]:g}", expression)
        return float(value), because or shown


def manifest_fact(manifest: Manifest, name: str, first_step: int) -> float | None:
    """total_steps, steps_per_epoch, attempts, steps logged, and progress, their planned share.

    `first_step`: the number of the first step, from which progress counts.
    """
    if name == "progress":
        if not manifest.total_steps or manifest.last_step is None:
            return None
        return (manifest.last_step + 1 - first_step) / manifest.total_steps
    if name == "attempts":
        return float(len(manifest.attempts))
    if name == "steps":
        return float(manifest.step_count)
    value = manifest.total_steps if name == "total_steps" else manifest.steps_per_epoch
    return None if value is None else float(value)


def _product(expression: str, columns: dict[str, np.ndarray]) -> np.ndarray:
    """A series, or two of them multiplied: all that facts need."""
    factors = [columns[name.strip()] for name in expression.split("*")]
    return np.asarray(np.prod(factors, axis=0), dtype=np.float64)


def _reduced(values: np.ndarray, how: str) -> float:
    if how == "early":
        return float(np.median(values[: max(5, len(values) // 10)]))
    if how == "last":
        return float(values[-1])
    if how == "median":
        return float(np.median(values))
    return float(values.min() if how == "min" else values.max())
