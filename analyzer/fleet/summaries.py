"""What is kept of each series of a run for questions over many runs: a few numbers a metric."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from analyzer.tables.catalog import Catalog
from analyzer.tables.parts import quoted
from analyzer.tables.vocabulary import Alias

SUMMARY = pa.schema(
    [
        pa.field("metric", pa.string(), nullable=False),  # canonical
        pa.field("logged_as", pa.string(), nullable=False),
        pa.field("n", pa.int64(), nullable=False),  # finite values
        pa.field("first", pa.float64(), nullable=False),
        pa.field("last", pa.float64(), nullable=False),
        pa.field("median", pa.float64(), nullable=False),
        pa.field("p05", pa.float64(), nullable=False),
        pa.field("p95", pa.float64(), nullable=False),
        pa.field("late", pa.float64()),  # mean over the last tenth of the run's steps
        pa.field("slope", pa.float64()),  # least squares, a step
    ]
)
_LARGEST = 1e150  # the square of what is larger is no finite number

# One file and one thread: sums are added in the order of the rows, the same each time. `isfinite`:
# the bounds in a Parquet file leave NaN out, and DuckDB drops a comparison that they make true.
_QUERY = """
    SELECT CAST(metric AS VARCHAR), count(*), arg_min(value, step), arg_max(value, step),
        quantile_cont(value, [0.05, 0.5, 0.95]), avg(value) FILTER (step > $early),
        regr_slope(value, step)
    FROM read_parquet('{file}')
    WHERE NOT superseded AND canonical IS NOT NULL AND isfinite(value) AND abs(value) <= {largest}
    GROUP BY metric
"""


@dataclass(frozen=True, slots=True)
class Stored:
    """Where a run's tables are, and what is needed to read them."""

    home: Path
    framework: str | None
    first_step: int
    last_step: int

    @property
    def early(self) -> int:
        """The last step before the run's last tenth, which has at least one step."""
        return self.last_step - max(1, (self.last_step - self.first_step + 1) // 10)


def summarized(runs: Iterable[Stored], catalog: Catalog) -> Iterator[pa.Table]:
    """For each run the rows of SUMMARY, by metric, of the values that stand and are finite.

    Where several names are logged for a metric, the one that rules prefer counts. Values are in
    the catalog's units.
    """
    with duckdb.connect(config={"threads": 1}) as con:
        for run in runs:
            yield _summarized(con, run, catalog)


def _summarized(con: duckdb.DuckDBPyConnection, run: Stored, catalog: Catalog) -> pa.Table:
    query = _QUERY.format(file=quoted(run.home / "metrics.parquet"), largest=_LARGEST)
    rows = {row[0]: row for row in con.execute(query, {"early": run.early}).fetchall()}
    chosen: dict[str, str] = {}
    names = catalog.resolve(rows, run.framework)
    for name, alias in sorted(names.items(), key=lambda entry: entry[1].rank):
        chosen.setdefault(alias.canonical, name)
    found = [_summary(rows[name], names[name]) for _, name in sorted(chosen.items())]
    return pa.Table.from_pylist(found, SUMMARY)


def _summary(row: tuple[Any, ...], alias: Alias) -> dict[str, Any]:
    name, count, first, last, quantiles, late, slope = row
    low, median, high = sorted(_in_unit(value, alias) for value in quantiles)
    return {
        "metric": alias.canonical,
        "logged_as": alias.spelled(name),
        "n": count,
        "first": _in_unit(first, alias),
        "last": _in_unit(last, alias),
        "median": median,
        "p05": low,
        "p95": high,
        "late": None if late is None else _in_unit(late, alias),
        # Of a single step it is NaN.
        "slope": None if slope is None or math.isnan(slope) else alias.scale * slope,
    }


def _in_unit(value: float, alias: Alias) -> float:
    return alias.offset + alias.scale * value
