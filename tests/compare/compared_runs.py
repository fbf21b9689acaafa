"""Runs made for comparisons."""

from __future__ import annotations

from analyzer.resources import rules_dir
from analyzer.rulebook.testing.cases import Case
from analyzer.rulebook.testing.runner import case_tables
from analyzer.tables.catalog import load_catalog
from analyzer.tables.run import RunTables

CATALOG = load_catalog(rules_dir())


def run(series: dict[str, str], config: dict[str, object] | None = None) -> RunTables:
    """A run with such series, in the short form of rule tests."""
    case = Case(name="x", kind="clear", series={**series}, config=config or {}, expect=())
    return case_tables(case, CATALOG)
