"""Questions over many runs as measured: the page says what the results say, and they suffice."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType
from typing import Any

import measured
import pytest


@pytest.fixture
def results(repository: Path) -> dict[str, Any]:
    return measured.results(repository, "fleet_scale")


@pytest.fixture
def page(repository: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    return measured.module(repository, monkeypatch, "fleet_scale.page")


def test_the_page_is_in_step(repository: Path, results: dict[str, Any], page: ModuleType) -> None:
    text = (repository / "docs" / "fleet.md").read_text("utf-8")
    assert page.with_tables(text, results) == text, "run `make bench-fleet-scale`"


def test_what_is_required_was_met(results: dict[str, Any], page: ModuleType) -> None:
    sizes = {record["runs"]: record for record in results["sizes"]}
    assert list(sizes) == [100, 300, 1000]
    largest = sizes[1000]
    assert largest["rows"] == 240_000_000
    asked = largest["questions"]
    done = asked["summaries cpu"] + asked["tables cpu"] + asked["views cpu"]
    assert done <= 3 * largest["slopes"]["slopes cpu"]
    assert asked["peak_mb"] < 2000
    assert largest["associations"]["peak_mb"] < 2000
    assert page.faults(results) == []


def test_what_is_not_met_is_said(results: dict[str, Any], page: ModuleType) -> None:
    worse = json.loads(json.dumps(results))
    worse["sizes"][2]["questions"]["peak_mb"] = 2100.0
    worse["sizes"][2]["slopes"]["slopes cpu"] /= 10
    slow, large = page.faults(worse)
    assert slow.startswith("1000 runs: ")
    assert large == "1000 runs: 2100 MB"
