"""Local clocks and UTC: AReaL's text logs carry local time without a zone."""

from __future__ import annotations

import duckdb

from analyzer.sources.records import Note

_QUARTER_HOUR = 900


def align_clocks(con: duckdb.DuckDBPyConnection) -> list[tuple[Note, str]]:
    """Shift sources with a local clock to UTC where a source with UTC logged the same steps.

    Works on the table `raw`; leaves the table `offsets` (file, seconds) for the events. Zones are
    multiples of a quarter of an hour, so the median difference is rounded to one. Without such a
    source the local clock is taken as UTC, and a note says so.
    """
    con.execute("CREATE TEMP TABLE offsets (file VARCHAR, seconds BIGINT)")
    local = con.execute(
        "SELECT DISTINCT file FROM raw WHERE NOT utc AND wall_time IS NOT NULL ORDER BY file"
    ).fetchall()
    notes = []
    for (file,) in local:
        ((difference,),) = con.execute(
            f"""
            WITH mine AS (
                SELECT step, max(wall_time) AS at FROM raw WHERE file = $file GROUP BY step
            ), other AS (SELECT step, max(wall_time) AS at FROM raw WHERE utc GROUP BY step)
            SELECT round(median(epoch(mine.at) - epoch(other.at)) / {_QUARTER_HOUR})
                * {_QUARTER_HOUR} FROM mine JOIN other USING (step)
            """,
            {"file": file},
        ).fetchall()
        if difference is None:
            detail = "its clock has no zone and no other source tells it; times are taken as UTC"
            notes.append((Note("local-clock", detail), file))
            continue
        seconds = int(difference)
        con.execute("INSERT INTO offsets VALUES (?, ?)", [file, seconds])
        if seconds:
            con.execute(
                "UPDATE raw SET wall_time = wall_time - to_seconds($seconds) WHERE file = $file",
                {"seconds": seconds, "file": file},
            )
            detail = f"its clock is {seconds / 3600:+g} h from UTC; times are shifted to UTC"
            notes.append((Note("local-clock", detail), file))
    return notes
