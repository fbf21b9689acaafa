"""Do the sources of a run say the same? Every two of them, to the digits of the coarser."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import duckdb

from analyzer.sources.records import Note

# Two sources at one step of one attempt; values that are both no number are equal.
_PAIRS = """
    WITH cells AS (
        SELECT source, attempt, step, metric, any_value(digits) AS digits,
            arg_max(value, place) AS value
        FROM rows GROUP BY source, attempt, step, metric
    ), pairs AS (
        SELECT a.source AS one, b.source AS other, a.step, a.metric, a.value AS x, b.value AS y,
            NOT (a.value = b.value OR (isnan(a.value) AND isnan(b.value))
                OR (isfinite(a.value) AND isfinite(b.value) AND abs(a.value - b.value)
                    <= 0.51 * pow(10, 1 - least(a.digits, b.digits))
                        * greatest(abs(a.value), abs(b.value)))) AS differs
        FROM cells AS a JOIN cells AS b USING (attempt, step, metric)
        WHERE a.source < b.source
    )
    SELECT one, other, count(*), count(*) FILTER (differs), min(step) FILTER (differs),
        min_by(metric, step) FILTER (differs), min_by(x, step) FILTER (differs),
        min_by(y, step) FILTER (differs)
    FROM pairs GROUP BY one, other ORDER BY one, other
"""

_SHARED = """
    SELECT count(DISTINCT metric), count(*) FROM (
        SELECT attempt, step, metric FROM rows WHERE source IN (SELECT unnest($sources))
        GROUP BY ALL HAVING count(DISTINCT source) > 1)
"""


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
    ((sources,),) = con.execute("SELECT count(DISTINCT source) FROM rows").fetchall()
    if sources < 2:
        return []
    pairs = [_Pair(*row) for row in con.execute(_PAIRS).fetchall()]
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
        notes.append(
            (_agreement(con, agreeing), reference if reference in agreeing else agreeing[0])
        )
    return notes


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


def _agreement(con: duckdb.DuckDBPyConnection, sources: list[str]) -> Note:
    ((series, values),) = con.execute(_SHARED, {"sources": sources}).fetchall()
    agree = f"{len(sources)} sources agree on {series} series within their precision"
    return Note("sources-agree", f"{agree} ({values} values): {', '.join(sources)}")
