"""Attempts, superseded rows and the most precise value, on rows small enough to check by eye."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import duckdb
import pyarrow as pa
import pytest

from analyzer.sources.records import TIMESTAMP
from analyzer.tables.clock import align_clocks
from analyzer.tables.merge import Merged, merge, rows_of

START = datetime(2026, 11, 29, 14, 0, tzinfo=UTC)
RAW = pa.schema(
    [
        ("source", pa.string()),
        ("file", pa.string()),
        ("digits", pa.int32()),
        ("attempt", pa.int32()),
        ("step", pa.int64()),
        ("log_step", pa.int64()),
        ("metric", pa.string()),
        ("value", pa.float64()),
        ("wall_time", TIMESTAMP),
        ("utc", pa.bool_()),
        ("place", pa.int64()),
    ]
)
Row = tuple[str, int, int, int, str, float, float | None]


@pytest.fixture
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        connection.register("aliases", pa.table({"metric": ["a/avg"], "canonical": ["a"]}))
        yield connection


def load(
    con: duckdb.DuckDBPyConnection, rows: list[Row], utc: frozenset[str] = frozenset()
) -> None:
    """rows: source, digits, attempt, step, metric, value, minutes after START."""
    columns = [
        [r[0] for r in rows],
        [r[0] for r in rows],
        [r[1] for r in rows],
        [r[2] for r in rows],
        [r[3] for r in rows],
        [None for _ in rows],
        [r[4] for r in rows],
        [r[5] for r in rows],
        [None if r[6] is None else START + timedelta(minutes=r[6]) for r in rows],
        [r[0] in utc for r in rows],
        list(range(len(rows))),
    ]
    con.register(
        "given",
        pa.Table.from_arrays(
            [pa.array(c, t.type) for c, t in zip(columns, RAW, strict=True)], schema=RAW
        ),
    )
    con.execute("CREATE TEMP TABLE raw AS FROM given")


def result(con: duckdb.DuckDBPyConnection) -> list[tuple[int, int, str, float, str, bool]]:
    table = rows_of(con, "run").read_all()
    keys = ("attempt", "step", "metric", "value", "source", "superseded")
    return [tuple(row[k] for k in keys) for row in table.to_pylist()]


def kinds(merged: Merged) -> list[str]:
    return [note.kind for note, _ in merged.notes]


def test_steps_that_a_later_attempt_wrote_again_are_superseded(
    con: duckdb.DuckDBPyConnection,
) -> None:
    load(
        con,
        [
            ("main.log", 5, 0, 0, "a/avg", 1.0, 0),
            ("main.log", 5, 0, 1, "a/avg", 2.0, 1),
            ("main.log", 5, 0, 2, "a/avg", 3.0, 2),
            ("main.log", 5, 1, 1, "a/avg", 20.0, 9),
            ("main.log", 5, 1, 2, "a/avg", 30.0, 10),
        ],
    )
    merged = merge(con)
    assert result(con) == [
        (0, 0, "a/avg", 1.0, "main.log", False),
        (0, 1, "a/avg", 2.0, "main.log", True),
        (1, 1, "a/avg", 20.0, "main.log", False),
        (0, 2, "a/avg", 3.0, "main.log", True),
        (1, 2, "a/avg", 30.0, "main.log", False),
    ]
    first, second = merged.attempts
    assert (first.first_step, first.last_step, first.superseded) == (0, 2, (1, 2))
    assert (second.first_step, second.last_step, second.superseded) == (1, 2, None)
    assert second.started == "2026-11-29T14:09:00Z"
    assert kinds(merged) == ["overlapping-steps"]


def test_a_value_of_two_sources_is_kept_once_from_the_one_with_more_digits(
    con: duckdb.DuckDBPyConnection,
) -> None:
    load(
        con,
        [
            ("main.log", 5, 0, 0, "a/avg", 0.33333, 0),
            ("main.log", 5, 0, 1, "b", 7.0, 1),
            ("tb", 9, 0, 0, "a/avg", 0.333333343, 0),
            ("tb", 9, 0, 1, "a/avg", 0.5, 1),
        ],
    )
    merged = merge(con)
    assert result(con) == [
        (0, 0, "a/avg", 0.333333343, "tb", False),
        (0, 1, "a/avg", 0.5, "tb", False),
        (0, 1, "b", 7.0, "main.log", False),
    ]
    assert kinds(merged) == ["sources-agree"]


def test_sources_that_disagree_are_named_with_the_first_step(
    con: duckdb.DuckDBPyConnection,
) -> None:
    rows: list[Row] = []
    for step in range(5):
        rows.append(("main.log", 5, 0, step, "a/avg", 0.1 + step, step))
        rows.append(("tb", 9, 0, step, "a/avg", 0.1 + step + (0.01 if step >= 3 else 0), step))
    load(con, rows)
    merged = merge(con)
    ((note, source),) = merged.notes
    assert (note.kind, note.first_step, source) == ("sources-disagree", 3, "tb")
    assert note.detail.startswith("2 of 5 values")


def test_the_second_life_of_a_tracker_is_laid_beside_the_text_by_time(
    con: duckdb.DuckDBPyConnection,
) -> None:
    """Both attempts logged step 1; the tracker's only file was written in the second."""
    load(
        con,
        [
            ("main.log", 5, 0, 0, "a/avg", 1.0, 0),
            ("main.log", 5, 0, 1, "a/avg", 2.0, 1),
            ("main.log", 5, 1, 1, "a/avg", 5.0, 30),
            ("main.log", 5, 1, 2, "a/avg", 6.0, 31),
            ("tb", 9, 0, 1, "a/avg", 5.00000001, 30),
            ("tb", 9, 0, 2, "a/avg", 6.00000001, 31),
        ],
        frozenset({"tb"}),
    )
    merge(con)
    by_key = {(a, s): (value, source) for a, s, _, value, source, _ in result(con)}
    assert by_key[0, 1] == (2.0, "main.log")
    assert by_key[1, 1] == (5.00000001, "tb")


