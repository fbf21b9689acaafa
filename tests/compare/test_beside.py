"""Two runs side by side, with values worked out by hand."""

from __future__ import annotations

import pytest

from analyzer.compare.beside import KeyDifference, beside
from analyzer.resources import rules_dir
from analyzer.rulebook.testing.cases import Case
from analyzer.rulebook.testing.runner import case_tables
from analyzer.tables.catalog import load_catalog
from analyzer.tables.run import RunTables

CATALOG = load_catalog(rules_dir())


def run(entropy: str, config: dict[str, object]) -> RunTables:
    case = Case(name="x", kind="clear", series={"entropy": entropy}, config=config, expect=())
    return case_tables(case, CATALOG)


def test_keys_that_differ_and_medians_of_the_last_tenth() -> None:
    mine = run("0.5x50 0.1x50", {"actor.eps_clip": 0.2, "a.x": 1, "trial_name": "one"})
    sync = run("0.5x90 0.3x10", {"actor.eps_clip": 0.4, "a.x": 1, "trial_name": "two", "b": True})
    found = beside("sync", mine, sync)
    assert found.config == (
        KeyDifference("actor.eps_clip", "0.2", "0.4"),
        KeyDifference("b", None, "true"),
    )
    (level,) = found.levels
    assert (level.metric, level.unit) == ("entropy", "nats")
    assert level.mine == pytest.approx(0.1)
    assert level.other == pytest.approx(0.3)


def test_a_series_that_one_run_lacks_is_left_out() -> None:
    mine = run("0.5x50", {})
    case = Case(name="x", kind="clear", series={"grad_norm": "1x50"}, config={}, expect=())
    assert beside("baseline", mine, case_tables(case, CATALOG)).levels == ()
