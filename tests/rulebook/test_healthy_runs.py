"""The pack is silent on healthy runs: notices at most."""

from __future__ import annotations

import pytest
from healthy_runs import HealthyRun

from analyzer.pipeline import Settings, open_catalog, open_rulebook
from analyzer.rulebook.evaluate import Judge
from analyzer.rulebook.load import Rulebook
from analyzer.rulebook.testing.runner import case_tables
from analyzer.tables.catalog import Catalog


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return open_catalog()


@pytest.fixture(scope="module")
def rulebook(catalog: Catalog) -> Rulebook:
    return open_rulebook(catalog, Settings())


@pytest.mark.parametrize("seed", range(20))
def test_no_warning_on_a_healthy_run(seed: int, catalog: Catalog, rulebook: Rulebook) -> None:
    tables = case_tables(HealthyRun(seed).case(), catalog)
    judgement = Judge(rulebook, catalog, tables, "healthy").judgement(True)
    loud = [f"{f.rule}: {f.headline}" for f in judgement.findings if f.severity != "info"]
    assert loud == []
    assert judgement.coverage.errors == 0
