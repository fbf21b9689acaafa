"""Experiments: information by hand, cost from step times, length from noise or onset."""

from __future__ import annotations

from dataclasses import replace

import pytest
from compared_runs import run
from procedures_of import followed, named

from analyzer.compare.experiments import information, ordered, plan
from analyzer.compare.procedure_model import Experiment
from analyzer.tables.run import RunTables

CONFIG = {
    "rollout.max_head_offpolicyness": 4,
    "actor.use_decoupled_loss": True,
    "cluster.n_nodes": 2,
    "cluster.n_gpus_per_node": 8,
    "trial_name": "one",
}
FLAT = {
    "task_reward": "0.21x200~0.03",
    "task_reward_min": "0x200",
    "task_reward_max": "1x200",
    "t_rollout": "20x200",
    "t_train": "16x200",
}


def experiment(role: str, series: dict[str, str] = FLAT, **config: object) -> Experiment:
    found = followed(run(series, {**CONFIG, **config}))
    return next(e for p in found.values() for e in p.experiments if e.role == role)


def bits(procedure: str, question: str, first_open: str = "") -> float:
    spec = named(procedure).spec
    first = spec.question(first_open or question)
    return information(spec, spec.question(question), first)


def test_information_by_hand() -> None:
    # Two ends, one on each side.
    assert bits("is-it-asynchrony", "sync") == 1.0
    # Six ends: difficulty and quality; batch, rate, model and none of them. One third: 0.9183.
    assert bits("reward-stagnation", "testset") == pytest.approx(0.918296, abs=1e-6)
    # yes: difficulty and quality; no: all six. P(yes) = (2/2)/6: H(1/6) − 2/6 = 0.65002 − 0.33333.
    assert bits("reward-stagnation", "baseline") == pytest.approx(0.316689, abs=1e-6)
    # One of three: loops, or limit and length.
    assert bits("truncation", "loops") == pytest.approx(0.918296, abs=1e-6)
    # With loops still open: 1.5 of 3, less a third that the answer says nothing of.
    assert bits("truncation", "longer", "loops") == pytest.approx(2 / 3)
    # Batch, rate, model or none of them; the first is told from three, the last from one.
    assert bits("reward-stagnation", "batch") == pytest.approx(0.811278, abs=1e-6)
    assert bits("reward-stagnation", "step-size", "batch") == pytest.approx(0.704434, abs=1e-6)
    assert bits("reward-stagnation", "model", "batch") == pytest.approx(0.5)


def test_hours_are_steps_times_step_times_and_the_factor() -> None:
    found = experiment("sync")
    assert found.power is not None and found.cost is not None
    steps = found.power.steps
    assert steps is not None and found.cost.steps == steps
    assert found.cost.step_s == pytest.approx(2 * 36.0)  # synchronous: about twice
    assert found.cost.hours == pytest.approx(steps * 72.0 / 3600)
    assert found.cost.gpu_hours == pytest.approx(16 * steps * 72.0 / 3600)
    assert "twice as long" in found.cost.assumptions[0]
    assert found.bits_per_gpu_hour == pytest.approx(1.0 / (16 * steps * 72.0 / 3600))
    assert ("total_train_steps", None, str(steps)) in {(c.key, c.now, c.to) for c in found.changes}


def test_the_noise_of_the_run_sets_the_steps() -> None:
    calm = experiment("sync", {**FLAT, "task_reward": "0.21x200~0.01"}).power
    noisy = experiment("sync").power
    assert calm is not None and noisy is not None
    assert (noisy.effect, noisy.series, noisy.power) == (0.05, "task_reward", 0.8)
    assert noisy.sigma == pytest.approx(0.03, rel=0.15)
    assert calm.steps is not None and noisy.steps is not None and calm.steps < noisy.steps
    # Four measures of the reward and of the step time, the two series that such a run logs.
    assert noisy.confidence == pytest.approx(1 - 0.05 / 8)


def test_what_matters_is_a_share_of_the_range_of_rewards() -> None:
    wide = {**FLAT, "task_reward": "-4.2x200~0.3", "task_reward_min": "-5x200"}
    found = experiment("sync", {**wide, "task_reward_max": "5x200"}).power
    assert found is not None and found.effect == pytest.approx(0.5)


def test_without_step_times_there_is_no_cost() -> None:
    bare = {name: text for name, text in FLAT.items() if not name.startswith("t_")}
    found = experiment("sync", bare)
    assert found.cost is None and found.bits_per_gpu_hour is None
    assert found.power is not None and found.power.steps is not None


def test_without_a_number_of_gpus_hours_count() -> None:
    found = followed(run(FLAT, {"rollout.max_head_offpolicyness": 4}))
    (sync,) = found["is-it-asynchrony"].experiments
    assert sync.cost is not None and sync.cost.gpu_hours is None
    assert sync.bits_per_gpu_hour == pytest.approx(1.0 / sync.cost.hours)


def test_most_information_for_its_cost_comes_first() -> None:
    a = experiment("sync")
    cheap, dear = replace(a, bits_per_gpu_hour=2.0), replace(a, bits_per_gpu_hour=0.1)
    free = replace(a, bits_per_gpu_hour=None, bits=0.9)
    assert ordered([free, dear, cheap]) == (cheap, dear, free)


def test_as_long_as_it_took_to_begin() -> None:
    weights = {"importance_weight": "1x60~0.0002 1+0.002x140~0.0002"}
    found = followed(run(weights, {"actor.ppo_n_minibatches": 4}))["importance-weight"]
    (one,) = found.experiments
    steps = next(int(c.to) for c in one.changes if c.key == "total_train_steps")
    # The weight leaves 1 at step 60 and is beyond 0.01 five steps later; 20 more.
    assert 80 <= steps <= 90
    assert one.power is None
    assert one.notes[0].startswith(f"it began after {steps - 20} steps here")


def test_an_older_run_gets_the_key_that_it_has() -> None:
    drifting = {"behave_imp_weight": "1x60~0.002 1+0.005x140~0.002", "staleness": "2x200"}
    old: dict[str, object] = {"rollout.max_head_offpolicyness": 4}
    for config, keys in (
        ({**old, "actor.behave_imp_weight_cap": 50.0}, {"actor.behave_imp_weight_cap"}),
        (old, {"actor.rejection_sampling.upper"}),
    ):
        spec = named("behave-weight").spec
        question = spec.question("rejection")
        assert question.experiment is not None
        found = plan(spec, question, question.experiment, run(drifting, config), 60, question)
        assert keys <= {change.key for change in found.changes}
        assert not ({"actor.rejection_sampling.upper"} - keys) & {c.key for c in found.changes}


def verl() -> RunTables:
    """A run of another framework."""
    made = run(FLAT, {"data.train_batch_size": 64})
    made.manifest = replace(made.manifest, framework="verl")
    return made


def test_another_framework_by_its_own_names_or_not_at_all() -> None:
    spec = named("reward-stagnation").spec
    question = spec.question("batch")
    assert question.experiment is not None
    found = plan(spec, question, question.experiment, verl(), None, question)
    assert found.yaml == "data:\n  train_batch_size: 128"
    assert found.command == "++data.train_batch_size=128"
    assert dict(found.left_out) == {
        "total_train_steps": "not known for verl",
        "trial_name": "not known for verl",
    }
    sync = named("is-it-asynchrony").spec
    question = sync.question("sync")
    assert question.experiment is not None
    found = plan(sync, question, question.experiment, verl(), None, question)
    assert found.changes == () and found.yaml == "" and found.command == ""
    assert len(found.left_out) == len(question.experiment.config)
