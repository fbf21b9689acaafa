"""Names of other frameworks: which series they are, and how their values are made equal."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from tables_of import CATALOG

from analyzer.pipeline import open_catalog, open_run
from analyzer.tables.config_keys import ConfigKey, Dialect, Quotient
from analyzer.tables.evidence import ConfigValue, Series
from analyzer.tables.run import RunTables
from analyzer.tables.vocabulary import squash


def run_of(tmp_path: Path, rows: Sequence[Mapping[str, float]], first: int = 1) -> RunTables:
    lines = (json.dumps({"step": step, **row}) for step, row in enumerate(rows, first))
    path = tmp_path / "metrics.jsonl"
    path.write_text("\n".join(lines) + "\n")
    return open_run(path, tmp_path / "store", open_catalog())


def of(tables: RunTables, name: str) -> Series:
    series = tables.series(name)
    assert isinstance(series, Series)
    return series


def values(tables: RunTables, name: str) -> list[float]:
    return [float(value) for value in of(tables, name).values]


def logged_as(tables: RunTables, name: str) -> str:
    return of(tables, name).logged_as


VERL = {"critic/score/mean": 0.5, "actor/pg_clipfrac": 0.01, "actor/lr": 1e-6}


def test_a_sign_is_turned_and_told(tmp_path: Path) -> None:
    tables = run_of(tmp_path, [VERL | {"actor/ppo_kl": 0.002}, VERL | {"actor/ppo_kl": -0.001}])
    assert tables.framework == "verl"
    assert values(tables, "approx_kl") == [-0.002, 0.001]
    assert logged_as(tables, "approx_kl") == "(-1 · actor/ppo_kl)"
    assert logged_as(tables, "task_reward") == "critic/score/mean"


def test_a_percentage_becomes_a_fraction(tmp_path: Path) -> None:
    rows = [{"train/baseline_reward/pct_0": 25.0, "train/gen_kl_error": 0.001}]
    tables = run_of(tmp_path, rows * 2)
    assert tables.framework == "nemo-rl"
    assert values(tables, "all_wrong_groups") == [0.25, 0.25]
    assert logged_as(tables, "all_wrong_groups") == "(0.01 · train/baseline_reward/pct_0)"


def test_a_share_of_the_opposite_is_taken_from_one(tmp_path: Path) -> None:
    rows = [{"val/stop_rate": 0.75, "objective/verifiable_reward": 0.5}]
    tables = run_of(tmp_path, rows * 2)
    assert tables.framework == "open-instruct"
    assert values(tables, "truncated_ratio") == [0.25, 0.25]
    assert logged_as(tables, "truncated_ratio") == "(1 - val/stop_rate)"


def test_one_word_means_two_things(tmp_path: Path) -> None:
    """response_length/clip_ratio is of lengths, TRL's clip_ratio is of importance ratios."""
    verl = CATALOG.resolve(["response_length/clip_ratio", "actor/pg_clipfrac"], "verl")
    assert {name: alias.canonical for name, alias in verl.items()} == {
        "response_length/clip_ratio": "truncated_ratio",
        "actor/pg_clipfrac": "clip_ratio",
    }
    trl = CATALOG.resolve(["clip_ratio/region_mean", "completions/clipped_ratio"], "trl")
    assert {name: alias.canonical for name, alias in trl.items()} == {
        "clip_ratio/region_mean": "clip_ratio",
        "completions/clipped_ratio": "truncated_ratio",
    }
    openrlhf = CATALOG.resolve(["train/response_clip_ratio", "train/ppo_clip_ratio"], "openrlhf")
    assert {name: alias.canonical for name, alias in openrlhf.items()} == {
        "train/response_clip_ratio": "truncated_ratio",
        "train/ppo_clip_ratio": "clip_ratio",
    }


