"""The lab's runs: they learn, they are the same twice, they go on after a stop."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import needs_torch  # noqa: F401
import pytest
import torch

from sample_logs.lab import Run, Settings, Written, settings_of, train
from sample_logs.lab.settings import with_values

REWARD = "ppo_actor/task_reward/avg"
UPDATE = "ppo_actor/update/"


def short(steps: int, **values: object) -> Settings:
    """Settings of a short run; names with two underlines for a dot."""
    named = {name.replace("__", "."): value for name, value in values.items()}
    return with_values(Settings(steps=steps), named)


@pytest.fixture(scope="module")
def learnt(tmp_path_factory: pytest.TempPathFactory) -> Run:
    settings = short(40, training__lr=6e-7, training__warmup_steps=5)
    return train(settings, tmp_path_factory.mktemp("learnt"))


def test_a_short_run_learns(learnt: Run) -> None:
    reward = learnt.series(REWARD)
    assert 0.3 < sum(reward[:4]) / 4 < 0.6
    assert sum(reward[-8:]) / 8 > sum(reward[:4]) / 4 + 0.1
    held_out = learnt.series("eval-rollout/reward")
    assert held_out[-1] > held_out[0] + 0.1


def test_the_current_policy_is_the_proximal_one_with_one_minibatch(learnt: Run) -> None:
    assert set(learnt.series(f"{UPDATE}importance_weight/avg")) == {1.0}
    assert set(learnt.series(f"{UPDATE}clip_ratio/avg")) == {0.0}


def test_samples_are_as_old_as_configured(learnt: Run) -> None:
    # Two versions behind, the second part of each response one: between 0 and 1 against proximal.
    staleness = learnt.series(f"{UPDATE}version_stats/sample_staleness_theta_avg")
    assert staleness[0] == 0.0
    assert all(1.0 <= age <= 2.0 for age in staleness[2:])


def test_the_same_settings_give_the_same_bytes(tmp_path: Path) -> None:
    settings = short(6, actor__ppo_n_minibatches=2, training__dropout=0.1)
    settings = replace(settings, written=Written(tensorboard=True, dumps_every=3))
    for name in ("one", "two"):
        train(settings, tmp_path / name)
    files = sorted(p.relative_to(tmp_path / "one") for p in (tmp_path / "one").rglob("*.*"))
    assert {path.name for path in files} >= {"main.log", "config.yaml"}
    for path in files:
        if path.name != "recover.pt":  # a ZIP file with times in it
            assert (tmp_path / "one" / path).read_bytes() == (tmp_path / "two" / path).read_bytes()


def test_another_seed_is_another_run(tmp_path: Path) -> None:
    one, two = (train(replace(short(2), seed=seed), tmp_path / str(seed)) for seed in (1, 2))
    assert one.series(REWARD) != two.series(REWARD)


def test_a_run_goes_on_where_it_stopped(tmp_path: Path) -> None:
    whole = short(6, events__recover_every=4, asynchrony__lag=0)
    through = train(whole, tmp_path / "whole")
    stopped = train(replace(whole, events=replace(whole.events, killed_at=4)), tmp_path / "half")
    assert [step for step, _ in stopped.values] == [0, 1, 2, 3, 4]
    log = next((tmp_path / "half").rglob("main.log")).read_text("utf-8")
    assert "Training completes" not in log
    resumed = train(whole, tmp_path / "half", resume=tmp_path / "half" / "recover")
    assert [step for step, _ in resumed.values] == [4, 5]
    # The same policy and moments; other samples, as their random numbers are of another attempt.
    state = torch.load(tmp_path / "half" / "recover" / "recover.pt", weights_only=True)
    assert state["step"] == 4
    assert state["optimiser"]["count"] == 4
    shift = (resumed.flat - state["flat"]).norm() / (through.flat - state["flat"]).norm()
    assert 0.5 < float(shift) < 2


def test_dumps_agree_with_the_log(tmp_path: Path) -> None:
    settings = replace(short(1), written=Written(dumps_every=1))
    run = train(settings, tmp_path)
    lines = [
        json.loads(line)
        for path in (tmp_path / "rollout" / "0").iterdir()
        for line in path.read_text("utf-8").splitlines()
    ]
    assert len(lines) == 128
    reward = sum(line["reward"] for line in lines) / 128
    assert run.series(REWARD) == [pytest.approx(reward)]
    assert run.series("ppo_actor/seq_len/avg") == [
        pytest.approx(sum(line["seqlen"] for line in lines) / 128)
    ]


def test_off_is_healthy() -> None:
    settings = settings_of("healthy", "off", seed=3, steps=10)
    assert settings == Settings(seed=3, steps=10)
