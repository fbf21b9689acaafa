"""Series, derived series, facts and SQL of a run, with values worked out by hand."""

from __future__ import annotations

from datetime import date

import numpy as np
import pytest
from tables_of import tables_of

from analyzer.errors import UsageError
from analyzer.tables.evidence import Absent, Series
from analyzer.tables.run import RunTables

CONFIG = {
    "actor.backend": "fsdp:d4p1t1",
    "train_dataset.batch_size": 64,
    "gconfig.n_samples": 8,
    "gconfig.max_new_tokens": 4096,
    "cluster.n_nodes": 2,
    "cluster.n_gpus_per_node": 8,
}


def series(run: RunTables, name: str) -> Series:
    found = run.series(name)
    assert isinstance(found, Series), found
    return found


def test_the_floor_of_no_eos_is_removed_with_the_ranks_of_the_configuration() -> None:
    """4 ranks, 512 sequences: 0.0078125 is the floor; 0.1 leaves 0.0921875."""
    run = tables_of({"no_eos_ratio": "0.0078125x2 0.1x1", "n_seqs": "512x3"}, config=CONFIG)
    excess = series(run, "truncation_excess")
    assert excess.values.tolist() == pytest.approx([0, 0, 0.0921875])
    assert excess.logged_as == ("greatest(ppo_actor/no_eos_ratios/avg - 4 / ppo_actor/n_seqs, 0)")


def test_without_n_seqs_the_batch_of_the_configuration_is_used() -> None:
    run = tables_of({"no_eos_ratio": "0.1x3"}, config=CONFIG)
    assert series(run, "truncation_excess").values[0] == pytest.approx(0.1 - 4 / 512)


def test_without_a_configuration_the_lower_envelope_is_the_floor() -> None:
    run = tables_of({"no_eos_ratio": "0.03125x5 0.25x1"})
    assert series(run, "truncation_excess").values[-1] == pytest.approx(0.21875)
    with_n = tables_of({"no_eos_ratio": "0.03125x5 0.25x1", "n_seqs": "32x6"})
    assert with_n.fact("padding_groups") == (1.0, "min of no_eos_ratio * n_seqs")


def test_a_derived_series_has_the_steps_that_all_its_parts_have() -> None:
    run = tables_of({"task_reward": "0.5x21", "eval_reward": {"every": 10, "values": "0.25x3"}})
    gap = series(run, "generalization_gap")
    assert gap.steps.tolist() == [0, 10, 20]
    assert gap.values.tolist() == [0.25] * 3


def test_an_absent_part_is_named() -> None:
    run = tables_of({"task_reward": "0.5x5"})
    gap = run.series("generalization_gap")
    assert isinstance(gap, Absent)
    assert gap.reason == "generalization_gap needs eval_reward, which is not logged in this run"
    seq_len = run.series("seq_len")
    assert isinstance(seq_len, Absent)
    assert seq_len.reason == "seq_len is not logged in this run"


def test_nan_stays_a_value_and_a_gap_a_gap() -> None:
    run = tables_of({"grad_norm": "1x2 _x3 nanx1 infx1"})
    norm = series(run, "grad_norm")
    assert norm.steps.tolist() == [0, 1, 5, 6]
    assert np.isnan(norm.values[2])
    assert np.isposinf(norm.values[3])


def test_older_names_are_the_same_series() -> None:
    run = tables_of({"grpo_actor/entropy/avg": "0.5x4"})
    assert series(run, "entropy").logged_as == "grpo_actor/entropy/avg"


def test_long_series_are_reduced_to_medians_of_equal_counts() -> None:
    run = tables_of({"entropy": "0+1x1000"})
    reduced = run.series("entropy", 10)
    assert isinstance(reduced, Series)
    assert reduced.values.tolist() == pytest.approx([49.5 + 100 * i for i in range(10)])
    assert len(run.series("entropy", 2000)) == 1000  # type: ignore[arg-type]


