"""The numbers of the log beside the same numbers recomputed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import duckdb
import numpy as np

from analyzer.findings.replayed import Compared
from analyzer.replay.judging.definitions import Corrected, corrected
from analyzer.replay.judging.recomputed import Batch
from analyzer.replay.judging.tolerance import tolerance
from analyzer.replay.parts import PUT_TOGETHER
from analyzer.tables.catalog import Catalog
from analyzer.tables.derive import Deriver, parts_of
from analyzer.tables.evidence import Absent, Series
from analyzer.tables.run import RunTables

# Statistics that depend on how the batch was dealt to ranks and micro-batches.
_BY_SPLIT = {
    "num_micro_batches",
    "rejected_fraction",
    "staleness",
    "staleness_theta",
    "staleness_max",
    "packed_tokens",
    "valid_tokens_in_loss",
    "untrained_tokens",
    "untrained_token_share",
}
_BY_RANK = _BY_SPLIT | {"no_eos_ratio", "no_eos_ratio_min", "no_eos_ratio_max", "n_tokens"}
_SPLIT_OPEN = "rows of equal length leave open"


@dataclass(frozen=True)
class Sides:
    """What the log says at a step and what the batch gives."""

    batch: Batch
    logged: Mapping[str, Series]
    """Canonical or derived name → its series."""
    corrected: Mapping[str, Corrected]
    catalog: Catalog
    tables: RunTables
    incomparable: str = ""
    """Why no number of the whole batch can be compared; empty where it can."""


def sides(batch: Batch, tables: RunTables) -> Sides:
    """Both sides of a step."""
    names = (*batch.values, *tables.catalog.derived)
    logged = {n: s for n in names if isinstance(s := tables.series(n), Series)}
    partial = Sides(batch, logged, corrected(batch), tables.catalog, tables)
    return Sides(
        batch, logged, partial.corrected, tables.catalog, tables, _why_incomparable(partial)
    )


def _why_incomparable(both: Sides) -> str:
    bundle = both.batch.bundle
    if not bundle.complete:
        return f"{bundle.rows} of {bundle.rows_of} rows were recorded, the log is about all of them"
    logged = at_step(both.logged.get("n_seqs"), both.batch.step)
    if logged is not None and abs(logged - bundle.rows) > 0.5:
        return (
            f"the log counts {logged:,.0f} sequences at this step and the recorded batch has "
            f"{bundle.rows:,}: a part of the step, as one data-parallel rank has it"
        )
    return ""


def at_step(series: Series | Absent | None, step: int) -> float | None:
    """The value logged at exactly that step."""
    if series is None or isinstance(series, Absent):
        return None
    place = int(np.searchsorted(series.steps, step))
    if place >= len(series) or series.steps[place] != step:
        return None
    return float(series.values[place])


def why_not_this(both: Sides, name: str) -> str:
    """Why this one number cannot be compared; empty where it can."""
    if both.incomparable:
        return both.incomparable
    notes = both.batch.found.notes
    if (ranks := _ranks(both)) and _rests_on(both, name, _BY_RANK):
        return f"it depends on how the batch was dealt to {ranks} data-parallel ranks"
    if any(note.startswith(_SPLIT_OPEN) for note in notes) and _rests_on(both, name, _BY_SPLIT):
        return "it depends on which rows were in a micro-batch together, which was not recorded"
    return ""


def _ranks(both: Sides) -> str:
    """How many ranks had a share, as far as configuration or recordings tell; "" for one."""
    found = both.tables.fact("padding_groups")
    # Without a configuration the number is read off the very series that is to be compared.
    if found is not None and " = " in found[1] and found[0] > 1.5:
        return f"{found[0]:.0f}"
    together = any(note.startswith(PUT_TOGETHER) for note in both.batch.bundle.notes)
    return "several" if together else ""


def _rests_on(both: Sides, name: str, names: set[str]) -> bool:
    derived = both.catalog.derived.get(name)
    if derived is None:
        return name in names
    return any(_rests_on(both, part, names) for part in parts_of(derived) if part != name)


def compare(both: Sides, name: str) -> Compared | None:
    """The number of that name on both sides; None where neither side has it."""
    series = both.logged.get(name)
    logged = at_step(series, both.batch.step)
    found = recomputed(both, name, {})
    if logged is None and found is None:
        return None
    allowed = _tolerance(both, name, logged, found, series)
    agrees = None
    if logged is not None and found is not None and not why_not_this(both, name):
        agrees = same(logged, found, allowed)
    value, by = promised(both, name)
    if value is not None and found is not None and same(value, found, allowed):
        value, by = None, ""
    return Compared(
        both.batch.step,
        name,
        series.logged_as if series is not None else both.batch.keys.get(name, name),
        both.catalog.unit(name),
        logged,
        found,
        allowed,
        agrees,
        value,
        by,
    )


def compare_all(both: Sides) -> tuple[Compared, ...]:
    """Every logged number that the batch gives too: first those that disagree, then by name."""
    names = sorted(name for name in both.batch.values if name in both.logged)
    found = [c for name in names if (c := compare(both, name)) is not None and c.logged is not None]
    return tuple(sorted(found, key=lambda c: (c.agrees is not False, c.metric)))


def recomputed(both: Sides, name: str, instead: Mapping[str, float]) -> float | None:
    """The number by AReaL's own definition, or with other values in the place of some."""
    values = {**both.batch.values, **instead}
    if name not in both.catalog.derived:
        return values.get(name)
    if both.catalog.derived[name].sql is not None:
        return None
    known = _Known(both, values)
    with duckdb.connect() as connection:
        series = Deriver(connection, both.catalog, known).series(name)
    return None if isinstance(series, Absent) else float(series.values[0])


def promised(both: Sides, name: str) -> tuple[float | None, str]:
    """The number by what its name promises, and how; None where AReaL computes just that."""
    if name in both.corrected:
        return both.corrected[name].value, both.corrected[name].by
    if name not in both.catalog.derived:
        return None, ""
    used = [part for part in parts_of(both.catalog.derived[name]) if part in both.corrected]
    if not used:
        return None, ""
    value = recomputed(both, name, {n: c.value for n, c in both.corrected.items()})
    return value, "; ".join(dict.fromkeys(both.corrected[part].by for part in used))


class _Known:
    """The values of one step as series, with the facts of the run."""

    has_samples = False  # a batch is judged without its run's dumps

    def __init__(self, both: Sides, values: Mapping[str, float]) -> None:
        self._both = both
        self._values = values

    def series(self, name: str, buckets: int | None = None) -> Series | Absent:
        value = self._values.get(name)
        if value is None and name in self._both.catalog.derived:
            value = recomputed(self._both, name, self._values)
        if value is None:
            return Absent(name, "not recomputed")
        step = np.array([self._both.batch.step], dtype=np.int64)
        return Series(name, "1", name, step, np.array([value], dtype=np.float64))

    def fact(self, name: str) -> tuple[float, str] | None:
        return self._both.tables.fact(name)


def _tolerance(
    both: Sides, name: str, logged: float | None, found: float | None, series: Series | None
) -> float:
    value = logged if logged is not None else found
    digits = series.digits if series is not None else 17
    batch = both.batch
    return tolerance(name, value or 0.0, digits, batch.dtypes, int(batch.mask.sum()))


def same(one: float, other: float, allowed: float) -> bool:
    """Whether two numbers are the same within a tolerance; NaN is NaN, an infinity itself."""
    if math.isnan(one) or math.isnan(other):
        return math.isnan(one) and math.isnan(other)
    if math.isinf(one) or math.isinf(other):
        return one == other
    return abs(one - other) <= allowed
