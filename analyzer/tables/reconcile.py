"""Do the sources of a run say the same? Every two of them, to the digits of the coarser."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import combinations

import duckdb

from analyzer.sources.records import Note


@dataclass(frozen=True, slots=True)
class _Pair:
    """What comparing two sources gave."""

    one: str
    other: str
    compared: int
    differing: int
    step: int | None  # the first at which they differ
    metric: str | None
    x: float | None  # the value of `one` there
    y: float | None

    def against(self, source: str) -> tuple[str, float | None, float | None]:
        """The other source, its value and that of `source`."""
        if source == self.one:
            return self.other, self.y, self.x
        return self.one, self.x, self.y


def reconcile(con: duckdb.DuckDBPyConnection, reference: str) -> list[tuple[Note, str]]:
    """Notes on the table `rows`: how many sources agree on how many series, and who does not.

    Where two of three agree, the third is the one that disagrees; of two, the one that is not the
    reference.
    """
    names = con.execute("SELECT source, max(digits) FROM rows GROUP BY source ORDER BY source")
    sources: dict[str, int] = dict(names.fetchall())
    if len(sources) < 2:
        return []
    _lay_out(con, list(sources))
    pairs = _pairs(con, sources)
    notes, odd = [], set[str]()
    differing = [pair for pair in pairs if pair.differing]
    while differing:
        counts = Counter(source for pair in differing for source in (pair.one, pair.other))
        source = max(counts, key=lambda s: (counts[s], s != reference, s))
        own = [pair for pair in differing if source in (pair.one, pair.other)]
        differing = [pair for pair in differing if pair not in own]
        notes.append((_disagreement(source, own, reference), source))
        odd.add(source)
    agreeing = sorted({s for p in pairs for s in (p.one, p.other)} - odd)
    if len(agreeing) > 1:
        about = reference if reference in agreeing else agreeing[0]
        notes.append((_agreement(con, agreeing, list(sources)), about))
    return notes


def _lay_out(con: duckdb.DuckDBPyConnection, sources: list[str]) -> None:
    """The table `cells`: one row a step and metric, one column a source, v0, v1, …"""
    columns = ", ".join(
        f"arg_max(value, place) FILTER (source = $s{i}) AS v{i}" for i in range(len(sources))
    )
    con.execute(
        f"CREATE OR REPLACE TEMP TABLE cells AS SELECT attempt, step, metric, {columns} FROM rows "
        "GROUP BY attempt, step, metric",
        {f"s{i}": source for i, source in enumerate(sources)},
    )


def _pairs(con: duckdb.DuckDBPyConnection, sources: dict[str, int]) -> list[_Pair]:
    """Every two sources that share values; `sources` gives their digits."""
    found = []
    for (i, (one, fine)), (j, (other, coarse)) in combinations(enumerate(sources.items()), 2):
        differs = _differs(f"v{i}", f"v{j}", min(fine, coarse))
        ((compared, differing),) = con.execute(
            f"SELECT count(*), count(*) FILTER ({differs}) FROM cells "
            f"WHERE v{i} IS NOT NULL AND v{j} IS NOT NULL"
        ).fetchall()
        first = con.execute(
            f"SELECT step, metric, v{i}, v{j} FROM cells WHERE {differs} "
            "ORDER BY step, attempt, metric LIMIT 1"
        ).fetchall()
        if compared:
            at = first[0] if first else (None, None, None, None)
            found.append(_Pair(one, other, compared, differing, *at))
    return found


def _differs(a: str, b: str, digits: int) -> str:
    """The condition that two values are not the same to so many digits; no number equals itself."""
    near = f"abs({a} - {b}) <= {0.51 * 10.0 ** (1 - digits)!r} * greatest(abs({a}), abs({b}))"
    finite = f"isfinite({a}) AND isfinite({b}) AND {near}"
    return f"NOT ({a} = {b} OR (isnan({a}) AND isnan({b})) OR ({finite}))"


def _disagreement(source: str, pairs: list[_Pair], reference: str) -> Note:
    """From which step a source differs from others; the figures are those against the reference."""
    told = min(pairs, key=lambda pair: (reference not in (pair.one, pair.other), pair.step))
    other, theirs, its = told.against(source)
    detail = (
        f"{told.differing} of {told.compared} values that it shares with {other} differ, first "
        f"{told.metric} at step {told.step}: {its:g} here, {theirs:g} there"
    )
    if len(pairs) > 1:
        detail += f"; it differs from {len(pairs) - 1} more"
    return Note("sources-disagree", detail, told.step, told.step)


def _agreement(con: duckdb.DuckDBPyConnection, agreeing: list[str], sources: list[str]) -> Note:
    told = " + ".join(f"(v{sources.index(source)} IS NOT NULL)::INTEGER" for source in agreeing)
    query = f"SELECT count(DISTINCT metric), count(*) FROM cells WHERE {told} > 1"
    ((series, values),) = con.execute(query).fetchall()
    agree = f"{len(agreeing)} sources agree on {series} series within their precision"
    return Note("sources-agree", f"{agree} ({values} values): {', '.join(agreeing)}")