def test_a_tracker_that_counts_from_one_is_shifted(con: duckdb.DuckDBPyConnection) -> None:
    rows: list[Row] = []
    for step, value in enumerate((0.31, 0.42, 0.53, 0.64)):
        rows.append(("main.log", 5, 0, step, "a/avg", value, step))
        rows.append(("tb", 9, 0, step + 1, "a/avg", value, step))
    load(con, rows)
    merged = merge(con)
    assert [(s, v) for _, s, _, v, _, _ in result(con)] == [
        (0, 0.31),
        (1, 0.42),
        (2, 0.53),
        (3, 0.64),
    ]
    assert kinds(merged) == ["shifted-steps", "sources-agree"]


def test_nan_and_infinity_are_values(con: duckdb.DuckDBPyConnection) -> None:
    load(
        con,
        [
            ("main.log", 5, 0, 0, "a/avg", float("inf"), 0),
            ("main.log", 5, 0, 1, "a/avg", float("nan"), 1),
        ],
    )
    merge(con)
    values = [row[3] for row in result(con)]
    assert values[0] == float("inf")
    assert values[1] != values[1]


def test_a_local_clock_is_shifted_by_the_zone_that_a_utc_source_tells(
    con: duckdb.DuckDBPyConnection,
) -> None:
    """The text's clock runs eight hours ahead (UTC+8); the tracker wrote 2 s earlier."""
    load(
        con,
        [
            ("main.log", 5, 0, 0, "a/avg", 1.0, 480),
            ("main.log", 5, 0, 1, "a/avg", 2.0, 481),
            ("tb", 9, 0, 0, "a/avg", 1.0, -2 / 60),
            ("tb", 9, 0, 1, "a/avg", 2.0, 1 - 2 / 60),
        ],
        frozenset({"tb"}),
    )
    ((note, file),) = align_clocks(con)
    assert (note.kind, file) == ("local-clock", "main.log")
    assert "+8 h" in note.detail
    (attempt,) = merge(con).attempts
    assert attempt.ended == "2026-11-29T14:01:00Z"


def test_without_a_utc_source_the_note_says_that_times_are_taken_as_utc(
    con: duckdb.DuckDBPyConnection,
) -> None:
    load(con, [("main.log", 5, 0, 0, "a/avg", 1.0, 0)])
    ((note, _),) = align_clocks(con)
    assert "taken as UTC" in note.detail


def test_no_rows_give_no_attempts(con: duckdb.DuckDBPyConnection) -> None:
    load(con, [])
    assert merge(con) == Merged((), ())
    assert result(con) == []
