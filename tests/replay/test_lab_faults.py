"""The lab's faults: each shows itself in the number that it is about, measured directly."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import needs_torch  # noqa: F401
import pytest

from analyzer.replay import conventions
from analyzer.replay.bundle import read_bundle
from analyzer.replay.stage0 import replay_batch
from sample_logs.lab import FAULTS, HEALTHY, SCENARIOS, Run, Written, settings_of, train
from sample_logs.lab.optimiser import LossScale
from sample_logs.lab.settings import Settings, with_values

UPDATE = "ppo_actor/update/"
Make = Callable[..., Run]


@pytest.fixture(scope="module")
def make(tmp_path_factory: pytest.TempPathFactory) -> Make:
    """Makes a run of a scenario with some steps and fields."""

    def made(name: str, strength: str = "strong", steps: int = 2, **values: object) -> Run:
        settings = SCENARIOS[name].settings(strength, 1, steps)  # type: ignore[arg-type]
        named = {key.replace("__", "."): value for key, value in values.items()}
        settings = with_values(settings, {"changes": (), "eval_every": 1000, **named})
        return train(settings, tmp_path_factory.mktemp(name))

    return made


def last(run: Run, key: str) -> float:
    return run.series(key)[-1]


def log_of(run: Run) -> str:
    return next(run.out.rglob("main.log")).read_text("utf-8")


def test_rules_named_are_rules_that_are(repository: Path) -> None:
    known = set((repository / "rules" / "ids.txt").read_text("utf-8").split())
    named = {
        rule
        for scenario in SCENARIOS.values()
        for each in (*scenario.must_find, *scenario.must_not)
        for rule in each.split("|")
    }
    assert named <= known
    assert len(SCENARIOS) == len(HEALTHY) + len(FAULTS)
    assert all(scenario.healthy for scenario in HEALTHY)
    assert not any(scenario.healthy for scenario in FAULTS)


@pytest.mark.parametrize("name", [scenario.name for scenario in FAULTS])
def test_mild_and_strong_are_two_things_and_off_is_none(name: str) -> None:
    off, mild, strong = (settings_of(name, strength) for strength in ("off", "mild", "strong"))
    scenario = SCENARIOS[name]
    assert len({repr(settings) for settings in (off, mild, strong)}) == 3
    assert off == with_values(Settings(name=name), scenario.base)
    if scenario.since:
        assert strong.at(scenario.since - 1) == replace(off, changes=strong.changes)
        assert repr(strong.at(scenario.since)) != repr(strong.at(0))
    if scenario.until is not None:
        assert strong.at(scenario.until) == replace(off, changes=strong.changes)


def test_a_limit_below_the_answers_cuts_them(make: Make) -> None:
    key = "ppo_actor/no_eos_ratios/avg"
    healthy, mild, strong = (
        last(make("max_new_tokens_small", strength, 1), key)
        for strength in ("off", "mild", "strong")
    )
    assert healthy < 0.05
    assert healthy + 0.05 < mild < strong


def test_a_nucleus_leaves_the_weight_below_one(make: Make) -> None:
    key = f"{UPDATE}behave_imp_weight/avg"
    off, mild, strong = (last(make("top_p", s, 1), key) for s in ("off", "mild", "strong"))
    assert off == pytest.approx(1, abs=1e-4)  # samples of the policy itself
    assert off > mild > strong
    assert strong < 0.95


def test_eight_bits_part_the_policies(make: Make) -> None:
    key = f"{UPDATE}logp_abs_diff/avg"
    off, mild, strong = (
        last(make("engine_precision", strength, 1), key) for strength in ("off", "mild", "strong")
    )
    assert off < 1e-5
    assert 0.02 < mild < strong


def test_many_minibatches_move_the_importance_weight(make: Make) -> None:
    one, many = (make("minibatches", strength, 3) for strength in ("off", "strong"))
    assert set(one.series(f"{UPDATE}importance_weight/avg")) == {1.0}
    assert last(many, f"{UPDATE}importance_weight/max") > 1.05


def test_dropout_moves_it_with_one_minibatch(make: Make) -> None:
    run = make("nondeterminism", "strong", 1)
    assert last(run, f"{UPDATE}importance_weight/max") > 1.5
    assert last(run, f"{UPDATE}clip_ratio/avg") > 0.02


def test_one_seed_makes_groups_of_equals(make: Make) -> None:
    assert last(make("dead_groups", "strong", 1), "ppo_actor/advantages/max") == 0.0
    assert last(make("dead_groups", "off", 1), "ppo_actor/advantages/max") > 1


def test_old_weights_are_as_old_as_they_say(make: Make) -> None:
    run = make("stale_rejected", "strong", 6)
    ages = run.series(f"{UPDATE}version_stats/sample_staleness_theta_max")
    assert ages == [0, 1, 2, 3, 4, 5]  # version 0 samples until it is 32 versions old


def test_a_growing_loss_scale_ends_all_updates(make: Make) -> None:
    scale = LossScale(start=2.0**16, growth_every=1, shrinks=False)
    run = make("nan_gradient", steps=16, training__half=scale, data__prompts=2)
    taken = run.series(f"{UPDATE}update_successful")
    assert taken[0] == 1
    assert taken[-2:] == [0, 0]
    before, after = run.series(f"{UPDATE}grad_norm")[0], last(run, f"{UPDATE}grad_norm")
    assert before < 100
    assert not after < float("inf")


def test_verifiers_out_of_time_are_told_one_by_one(make: Make) -> None:
    run = make("reward_timeouts", steps=1, reward__timeouts=0.25)
    lines = log_of(run).count("Computing reward timeout after 15s. Set reward to 0.")
    assert 15 < lines < 50  # of 128
    assert last(run, "ppo_actor/task_reward/avg") < last(
        make("reward_timeouts", steps=1), "ppo_actor/task_reward/avg"
    )


def test_a_crash_takes_the_run_back(make: Make) -> None:
    run = make("crash_restart", steps=5, events__crash_at=3, events__recover_every=3)
    assert [step for step, _ in run.values] == [0, 1, 2, 3, 3, 4]
    text = log_of(run)
    assert text.index("RLTrainer ERROR: CUDA error") < text.index("Recovered from step 3")


def test_a_killed_run_says_nothing(make: Make) -> None:
    run = make("killed", steps=5, events__killed_at=2)
    assert [step for step, _ in run.values] == [0, 1, 2]
    text = log_of(run)
    assert "ERROR" not in text
    assert "Training completes" not in text


def test_a_filter_leaves_groups_with_a_signal(make: Make) -> None:
    run = make("filter_starves", steps=1, written=Written(dumps_every=1))
    groups = [
        {json.loads(line)["reward"] for line in path.read_text("utf-8").splitlines()}
        for path in (run.out / "rollout" / "0").iterdir()
    ]
    assert len(groups) == last(run, "ppo_actor/n_seqs") / 8
    assert all(group == {0.0, 1.0} for group in groups)
    assert last(run, "rollout/reward") < last(run, "ppo_actor/task_reward/avg") - 0.2


def test_a_recorded_batch_gives_the_logged_statistics(tmp_path: Path) -> None:
    settings = replace(settings_of("minibatches", "mild", 1, 3), written=Written(recorded_every=2))
    run = train(settings, tmp_path)
    bundle = read_bundle(tmp_path / "recorded" / "step_00000002")
    known = conventions.resolve("areal-2026-08", {})
    found = replay_batch(bundle, known).stats
    logged = run.values[2][1]
    keys = [k for k in found if not k.endswith("__count")]
    assert len(keys) > 80
    for key in keys:
        assert found[key] == pytest.approx(logged[key], rel=1e-5, abs=1e-6), key
    assert (tmp_path / "checkpoints" / "v2" / "model.safetensors").is_file()
