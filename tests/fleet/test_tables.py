"""What the fleet's tables keep of each run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from runs_of import BAD_STEP, STEPS, write_run

from analyzer.cli import run_command
from analyzer.fleet.summaries import Stored, summarized
from analyzer.fleet.tables import answer
from analyzer.resources import rules_dir
from analyzer.tables.catalog import load_catalog

CONFIG = """
experiment_name: exp
trial_name: trial
allocation_mode: sglang:d4+fsdp:d4
cluster: {n_nodes: 2, n_gpus_per_node: 4}
actor: {path: Qwen/Qwen2.5-1.5B, eps_clip: 0.2}
train_dataset: {path: openai/gsm8k, batch_size: 16}
"""


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sick run with a configuration, a healthy one without, and one that cannot be read."""
    folder = tmp_path_factory.mktemp("fleet")
    write_run(folder / "runs" / "trial-3", 3, sick=True)
    (folder / "runs" / "trial-3" / "config.yaml").write_text(CONFIG, "utf-8")
    write_run(folder / "runs" / "trial-4", 4)
    (folder / "runs" / "broken").mkdir()
    (folder / "runs" / "broken" / "main.log").write_bytes(b"")
    words = ["batch", str(folder / "runs"), "--store", str(folder / "store"), "--jobs", "1"]
    run_command([*words, "--quiet"])
    return folder / "store" / "fleet"


def rows(fleet: Path, query: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = answer(fleet, query).to_pylist()
    return found


def test_runs_tell_model_task_gpus_and_hours(fleet: Path) -> None:
    query = (
        "SELECT model, task, gpus, CAST(week AS VARCHAR) AS week, hours, gpu_hours, "
        "hours_after_onset, gpu_hours_after_onset FROM runs ORDER BY path"
    )
    broken, sick, healthy = rows(fleet, query)
    assert set(broken.values()) == {None}
    assert (sick["model"], sick["task"], sick["gpus"]) == ("Qwen/Qwen2.5-1.5B", "openai/gsm8k", 8)
    # Friday 1 May 2026, a step a minute; from the onset to the end, the time stamps tell.
    assert sick["week"] == "2026-04-27"
    assert sick["hours"] == pytest.approx((STEPS - 1) / 60)
    assert sick["hours_after_onset"] == pytest.approx((STEPS - 1 - BAD_STEP) / 60)
    assert sick["gpu_hours"] == pytest.approx(8 * (STEPS - 1) / 60)
    assert sick["gpu_hours_after_onset"] == pytest.approx(8 * (STEPS - 1 - BAD_STEP) / 60)
    assert healthy["hours"] == pytest.approx((STEPS - 1) / 60)
    for name in ("model", "task", "gpus", "gpu_hours", "hours_after_onset"):
        assert healthy[name] is None


def test_metrics_hold_what_numpy_says_of_the_values(fleet: Path) -> None:
    (found,) = rows(
        fleet, "SELECT * FROM metrics WHERE path LIKE '%trial-4' AND metric = 'task_reward'"
    )
    values = np.array([0.4 + 0.01 * ((i * 7 + 4) % 5) for i in range(STEPS)]).round(4)  # as logged
    assert found["logged_as"] == "ppo_actor/task_reward/avg"
    assert (found["n"], found["first"], found["last"]) == (STEPS, values[0], values[-1])
    assert found["late"] == pytest.approx(values[-2:].mean())
    low, median, high = np.quantile(values, [0.05, 0.5, 0.95])
    assert (found["p05"], found["median"], found["p95"]) == pytest.approx((low, median, high))
    assert found["slope"] == pytest.approx(np.polyfit(np.arange(STEPS), values, 1)[0])

    # NaN from a step on: the finite values before it, and no late level.
    (found,) = rows(
        fleet, "SELECT * FROM metrics WHERE path LIKE '%trial-3' AND metric = 'grad_norm'"
    )
    assert (found["n"], found["late"]) == (BAD_STEP, None)
    assert found["last"] == pytest.approx(0.3 + 0.01 * ((BAD_STEP - 1) % 4))


def test_config_and_checks_are_those_of_the_run(fleet: Path) -> None:
    query = "SELECT run, value FROM config WHERE key = 'train_dataset.batch_size'"
    assert [json.loads(row["value"]) for row in rows(fleet, query)] == [16]
    query = "SELECT rule, state FROM checks WHERE path LIKE '%trial-3' AND state = 'fired'"
    assert {row["rule"] for row in rows(fleet, query)} >= {"grad-nonfinite"}
    query = (
        "SELECT runs.path FROM runs JOIN checks USING (path) WHERE state <> 'not-checked' "
        "GROUP BY runs.path, checks, not_checked HAVING count(*) <> runs.checks - not_checked"
    )
    assert rows(fleet, query) == []


def stored(folder: Path, framework: str, series: dict[str, list[float]]) -> Stored:
    """A metrics table with only what summaries read, values at steps 1, 2, …"""
    columns: dict[str, list[Any]] = {"metric": [], "step": [], "value": []}
    for name, values in series.items():
        columns["metric"] += [name] * len(values)
        columns["step"] += range(1, len(values) + 1)
        columns["value"] += values
    count = len(columns["step"])
    table = pa.table({**columns, "canonical": ["-"] * count, "superseded": [False] * count})
    pq.write_table(table, folder / "metrics.parquet")
    return Stored(folder, framework, 1, max(map(len, series.values())))


def test_values_are_in_the_units_of_the_catalog(tmp_path: Path) -> None:
    # open-instruct logs the share that stopped; the catalog's metric is the share that did not.
    run = stored(tmp_path, "open-instruct", {"val/stop_rate": [1.0, 0.9, 0.8, 0.5]})
    (table,) = summarized([run], load_catalog(rules_dir()))
    (row,) = table.to_pylist()
    assert row["metric"] == "truncated_ratio"
    assert row["logged_as"] == "(1 - val/stop_rate)"
    assert (row["first"], row["last"], row["late"]) == (0.0, 0.5, 0.5)
    low, median, high = np.quantile([0.0, 0.1, 0.2, 0.5], [0.05, 0.5, 0.95])
    assert (row["p05"], row["median"], row["p95"]) == pytest.approx((low, median, high))
    assert row["slope"] == pytest.approx(np.polyfit([1, 2, 3, 4], [0.0, 0.1, 0.2, 0.5], 1)[0])


def test_of_two_names_the_preferred_one_counts_and_no_value_overflows(tmp_path: Path) -> None:
    run = stored(
        tmp_path,
        "AReaL",
        {
            "grpo_actor/task_reward/avg": [0.9] * 4,
            "ppo_actor/task_reward/avg": [0.1, 0.2, 1e308, float("inf")],
            "ppo_actor/update/grad_norm": [2.0],
        },
    )
    (table,) = summarized([run], load_catalog(rules_dir()))
    reward, gradient = sorted(table.to_pylist(), key=lambda row: row["metric"] != "task_reward")
    assert reward["logged_as"] == "ppo_actor/task_reward/avg"
    assert (reward["n"], reward["last"], reward["late"]) == (2, 0.2, None)
    assert (gradient["n"], gradient["median"], gradient["slope"]) == (1, 2.0, None)
