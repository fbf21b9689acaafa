"""One run from the rows of many sources: attempts, superseded rows, the most precise value.

The rows come as the table `raw` (source, file, digits, attempt, step, log_step, metric, value,
wall_time, place), where `source` is a file, or the several event files of one tracker, `attempt`
its own count of restarts and `place` the order in which its rows were read. The reference is the
source that logged most steps over the most attempts, text before others: its attempts are the
run's; the rows of the others are laid beside it by time.
"""

from __future__ import annotations

from dataclasses import dataclass

import duckdb
import pyarrow as pa

from analyzer.sources.records import Note
from analyzer.tables.manifest import AttemptRecord
from analyzer.tables.reconcile import reconcile

_REFERENCE = """
    SELECT source FROM raw
    GROUP BY source, digits
    ORDER BY count(DISTINCT (attempt, step)) DESC, digits, source LIMIT 1
"""

# The reference's first time at each step of each attempt.
_HEADS = """
    CREATE OR REPLACE TEMP TABLE heads AS
    SELECT attempt, step, any_value(log_step) AS log_step, min(wall_time) AS at FROM raw
    WHERE source = $reference GROUP BY attempt, step
"""

# Which attempt of the run each (source, own attempt, step) belongs to: the one that logged this
# step nearest in time; failing that, the one that most of that own attempt fell to.
_PLACES = """
    CREATE OR REPLACE TEMP TABLE places AS
    WITH own AS (
        SELECT source, attempt, step, min(wall_time) AS at FROM raw GROUP BY ALL
    ), near AS (
        SELECT own.source, own.attempt, own.step,
            coalesce(arg_min(heads.attempt, abs(epoch(own.at - heads.at))), max(heads.attempt))
                AS placed
        FROM own JOIN heads ON heads.step = own.step - coalesce(
            (SELECT shift FROM shifts WHERE shifts.source = own.source), 0)
        GROUP BY ALL
    ), usual AS (
        SELECT source, attempt, mode(placed) AS placed FROM near GROUP BY ALL
    )
    SELECT own.source, own.attempt, own.step,
        CASE WHEN own.source = $reference THEN own.attempt
             ELSE coalesce(near.placed, usual.placed, own.attempt) END AS placed
    FROM own LEFT JOIN near USING (source, attempt, step) LEFT JOIN usual USING (source, attempt)
"""

_ROWS = """
    CREATE OR REPLACE TEMP TABLE rows AS
    SELECT raw.source, raw.file, raw.digits, places.placed AS attempt,
        raw.step - coalesce(shifts.shift, 0) AS step, raw.log_step, raw.metric, raw.value,
        raw.wall_time, raw.place
    FROM raw JOIN places USING (source, attempt, step) LEFT JOIN shifts USING (source)
"""

_STANDING = """
    SELECT $run AS run, rows.attempt, rows.step, nullif(log_step, rows.step) AS log_step,
        rows.metric,
        aliases.canonical, value, wall_time, file AS source,
        rows.attempt < last.attempt AS superseded
    FROM rows
    JOIN (SELECT step, max(attempt) AS attempt FROM rows GROUP BY step) AS last USING (step)
    LEFT JOIN aliases ON aliases.metric = rows.metric
    QUALIFY row_number() OVER (
        PARTITION BY rows.attempt, rows.step, rows.metric ORDER BY digits DESC, place DESC) = 1
    ORDER BY rows.metric, rows.step, rows.attempt
"""


@dataclass(frozen=True, slots=True)
class Merged:
    """What the merge found; the rows themselves are read from `rows_of`."""

    attempts: tuple[AttemptRecord, ...]
    notes: tuple[tuple[Note, str], ...]  # a note and the source that it is about