@pytest.mark.parametrize(
    ("names", "framework"),
    [
        (["actor/pg_clipfrac", "actor/ppo_kl", "critic/score/mean"], "verl"),
        (["actor_pg_clipfrac", "actor_ppo_kl", "timing_s_step"], "verl"),
        (["completions/mean_length", "rewards/a/std", "reward_std"], "trl"),
        (["train/completions/mean_length", "train/reward_std"], "trl"),
        (["env/all/reward/total", "env/all/ac_tokens_per_turn"], "tinker"),
        (["critic/score/mean", "tokens/response_length/mean", "actor/approxkl"], "roll"),
        (["ppo_actor/task_reward/avg", "timeperf/rollout"], "areal"),
        (["reward", "reward_std", "entropy"], None),
        (["loss"], None),
    ],
)
def test_the_framework_by_its_names(names: list[str], framework: str | None) -> None:
    assert CATALOG.framework_of(names) == framework


def test_names_whose_separators_were_replaced() -> None:
    assert squash("val-core/gsm8k/reward/mean@1") == squash("val_core_gsm8k_reward_mean_at_1")
    names = ["actor_ppo_kl", "val_core_gsm8k_reward_mean_at_1", "timing_s_gen"]
    found = CATALOG.resolve(names, "verl")
    assert {name: alias.canonical for name, alias in found.items()} == {
        "actor_ppo_kl": "approx_kl",
        "val_core_gsm8k_reward_mean_at_1": "eval_reward",
        "timing_s_gen": "t_rollout",
    }
    assert found["actor_ppo_kl"].scale == -1


def test_names_that_look_like_one_and_are_not() -> None:
    found = CATALOG.resolve(["eval/aime", "eval/aime/response_len/mean", "eval/step"], "slime")
    assert list(found) == ["eval/aime"]


def test_a_file_of_no_known_framework_is_read_by_plain_names(tmp_path: Path) -> None:
    tables = run_of(tmp_path, [{"reward": 0.5, "learning_rate": 1e-6, "mine": 3}] * 2, first=0)
    assert tables.framework is None
    assert values(tables, "task_reward") == [0.5, 0.5]
    assert values(tables, "lr") == [1e-6, 1e-6]


def test_a_length_without_the_prompt_takes_the_place_of_one_with_it(tmp_path: Path) -> None:
    tables = run_of(tmp_path, [VERL | {"response_length/mean": 400, "prompt_length/mean": 100}] * 2)
    assert values(tables, "seq_len") == [500, 500]
    other = run_of(tmp_path, [{"reward": 1, "response_length": 400}] * 2)
    assert values(other, "seq_len") == [400, 400]


def test_a_dialect_names_and_divides() -> None:
    same_as: dict[str, str | tuple[str, ...] | Quotient] = {
        "gconfig.max_new_tokens": ("new_name", "old_name"),
        "actor.ppo_n_minibatches": Quotient(key="mini_batch_size", of="batch_size"),
    }
    dialect = Dialect("x", same_as)
    own = {
        "old_name": ConfigValue(512, "config.yaml"),
        "batch_size": ConfigValue(256, "config.yaml"),
        "mini_batch_size": ConfigValue(64, "config.yaml"),
    }
    limit = dialect.find("gconfig.max_new_tokens", own.get)
    assert limit is not None
    assert limit.value == 512
    parts = dialect.find("actor.ppo_n_minibatches", own.get)
    assert parts is not None
    assert (parts.value, parts.shown) == (4, "batch_size / mini_batch_size")
    assert dialect.find("actor.eps_clip", own.get) is None
    assert dialect.name_of("gconfig.max_new_tokens") == "new_name"
    assert dialect.name_of("actor.ppo_n_minibatches") == "mini_batch_size"
    assert dialect.name_of("actor.eps_clip") is None


def test_every_key_that_a_dialect_speaks_of_is_areals() -> None:
    for dialect in CATALOG.dialects.values():
        for key in dialect.same_as:
            assert isinstance(CATALOG.config_keys[key], ConfigKey)
