"""Series of restarts, stalls, spikes and lines of the log, with values worked out by hand."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from tables_of import CATALOG, tables_of

from analyzer.pipeline import Settings, open_rulebook
from analyzer.rulebook.evaluate import Judge
from analyzer.rulebook.testing.cases import Case
from analyzer.rulebook.testing.runner import case_tables
from analyzer.tables.evidence import Absent, Floats, Series
from analyzer.tables.run import RunTables
from analyzer.tables.schema import EVENTS, METRICS

START = datetime(2026, 5, 1, tzinfo=UTC)


def series(run: RunTables, name: str) -> Series:
    found = run.series(name)
    assert isinstance(found, Series), found
    return found


def values(run: RunTables, name: str) -> Floats:
    return series(run, name).values


# --- gradient norm ------------------------------------------------------------------------


def test_a_spike_is_a_multiple_of_the_median_around_it() -> None:
    """25 rows on each side: 30 of the 51 rows around step 50 are 2, so its 6 is 3 times that."""
    run = tables_of({"grad_norm": "1x30 2x20 6x1 2x40"})
    assert values(run, "grad_spike_ratio")[50] == pytest.approx(3.0)
    assert values(run, "grad_spike_ratio")[5] == pytest.approx(1.0)


def test_no_spike_is_told_where_the_level_is_zero() -> None:
    assert isinstance(tables_of({"grad_norm": "0x60"}).series("grad_spike_ratio"), Absent)


def test_the_upper_end_is_the_highest_of_ten_steps_in_a_short_run() -> None:
    run = tables_of({"grad_norm": "1x9 5x1 1x10 1x9 7x1"})
    upper = series(run, "grad_norm_upper")
    assert upper.values.tolist() == [5.0, 1.0, 7.0]
    assert upper.steps.tolist() == [4, 14, 24]


def test_the_upper_end_has_twenty_five_parts_in_a_long_run() -> None:
    """1000 rows: 40 a part; the values count up, so the highest of each is its last."""
    run = tables_of({"grad_norm": "0+1x1000"})
    assert values(run, "grad_norm_upper").tolist() == [39.0 + 40 * i for i in range(25)]


# --- restarts -----------------------------------------------------------------------------


def test_a_restart_compares_fifteen_steps_after_it_with_twenty_before() -> None:
    """Only 80–99 and 100–114 count: 2 before, 5 after."""
    run = tables_of({"grad_norm": "9x80 2x20 5x15 9x40"}, resumes=(100,))
    ratio = series(run, "grad_resume_ratio")
    assert (ratio.steps.tolist(), ratio.values.tolist()) == ([100], [2.5])


def test_entropy_is_compared_40_to_70_steps_after_the_restart() -> None:
    run = tables_of({"entropy": "0.4x100 0.9x40 0.1x31 0.9x20"}, resumes=(100,))
    ratio = series(run, "entropy_resume_ratio")
    assert ratio.steps.tolist() == [100]
    assert ratio.values[0] == pytest.approx(0.25)


def test_each_restart_has_its_own_ratio() -> None:
    run = tables_of({"grad_norm": "1x50 2x50 3x50"}, resumes=(50, 100))
    ratio = series(run, "grad_resume_ratio")
    assert ratio.steps.tolist() == [50, 100]
    assert ratio.values.tolist() == [2.0, 1.5]


def test_no_ratio_without_a_restart_or_with_too_few_rows() -> None:
    assert isinstance(tables_of({"grad_norm": "1x99"}).series("grad_resume_ratio"), Absent)
    short = tables_of({"grad_norm": "1x109"}, resumes=(100,))
    assert isinstance(short.series("grad_resume_ratio"), Absent)


# --- stalls -------------------------------------------------------------------------------


def test_a_stall_is_held_against_its_neighbours_and_a_minute() -> None:
    """Usually 40 s; a step of 800 s is 800 / (40 + 60); evaluation and saving do not count."""
    run = tables_of(
        {
            "t_rollout": "30x30 790x1 30x30",
            "t_train": "10x61",
            "t_eval": {"every": 10, "values": "5000x7"},
            "t_save": {"every": 20, "values": "3000x4"},
            "t_checkpoint": {"every": 20, "values": "3000x4"},
        }
    )
    ratio = series(run, "stall_ratio")
    assert ratio.steps.tolist() == list(range(1, 61))
    assert ratio.values[29] == pytest.approx(8.0)
    assert np.delete(ratio.values, 29) == pytest.approx(np.full(59, 0.4))


def test_the_first_step_of_each_attempt_is_left_out() -> None:
    run = tables_of({"t_rollout": "900x1 40x29 900x1 40x29"}, resumes=(30,))
    ratio = series(run, "stall_ratio")
    assert not {0, 30} & set(ratio.steps.tolist())
    assert ratio.values.max() == pytest.approx(0.4)


def timed(seconds: list[float], phases: float, said: list[tuple[float, str]]) -> RunTables:
    """A run whose steps were logged at these times, each with a rollout of `phases` seconds, and
    lines of the log at later times."""
    rows: dict[str, Any] = {
        "run": ["x"] * len(seconds),
        "attempt": [0] * len(seconds),
        "step": list(range(len(seconds))),
        "log_step": pa.nulls(len(seconds), pa.int64()),
        "metric": ["timeperf/rollout"] * len(seconds),
        "canonical": ["t_rollout"] * len(seconds),
        "value": [phases] * len(seconds),
        "wall_time": [START + timedelta(seconds=s) for s in seconds],
        "source": ["main.log"] * len(seconds),
        "superseded": [False] * len(seconds),
    }
    events = [
        {
            "run": "x",
            "attempt": 0,
            "step": None,
            "wall_time": START + timedelta(seconds=at),
            "level": "WARNING",
            "logger": "main",
            "message": message,
            "repeats": 1,
            "source": "main.log",
            "line": number,
        }
        for number, (at, message) in enumerate(said, start=1)
    ]
    case = Case(name="x", kind="clear", series={"t_rollout": f"1x{len(seconds)}"}, expect=())
    tables = {
        "metrics": pa.table(rows).cast(METRICS),
        "events": pa.Table.from_pylist(events, schema=EVENTS),
        "config": pa.table({"run": [], "key": [], "value": [], "source": []}),
    }
    return RunTables(case_tables(case, CATALOG).manifest, CATALOG, {**tables})


def test_silence_at_the_end_counts_as_an_unfinished_step() -> None:
    """Casebook F03: steps of 894 and 965 s, then 90 minutes of nothing. Both steps are written as
    930 s here, so the ratio is 5400 / (930 + 60)."""
    run = timed([894, 1859], 930, [(1859 + 5400, "SIGTERM received")])
    ratio = series(run, "stall_ratio")
    assert ratio.steps.tolist() == [1, 2]
    assert ratio.values[1] == pytest.approx(5400 / 990)


def test_the_rule_tells_of_a_run_that_fell_silent() -> None:
    run = timed([894, 1859], 930, [(1859 + 5400, "SIGTERM received")])
    rulebook = open_rulebook(CATALOG, Settings())
    only = replace(rulebook, rules=tuple(r for r in rulebook.rules if r.id == "stall"))
    finding = Judge(only, CATALOG, run, "x").judgement(True).finding("stall")
    assert finding is not None
    assert finding.onset is not None
    assert (finding.severity, finding.onset.step) == ("info", 2)


def test_a_run_that_completed_is_not_silent() -> None:
    said = [(1860.0, "Training completes! Total time elapsed 0.5."), (9000.0, "stopped")]
    assert series(timed([894, 1859], 930, said), "stall_ratio").steps.tolist() == [1]


def test_nothing_said_after_the_last_step_is_no_silence() -> None:
    assert series(timed([894, 1859], 930, [(10, "early")]), "stall_ratio").steps.tolist() == [1]


# --- values and lines ---------------------------------------------------------------------


def test_means_that_are_not_finite_count_more_than_other_series() -> None:
    run = tables_of(
        {
            "entropy": "0.3x2 nanx1 0.3x2",
            "correct_seq_len": "600x1 infx1 nanx1 600x2",
            "grad_norm": "nanx5",
        }
    )
    assert values(run, "nonfinite_kind").tolist() == [0.0, 1.0, 2.0, 0.0, 0.0]


def test_rewards_lost_to_timeouts_are_a_share_of_the_sequences() -> None:
    """Two lines set a reward to 0, of 4 steps of 25 sequences; retries and others do not count."""
    log = (
        "1 WARNING RewardAPI: Computing reward timeout after 15s (attempt 4/4). Returning 0.",
        "2 WARNING Reward API: Computing reward timeout after 15s. Set reward to 0.",
        "2 WARNING RewardAPI: Computing reward timeout after 15s (attempt 1/4). Retrying...",
        "3 WARNING Other: timeout",
    )
    run = tables_of({"n_seqs": "25x4"}, log=log)
    share = series(run, "reward_timeout_share")
    assert (share.steps.tolist(), share.values.tolist()) == ([3], [0.02])


# --- facts --------------------------------------------------------------------------------


def test_a_default_stands_where_the_configuration_has_no_such_key() -> None:
    run = tables_of({}, config={"gconfig.temperature": 0.6})
    assert run.fact("sampling_temperature") == (0.6, "gconfig.temperature = 0.6")
    assert run.fact("training_temperature") == (1.0, "actor.temperature = 1, its default")
    gap = run.fact("temperature_gap")
    assert gap is not None
    assert gap[0] == pytest.approx(0.4)


def test_a_null_is_no_value_and_a_word_is_no_number() -> None:
    run = tables_of({}, config={"gconfig.temperature": None, "actor.temperature": "${x}"})
    assert run.fact("sampling_temperature") == (1.0, "gconfig.temperature = 1, its default")
    assert run.fact("training_temperature") is None


def test_no_default_without_a_configuration() -> None:
    assert tables_of({}).fact("sampling_temperature") is None


def test_concurrency_is_the_size_of_a_batch_where_it_is_not_set() -> None:
    config = {
        "rollout.max_concurrent_rollouts": None,
        "rollout.consumer_batch_size": 64,
        "train_dataset.batch_size": 64,
        "allocation_mode": "sglang.d16p1t1+fsdp:d8",
    }
    run = tables_of({}, config=config)
    assert run.fact("concurrency_batches") == (1.0, "64 / 64")
    assert run.fact("rollout_engines") == (16.0, "allocation_mode = sglang.d16p1t1+fsdp:d8")
    assert run.fact("slots_per_engine") == (4.0, "least(64, 64) / 16")


def test_steps_are_counted_once() -> None:
    assert tables_of({"entropy": "1x40"}, resumes=(20,)).fact("steps_seen") == (40.0, "the log")
    assert tables_of({}).fact("steps_seen") == (0.0, "the log")
