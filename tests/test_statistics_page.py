"""The measured statistics: the page says what the results say, and they meet what is required."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import measured
import pytest


@pytest.fixture
def results(repository: Path) -> dict[str, Any]:
    return measured.results(repository, "statistics")


@pytest.fixture
def page(repository: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    return measured.module(repository, monkeypatch, "statistics_rates.page")


def test_the_page_is_in_step(repository: Path, results: dict[str, Any], page: ModuleType) -> None:
    text = (repository / "docs" / "statistics.md").read_text("utf-8")
    assert page.with_tables(text, results) == text, "run `make bench-statistics`"
    for record in results["false_alarms"]:
        assert 0 <= record["fired"] <= record["of"]


def test_a_page_without_a_marker_is_refused(results: dict[str, Any], page: ModuleType) -> None:
    with pytest.raises(ValueError, match="lacks the markers of about"):
        page.with_tables("# Statistics\n", results)


def test_a_figure_stands_where_its_record_says(results: dict[str, Any], page: ModuleType) -> None:
    (record,) = [
        r
        for r in results["false_alarms"]
        if (r["test"], r["process"], r["n"]) == ("trend", "AR(1), ρ = 0.9", 500)
    ]
    rows = page.tables(results)["alarms of trend"].splitlines()
    (row,) = [r for r in rows if r.startswith("| AR(1), ρ = 0.9 |")]
    head = [cell.strip() for cell in rows[0].split("|")]
    cell = [cell.strip() for cell in row.split("|")][head.index("n = 500")]
    assert cell.split(" / ")[0] == f"{100 * record['fired'] / record['of']:.1f}"


REQUIRED = {
    "white noise": 2.0,
    "AR(1), ρ = 0.3": 2.0,
    "AR(1), ρ = 0.5": 2.0,
    "AR(1), ρ = 0.7": 2.0,
    "AR(1), ρ = 0.9": 5.0,
}
JUDGED = ("trend", "shift", "spike", "together", "order", "differs")


@pytest.mark.parametrize("test", JUDGED)
def test_false_alarms_stay_below_what_is_required(results: dict[str, Any], test: str) -> None:
    rates = {
        (r["process"], r["n"]): 100 * r["fired"] / r["of"]
        for r in results["false_alarms"]
        if r["test"] == test and r["process"] in REQUIRED
    }
    assert len(rates) == 25  # five kinds of noise, five lengths
    assert {cell for cell, rate in rates.items() if rate > REQUIRED[cell[0]]} == set()


def test_what_has_no_connection_is_not_together(results: dict[str, Any]) -> None:
    alone = ("AR(1), ρ = 0.9", "ramps in opposite halves", "steps at 1/4 and 3/4")
    rates = [
        100 * r["fired"] / r["of"]
        for r in results["false_alarms"]
        if r["test"] == "together" and r["process"] in alone
    ]
    assert len(rates) == 15
    assert max(rates) <= 2.0
