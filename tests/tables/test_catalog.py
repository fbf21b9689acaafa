"""The metric catalog: the shipped one, and files with faults."""

from __future__ import annotations

from pathlib import Path

import pytest

from analyzer.errors import RuleErrors
from analyzer.resources import rules_dir
from analyzer.tables.catalog import load_catalog


@pytest.fixture(scope="module")
def metrics_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("x") / "rules" / "metrics"
    folder.mkdir(parents=True)
    return folder


@pytest.mark.parametrize(
    ("logged", "canonical"),
    [
        ("ppo_actor/task_reward/avg", "task_reward"),
        ("grpo_actor/task_reward/avg", "task_reward"),
        ("ppo_actor/update/entropy/avg", "entropy"),
        ("grpo_actor/entropy/avg", "entropy"),
        ("ppo_actor/no_eos_ratios/avg", "no_eos_ratio"),
        ("eval-rollout/reward", "eval_reward"),
        ("ppo_actor/update/version_stats/sample_staleness_proximal_avg", "staleness"),
        ("grpo_actor/behav_imp_weight_cap", "rs_upper"),
        ("timeperf/rollout", "t_rollout"),
    ],
)
def test_names_that_areal_logs(logged: str, canonical: str) -> None:
    assert load_catalog(rules_dir()).aliases[logged].canonical == canonical


def test_every_fault_of_every_file_is_told_with_its_place(metrics_folder: Path) -> None:
    (metrics_folder / "areal.yaml").write_text(
        "framework: AReaL\n"
        "metrics:\n"
        "  - name: a\n"
        "    meaning: first\n"
        "    unit: tokens\n"
        "    loged: [x/a]\n"
        "    logged: [x/a]\n"
        "  - name: B\n"
        "    meaning: second\n"
        "    unit: tokens\n"
        "    logged: [x/b]\n"
    )
    (metrics_folder / "derived.yaml").write_text("derived:\n  - name: c\n    unit: s\n")
    with pytest.raises(RuleErrors) as caught:
        load_catalog(metrics_folder.parent)
    lines = str(caught.value).splitlines()
    assert any(
        line.startswith("rules/metrics/areal.yaml:6:5: unknown key 'loged'")
        and "did you mean 'logged'" in line
        for line in lines
    ), lines
    assert any(line.startswith("rules/metrics/areal.yaml:8:5: metrics.1.name") for line in lines)
    assert any(
        line.startswith("rules/metrics/derived.yaml:2:5: key 'meaning' is missing")
        for line in lines
    )
