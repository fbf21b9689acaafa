"""Judged runs made by hand, for questions over many of them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from analyzer.fleet.rows import Entry, Row, publish
from analyzer.fleet.tables import write_tables

SEVERITY: Mapping[str, str] = {"notice": "info"}  # of the rule "notice"; of others "error"


@dataclass(frozen=True)
class Run:
    """What the tests say of a run; the rest is filled in."""

    fired: Mapping[str, int | None] = field(default_factory=dict)  # rule → onset; causes first
    clear: tuple[str, ...] = ()
    not_checked: tuple[str, ...] = ()
    set_aside: tuple[str, ...] = ()  # of those that fired
    row: Mapping[str, Any] = field(default_factory=dict)
    config: Mapping[str, Any] = field(default_factory=dict)
    metrics: Mapping[str, tuple[float, float]] = field(default_factory=dict)  # median, late


def write_fleet_of(store: Path, runs: list[Run]) -> Path:
    """The fleet of these runs, named run-000, run-001, …; its folder."""
    for number, run in enumerate(runs):
        publish(store, entry_of(number, run))
    write_tables(store)
    return store / "fleet"


def entry_of(number: int, run: Run) -> Entry:
    """The entry of one run of 100 steps."""
    counting = [rule for rule in run.fired if rule not in run.set_aside]
    grave = [SEVERITY.get(rule, "error") for rule in counting]
    row: dict[str, Any] = {
        "path": f"/runs/run-{number:03}",
        "run": f"run-{number:03}",
        "verdict": "error" if "error" in grave else "info" if grave else "ok",
        "first_step": 0,
        "last_step": 99,
        "first_finding": counting[0] if counting else None,
    }
    states = {
        **dict.fromkeys(run.fired, "fired"),
        **dict.fromkeys(run.clear, "clear"),
        **dict.fromkeys(run.not_checked, "not-checked"),
    }
    document = {
        "findings": [_finding(rule, onset, run) for rule, onset in run.fired.items()],
        "checks": [{"rule": rule, "state": state} for rule, state in states.items()],
    }
    config = {key: json.dumps(value) for key, value in run.config.items()}
    return Entry(Row(**{**row, **run.row}), "", "", "", document, config, _metrics(run))


def _finding(rule: str, onset: int | None, run: Run) -> dict[str, Any]:
    return {
        "rule": rule,
        "severity": SEVERITY.get(rule, "error"),
        "confidence": 0.9,
        "headline": rule,
        "onset": None if onset is None else {"step": onset, "low": onset, "high": onset},
        "end": 99,
        "caused_by": [],
        "suppressed": {"by": "x", "reason": "y"} if rule in run.set_aside else None,
        "fingerprint": rule,
    }


def _metrics(run: Run) -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = {"metric": list(run.metrics), "logged_as": list(run.metrics)}
    count = len(run.metrics)
    medians = [median for median, _ in run.metrics.values()]
    columns |= {name: medians for name in ("first", "last", "median")}
    columns |= {"n": [100] * count, "slope": [0.0] * count}
    columns |= {"p05": [m - 1.0 for m in medians], "p95": [m + 1.0 for m in medians]}
    return columns | {"late": [late for _, late in run.metrics.values()]}
