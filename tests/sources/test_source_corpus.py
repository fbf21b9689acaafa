"""Logs of other people: counts and values looked up in the files with grep."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from reading import Got, read

from analyzer.sources.discover import discover
from analyzer.sources.readers import reader_for, reader_of

pytestmark = pytest.mark.corpus

LEN, REWARD, WEIGHT = (
    "ppo_actor/seq_len/avg",
    "rollout/reward",
    "ppo_actor/update/importance_weight/avg",
)

# Of each main.log: its steps, its steps that are announced, and three first and last values.
RUNS = {
    "behave_weight_stale": (200, 200, (620.0, 776.57), (0.38506, 0.69163), (1.0, 1.0003)),
    "healthy_restarted": (160, 167, (620.0, 747.9), (0.36719, 0.71299), (1.0, 0.99973)),
    "importance_weight_artefact": (
        160,
        160,
        (620.0, 736.28),
        (0.28488, 0.7252),
        (0.97668, 0.90908),
    ),
    "importance_weight_minibatches": (200, 200, (620.0, 758.31), (0.31631, 0.71845), (1.0, 1.0852)),
    "length_truncation": (240, 240, (706.68, 3904.1), (0.34123, 0.44966), (1.0, 0.99965)),
    "reward_stagnation": (200, 200, (640.0, 647.82), (0.2134, 0.19433), (1.0, 0.99968)),
}


def text_of(folder: Path) -> Got:
    (source,) = [s for s in discover(folder).sources if s.format == "areal-text"]
    return read(reader_for(source.format), source.path)


def series(result: Got, metric: str) -> list[float]:
    return [row[4] for row in result.rows if row[3] == metric]


@pytest.mark.parametrize("run", RUNS)
def test_each_text_log_has_its_steps_and_values(corpus: Path, run: str) -> None:
    steps, announced, *ends = RUNS[run]
    result = text_of(corpus / "areal" / run)
    assert len({row[1] for row in result.rows}) == steps
    assert len({row[:2] for row in result.rows}) == announced
    for metric, (first, last) in zip((LEN, REWARD, WEIGHT), ends, strict=True):
        values = series(result, metric)
        assert (len(values), values[0], values[-1]) == (announced, first, last)
    evaluations = series(result, "eval-rollout/reward")
    assert len(evaluations) == (21 if run == "healthy_restarted" else 20)
    assert len(result.rows) == announced * 85 + len(evaluations)
    assert {row[2] for row in result.rows} == {None}
    assert result.notes == []
    assert (result.facts.total_steps, result.facts.finished) == (steps, True)


def test_the_restarted_run_has_two_attempts_and_its_crash_in_the_first(corpus: Path) -> None:
    result = text_of(corpus / "areal" / "healthy_restarted")
    steps = [sorted({row[1] for row in result.rows if row[0] == n}) for n in (0, 1)]
    assert [(own[0], own[-1]) for own in steps] == [(0, 96), (90, 159)]
    told = {e["message"]: (e["attempt"], e["step"], e["line"]) for e in result.events}
    assert told["CUDA error: uncorrectable NVLink error"] == (0, 97, 4817)
    assert told["Recovered from step 90"] == (1, None, 4818)


def test_main_merged_and_tensorboard_are_one_run(corpus: Path) -> None:
    root = corpus / "areal" / "healthy_all_backends"
    files = discover(root)
    assert files.name == "gsm8k-grpo/healthy-11"
    sources = {source.format: source for source in files.sources}
    main, events = (
        read(reader_for(name), sources[name].path) for name in ("areal-text", "tensorboard")
    )
    merged = sources["areal-text"].path.with_name("merged.log")
    reader = reader_of(merged)
    assert reader is not None
    assert read(reader, merged).metrics == main.metrics
    assert {row[1:4:2] for row in events.rows} == {row[1:4:2] for row in main.rows}
    assert len(events.rows) == len(main.rows) == 8520


@pytest.mark.parametrize(
    "run", ["healthy_all_backends", "behave_weight_stale", "length_truncation"]
)
def test_tensorboard_values_round_to_those_of_the_table(corpus: Path, run: str) -> None:
    files = discover(corpus / "areal" / run)
    (source,) = [s for s in files.sources if s.format == "tensorboard"]
    binary = {row[1:4:2]: row[4] for row in read(reader_for("tensorboard"), source.path).rows}
    text = text_of(corpus / "areal" / run).rows
    assert len(binary) == len(text)
    for row in text:
        assert binary[row[1:4:2]] == pytest.approx(row[4], rel=5.1e-5)  # half of the fifth digit


@pytest.mark.parametrize("name", ["wandb", "swanlab", "trackio"])
def test_a_tracker_holds_what_the_table_shows(corpus: Path, name: str) -> None:
    files = discover(corpus / "areal" / "healthy_all_backends")
    (source,) = [s for s in files.sources if s.format == name]
    tracked = read(reader_for(name, source.run), source.path)
    values = {row[1:4:2]: row[4] for row in tracked.rows}
    text = text_of(corpus / "areal" / "healthy_all_backends").rows
    assert len(values) == len(text) == 8520
    for row in text:
        assert values[row[1:4:2]] == pytest.approx(row[4], rel=5.1e-5)
    assert json.loads(tracked.config["trial_name"]) == "healthy-11"
    assert tracked.config["actor.admin_api_key"] == '"***"'
    assert tracked.facts.framework == "areal"
    assert tracked.facts.finished is (None if name == "trackio" else True)


WANDB = {
    "empty001": (0, ["no-exit-record", "no-history"]),
    "nanedge1": (41, []),
    "new_auto_steps": (3, ["implicit-steps"]),
    "old_bad_step_types": (0, ["bad-step", "no-history"]),
    "old_no_history": (0, ["no-history"]),
    "sysstats1": (1, ["system-statistics"]),
    "tiny0001": (150, []),
}


@pytest.mark.parametrize("name", sorted(WANDB))
def test_small_wandb_files_are_read_or_say_why_not(corpus: Path, name: str) -> None:
    path = corpus / "public" / "wandb-fixtures" / f"run-{name}.wandb"
    found = read(reader_for("wandb"), path)
    assert (len(found.rows), sorted(found.kinds())) == WANDB[name]
    if name == "nanedge1":
        odd = [row[4] for row in found.rows if row[3] == "edge/nan_inf"]
        assert math.isnan(odd[1])
        assert odd[2] == math.inf


def test_a_folder_of_dumps_is_one_source(corpus: Path) -> None:
    found = discover(corpus / "areal" / "length_truncation")
    assert found.skipped == ()
    sources = {source.relative: source.format for source in found.sources}
    assert sources.pop("tensorboard/events.out.tfevents.1795964320.vm") == "tensorboard"
    assert sources == {
        "config.yaml": "areal-config",
        "main.log": "areal-text",
        "rollout": "areal-rollouts",
    }


def test_the_configuration_is_flat_and_holds_no_secret(corpus: Path) -> None:
    path = corpus / "areal" / "length_truncation" / "config.yaml"
    config = read(reader_for("areal-config"), path).config
    assert len(config) == 629
    assert config["gconfig.max_new_tokens"] == "4096"
    assert config["actor.admin_api_key"] == '"***"'
    assert config["train_dataset.dataset_kwargs"] == "{}"


def test_a_container_log_of_an_older_version(corpus: Path) -> None:
    files = discover(corpus / "public" / "areal-container-h200")
    assert [s.relative for s in files.sources] == ["gsm8k_grpo_cloud.yaml", "logs_h200.txt"]
    result = text_of(corpus / "public" / "areal-container-h200")
    facts = result.facts
    assert (facts.framework_version, facts.total_steps, facts.steps_per_epoch) == (
        "0.3.4",
        4675,
        935,
    )
    assert (facts.trial, facts.finished, facts.has_utc) == ("trial_20251112_203112", False, True)
    assert len({row[1] for row in result.rows}) == 89
    assert {row[2] - row[1] for row in result.rows if row[2] is not None} == {1}
    assert series(result, "grpo_actor/lr")[:2] == [0.0, 4.25e-06]
    entropy = series(result, "grpo_actor/entropy/avg")
    assert (entropy[0], entropy[-1]) == (0.38663, 0.08813)
    rewarded = {row[1] for row in result.rows if row[3] == REWARD}
    assert set(range(89)) - rewarded == {31, 73}
    assert str(result.metrics[0][5]) == "2025-11-12 20:32:41.821919+00:00"
    assert result.notes == []


def test_a_container_log_that_ends_out_of_memory(corpus: Path) -> None:
    result = text_of(corpus / "public" / "areal-container-oom")
    assert result.rows == []
    told = {
        (e["logger"], e["message"][:40]): (e["level"], e["repeats"], e["line"], e["step"])
        for e in result.events
    }
    oom = ("traceback", "torch.OutOfMemoryError: CUDA out of memo")
    assert told[oom] == ("ERROR", 6, 133, None)  # three starts, printed bare and by rank 0
    assert told[("console", "Killed")] == ("ERROR", 3, 269, None)
    starts = ("Local Scheduler", "LocalLauncher: experiment_name=gsm8k-grp")
    assert told[starts] == ("INFO", 4, 35, None)
    assert told[("Reward API", "Unexpected error in reward computation: ")][1] == 36
    assert told[("traceback", "RuntimeError: cannot schedule new future")][1] == 18
    assert "e1adc5be02" not in str(result.events)
    assert result.facts.framework == "areal"
    assert result.facts.total_steps is None


@pytest.mark.parametrize(
    ("folder", "format_name"),
    [
        ("verl-console-logic", "verl-text"),
        ("verl-csv-healthy", "csv"),
        ("trl-console", "trl-text"),
        ("trl-trainer-state", "trainer-state"),
        ("tinker-jsonl-resumed", "json-lines"),
        ("open-instruct-history", "csv"),
    ],
)
def test_logs_of_other_frameworks_are_known(corpus: Path, folder: str, format_name: str) -> None:
    (path,) = (corpus / "public" / folder).iterdir()
    reader = reader_of(path)
    assert reader is not None
    assert reader.format == format_name
