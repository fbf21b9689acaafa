"""Runs in memory for tests: series by canonical name, configuration, events."""

from __future__ import annotations

from typing import Any

from analyzer.resources import rules_dir
from analyzer.rulebook.testing.cases import Case
from analyzer.rulebook.testing.runner import case_tables
from analyzer.tables.catalog import load_catalog
from analyzer.tables.run import RunTables

CATALOG = load_catalog(rules_dir())


def tables_of(series: dict[str, Any], **more: Any) -> RunTables:
    """A run whose series are written in the language of rule tests."""
    case = Case(name="x", kind="clear", series=series, expect=(), **more)
    return case_tables(case, CATALOG)