def merge(con: duckdb.DuckDBPyConnection) -> Merged:
    """Lay the sources beside each other; afterwards rows_of() gives the table's rows."""
    references = con.execute(_REFERENCE).fetchall()
    con.execute("CREATE OR REPLACE TEMP TABLE shifts (source VARCHAR, shift BIGINT)")
    if not references:
        con.execute("CREATE OR REPLACE TEMP TABLE rows AS SELECT * FROM raw LIMIT 0")
        return Merged((), ())
    ((reference,),) = references
    con.execute(_HEADS, {"reference": reference})
    notes = _find_shifts(con, reference)
    con.execute(_PLACES, {"reference": reference})
    con.execute(_ROWS)
    attempts = _attempts(con)
    notes += _overlaps(attempts, reference)
    return Merged(attempts, tuple(notes + reconcile(con, reference)))


def rows_of(con: duckdb.DuckDBPyConnection, run: str) -> pa.RecordBatchReader:
    """The rows of the metrics table, sorted by metric, step, attempt."""
    return con.sql(_STANDING, params={"run": run}).to_arrow_reader(122_880)


def _find_shifts(con: duckdb.DuckDBPyConnection, reference: str) -> list[tuple[Note, str]]:
    """Sources whose steps count from 1 where the reference's count from 0.

    AReaL's trackers wrote the first step as 1 until February 2026 (areal-project/AReaL#935), and
    a commit of several tables moves a tracker's step ahead of the training step.
    """
    notes = []
    for (source,) in con.execute("SELECT DISTINCT source FROM raw ORDER BY source").fetchall():
        if source == reference:
            continue
        counts = con.execute(
            """
            SELECT shift, count(*) FROM range(-1, 3) AS shifts(shift)
            JOIN raw AS other ON other.source = $source
            JOIN raw AS mine ON mine.source = $reference AND mine.metric = other.metric
                AND mine.step = other.step - shift
            WHERE abs(mine.value - other.value)
                <= 0.51 * pow(10, 1 - least(mine.digits, other.digits)) * abs(mine.value)
                AND mine.value NOT IN (0, 1) AND isfinite(mine.value) AND isfinite(other.value)
            GROUP BY shift ORDER BY count(*) DESC, abs(shift) LIMIT 1
            """,
            {"source": source, "reference": reference},
        ).fetchall()
        if counts and (shift := counts[0][0]):
            con.execute("INSERT INTO shifts VALUES (?, ?)", [source, shift])
            detail = f"its steps run {shift:+d} against {reference}; shifted to match"
            notes.append((Note("shifted-steps", detail), source))
    return notes


def _attempts(con: duckdb.DuckDBPyConnection) -> tuple[AttemptRecord, ...]:
    found = con.execute(
        """
        WITH last AS (SELECT step, max(attempt) AS attempt FROM rows GROUP BY step),
        steps AS (SELECT DISTINCT attempt, step FROM rows)
        SELECT a.attempt, min(a.step), max(a.step), any_value(t.started), any_value(t.ended),
            min(a.step) FILTER (last.attempt > a.attempt),
            max(a.step) FILTER (last.attempt > a.attempt)
        FROM steps AS a JOIN last USING (step) JOIN (
            SELECT attempt, strftime(min(wall_time), '%Y-%m-%dT%H:%M:%SZ') AS started,
                strftime(max(wall_time), '%Y-%m-%dT%H:%M:%SZ') AS ended
            FROM rows GROUP BY attempt) AS t ON t.attempt = a.attempt
        GROUP BY a.attempt ORDER BY a.attempt
        """
    ).fetchall()
    return tuple(
        AttemptRecord(n, first, last, started, ended, None if low is None else (low, high))
        for n, first, last, started, ended, low, high in found
    )


def _overlaps(attempts: tuple[AttemptRecord, ...], reference: str) -> list[tuple[Note, str]]:
    notes = []
    for attempt in attempts:
        if attempt.superseded is not None:
            low, high = attempt.superseded
            detail = (
                f"steps {low}–{high} of attempt {attempt.number + 1} were written again by a later "
                "attempt; the later values stand"
            )
            notes.append((Note("overlapping-steps", detail, low, high), reference))
    return notes