def test_a_reduced_derived_series_is_the_same_as_a_logged_one() -> None:
    run = tables_of({"task_reward": "0+0.001x1000", "rollout_reward": "0x1000"})
    reduced = run.series("filter_gap", 4)
    assert isinstance(reduced, Series)
    assert reduced.values.tolist() == pytest.approx([0.1245, 0.3745, 0.6245, 0.8745])


def test_step_time_is_the_sum_of_its_phases() -> None:
    run = tables_of({"t_rollout": "20x3", "t_train": "12x3", "t_update_weights": "1.5x3"})
    assert series(run, "t_step").values.tolist() == [33.5] * 3


def test_facts_of_the_configuration_and_the_series() -> None:
    run = tables_of({"prompt_len": "110x4", "n_seqs": "500x4"}, config=CONFIG)
    assert run.fact("gpus") == (16.0, "cluster.n_nodes = 2 × cluster.n_gpus_per_node = 8")
    assert run.fact("batch_seqs") == (500.0, "median of n_seqs")
    assert run.fact("padding_groups") == (4.0, "actor.backend = fsdp:d4p1t1")
    assert run.fact("generation_cap") == (4206.0, "4096 + 110")
    assert run.fact("staleness_bound") is None


@pytest.mark.parametrize(
    ("mode", "ranks"),
    [
        ("sglang.d4p1t1+d2p1t1", 2.0),
        ("sglang:d4p1t1+fsdp:d8p1t1", 8.0),
        ("sglang.d1p1t1+d1p1t1", 1.0),
    ],
)
def test_ranks_of_an_allocation_mode(mode: str, ranks: float) -> None:
    found = tables_of({"entropy": "1x2"}, config={"allocation_mode": mode}).fact("padding_groups")
    assert found is not None
    assert found[0] == ranks


def test_known_defects_follow_the_series_where_the_configuration_does_not_rule_them_out() -> None:
    masked = tables_of(
        {"importance_weight": "1x3"}, config={"actor.rejection_sampling.action": "mask"}
    )
    clamped = tables_of(
        {"importance_weight": "1x3"}, config={"actor.rejection_sampling.action": "clamp"}
    )
    assert len(series(masked, "importance_weight").caveats) == 1
    assert series(clamped, "importance_weight").caveats == ()
    assert len(series(tables_of({"importance_weight": "1x3"}), "importance_weight").caveats) == 1


def test_a_defect_that_the_build_has_mended_is_no_caveat() -> None:
    """n_masked_tokens is written since 2026-08-06, the day that A01 was mended."""
    old = tables_of({"importance_weight": "1x3"})
    new = tables_of({"importance_weight": "1x3", "ppo_actor/update/n_masked_tokens": "5x3"})
    assert old.build_since is None
    assert new.build_since == date(2026, 8, 6)
    assert len(series(old, "importance_weight").caveats) == 1
    assert series(new, "importance_weight").caveats == ()


def test_superseded_rows_are_not_part_of_a_series() -> None:
    run = tables_of({"entropy": "1x20"}, resumes=[10])
    assert len(series(run, "entropy")) == 20
    assert run.sql("SELECT count(*) AS n FROM metrics").to_pylist() == [{"n": 23}]
    assert run.resumes == (10,)


def test_a_section_of_the_configuration_is_an_object() -> None:
    run = tables_of({"entropy": "1x2"}, config={"a.b.c": 1, "a.b.d": None})
    value = run.config("a.b")
    assert value is not None
    assert value.value == {"c": 1, "d": None}
    assert run.config("a.x") is None


@pytest.mark.parametrize(
    "query",
    [
        "DROP VIEW metrics",
        "SELECT 1; SELECT 2",
        "SELECT * FROM read_csv('/etc/passwd')",
        "COPY metrics TO '/tmp/x.csv'",
        "SET threads = 1",
        "SELEC 1",
    ],
)
def test_sql_reads_this_run_and_nothing_else(query: str) -> None:
    with pytest.raises(UsageError):
        tables_of({"entropy": "1x2"}).sql(query)
