"""Runs as the store keeps them, written directly: no log is made or read."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from analyzer.fleet.rows import Entry, Row
from analyzer.tables.catalog import AREAL, Catalog
from analyzer.tables.manifest import AttemptRecord, Manifest
from analyzer.tables.publish import parquet_writer
from analyzer.tables.schema import METRICS, TABLES

STEPS = 2000
SERIES = 120
KEYS = 200
ROW_GROUP = 122_880
SICK_OF = 5  # every fifth run has findings
FIRING = 8  # rules, three of them a sick run
MODELS = ("Qwen/Qwen2.5-1.5B", "Qwen/Qwen2.5-7B", "meta-llama/Llama-3.1-8B")
TASKS = ("openai/gsm8k", "hendrycks/competition_math")
BEGUN = datetime(2026, 1, 5, tzinfo=UTC)


def names(catalog: Catalog) -> list[tuple[str, str]]:
    """The names of AReaL that stand for the first 120 metrics, with these, by name as logged."""
    first: dict[str, str] = {}
    for name in sorted(catalog.vocabularies[AREAL].aliases):
        first.setdefault(catalog.vocabularies[AREAL].aliases[name].canonical, name)
    return sorted((name, canonical) for canonical, name in first.items())[:SERIES]


def home_of(store: Path, number: int) -> Path:
    """Where run `number` lies."""
    return store / f"run-{number:04}"


def write_run(store: Path, number: int, series: Sequence[tuple[str, str]]) -> None:
    """A run's metrics: noise about a level and a drift, to the digits of a 32-bit float.

    In every fifth run a tenth of the metrics leave their level in the middle.
    """
    rng = np.random.default_rng(number)
    count = len(series)
    level = np.exp(np.random.default_rng(0).normal(size=count))[:, None]
    values = level * (1 + 0.1 * rng.standard_normal((count, STEPS)))
    values += level * rng.normal(0, 2e-4, count)[:, None] * np.arange(STEPS)
    if number % SICK_OF == 0:
        values[:: count // 12, STEPS // 2 :] *= 4
    rows = count * STEPS
    which = np.repeat(np.arange(count, dtype=np.int32), STEPS)
    steps = np.tile(np.arange(STEPS), count)
    none = np.zeros(rows, np.int32)
    columns: dict[str, Any] = {
        "run": pa.DictionaryArray.from_arrays(none, [f"run-{number:04}"]),
        "attempt": none,
        "step": steps,
        "log_step": steps,
        "metric": pa.DictionaryArray.from_arrays(which, [name for name, _ in series]),
        "canonical": pa.DictionaryArray.from_arrays(which, [metric for _, metric in series]),
        "value": values.astype(np.float32).astype(np.float64).ravel(),
        "wall_time": pa.nulls(rows, METRICS.field("wall_time").type),
        "source": pa.DictionaryArray.from_arrays(none, ["main.log"]),
        "superseded": np.zeros(rows, bool),
    }
    home = home_of(store, number)
    home.mkdir(parents=True, exist_ok=True)
    table = pa.table(columns).cast(METRICS)
    with parquet_writer(home / "metrics.parquet", METRICS) as writer:
        for start in range(0, rows, ROW_GROUP):
            writer.write_table(table.slice(start, ROW_GROUP))


def write_others(store: Path, number: int) -> None:
    """The tables beside the metrics, empty: what judging opens as well."""
    for name, schema in TABLES.items():
        if name != "metrics":
            pq.write_table(schema.empty_table(), home_of(store, number) / f"{name}.parquet")


def manifest_of(number: int) -> Manifest:
    """What run.json would say."""
    return Manifest(
        run=f"run-{number:04}",
        framework=AREAL,
        framework_version=None,
        first_step=0,
        last_step=STEPS - 1,
        step_count=STEPS,
        total_steps=STEPS,
        steps_per_epoch=None,
        finished=None,
        started=None,
        ended=None,
        metrics=SERIES,
        attempts=(AttemptRecord(0, 0, STEPS - 1, None, None, None),),
        sources=(),
        skipped=(),
        notes=(),
    )


def entry_of(store: Path, number: int, rules: Sequence[str], metrics: dict[str, Any]) -> Entry:
    """The row of a run with its checks, findings, 200 settings and the summaries of its metrics."""
    rng = np.random.default_rng([number, 1])
    fired = rng.choice(FIRING, 3, replace=False)[: 3 if number % SICK_OF == 0 else 0]
    chosen = {rules[i]: int(rng.integers(STEPS)) for i in fired}
    first = next(iter(chosen), None)
    row = Row(
        path=str(home_of(store, number)),
        run=f"run-{number:04}",
        verdict="error" if chosen else "ok",
        framework=AREAL,
        framework_version=f"1.{number % 3}",
        model=MODELS[number % len(MODELS)],
        task=TASKS[number % len(TASKS)],
        gpus=8,
        steps=STEPS,
        first_step=0,
        last_step=STEPS - 1,
        started=(BEGUN + timedelta(hours=2 * number)).isoformat(),
        hours=10.0,
        findings=len(chosen),
        first_finding=first,
        onset=chosen[first] if first else None,
        hours_after_onset=10.0 * (1 - chosen[first] / STEPS) if first else None,
    )
    document = {
        "findings": [_finding(rule, onset) for rule, onset in chosen.items()],
        "checks": [{"rule": r, "state": "fired" if r in chosen else "clear"} for r in rules],
    }
    config = {f"section.key_{i}": json.dumps(int(rng.integers(2 + i % 9))) for i in range(KEYS)}
    return Entry(row, "", "", "", document, config, metrics)


def _finding(rule: str, onset: int) -> dict[str, Any]:
    return {
        "rule": rule,
        "severity": "error",
        "confidence": 0.9,
        "headline": rule,
        "onset": {"step": onset, "low": onset, "high": onset},
        "end": STEPS - 1,
        "caused_by": [],
        "suppressed": None,
        "fingerprint": rule,
    }
