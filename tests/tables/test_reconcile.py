"""Sources of one run, compared value by value: who agrees, who does not, from which step."""

from __future__ import annotations

import math

import duckdb

from analyzer.tables.reconcile import reconcile

Values = dict[str, list[float]]  # metric → value at steps 0, 1, …


def notes(**sources: tuple[int, Values]) -> list[tuple[str, str, int | None, str]]:
    """Kind, source, step and detail; a source is its digits and its values."""
    with duckdb.connect() as con:
        con.execute(
            "CREATE TABLE rows (source VARCHAR, digits INTEGER, attempt INTEGER, step BIGINT, "
            "metric VARCHAR, value DOUBLE, place BIGINT)"
        )
        for name, (digits, metrics) in sources.items():
            for metric, values in metrics.items():
                for step, value in enumerate(values):
                    row = [name, digits, 0, step, metric, value, step]
                    con.execute("INSERT INTO rows VALUES (?, ?, ?, ?, ?, ?, ?)", row)
        found = reconcile(con, "text")
    return [(note.kind, source, note.first_step, note.detail) for note, source in found]


def test_sources_of_three_precisions_agree() -> None:
    third = 1 / 3
    found = notes(
        text=(5, {"a": [0.33333, math.nan], "b": [1.0]}),
        tb=(7, {"a": [0.3333333432674408, math.nan], "c": [0.0]}),
        wandb=(17, {"a": [third, math.nan], "c": [-0.0], "d": [1.0]}),
    )
    agree = "3 sources agree on 2 series within their precision (3 values): tb, text, wandb"
    assert found == [("sources-agree", "text", None, agree)]


def test_of_three_the_one_that_disagrees_is_named() -> None:
    good = {"a": [1.0, 2.0, 3.0, 4.0]}
    found = notes(
        text=(5, {"a": [1.0, 2.0, 3.5, 4.5]}),
        tb=(7, good),
        wandb=(17, good),
        other=(17, {"z": [1]}),
    )
    assert found[0][:3] == ("sources-disagree", "text", 2)
    assert found[0][3] == (
        "2 of 4 values that it shares with tb differ, first a at step 2: 3.5 here, 3 there; "
        "it differs from 1 more"
    )
    agree = "2 sources agree on 1 series within their precision (4 values): tb, wandb"
    assert found[1:] == [("sources-agree", "tb", None, agree)]


def test_of_two_the_one_that_is_not_the_reference() -> None:
    found = notes(text=(5, {"a": [1.0, math.inf]}), tb=(17, {"a": [1.0, -math.inf]}))
    assert [row[:3] for row in found] == [("sources-disagree", "tb", 1)]
    assert found[0][3] == (
        "1 of 2 values that it shares with text differ, first a at step 1: -inf here, inf there"
    )


def test_sources_beside_the_reference_are_compared_too() -> None:
    found = notes(text=(5, {"a": [1.0]}), tb=(7, {"b": [1.0]}), wandb=(17, {"b": [1.1]}))
    assert [row[:3] for row in found] == [("sources-disagree", "wandb", 0)]


def test_values_that_differ_by_less_than_the_coarser_shows() -> None:
    assert notes(text=(5, {"a": [100.0]}), tb=(17, {"a": [100.004]}))[0][0] == "sources-agree"
    assert notes(text=(5, {"a": [100.0]}), tb=(17, {"a": [100.06]}))[0][0] == "sources-disagree"
    assert notes(text=(5, {"a": [1.0]})) == []
