"""The four steps of a stagnating reward."""

from __future__ import annotations

from report_parts import MadeRun, comparison, manifest, series

from analyzer.report.clock import Clock
from analyzer.report.facts import Desk
from analyzer.report.procedure import four_steps
from analyzer.report.words import load_words

SETTINGS = {
    "evaluator.eval_before_train": False,
    "train_dataset.path": "/data/train",
    "train_dataset.split": "train",
    "valid_dataset.path": "openai/gsm8k",
    "valid_dataset.split": "test",
    "train_dataset.batch_size": 64,
    "actor.optimizer.lr": 1e-6,
    "trial_name": "trial-3",
}


def desk(made: MadeRun) -> Desk:
    whole = manifest()
    return Desk(whole, made, Clock(whole, made), load_words("en"))


def test_all_is_open_where_the_run_answers_nothing() -> None:
    steps = four_steps(desk(MadeRun({}, SETTINGS)), ())
    assert [step.state for step in steps] == ["open"] * 4
    assert steps[0].config == "evaluator.eval_before_train: true    # now false"


def test_an_evaluation_before_the_first_update_is_the_baseline() -> None:
    made = MadeRun(
        {"eval_reward": series("eval_reward", "reward", "e", [0.21, 0.22], 12)}, SETTINGS
    )
    step = four_steps(desk(made), ())[0]
    assert step.state == "answered" and "0.21" in step.answer and step.config == ""


def test_training_on_the_test_set_takes_the_evaluations_data() -> None:
    lines = four_steps(desk(MadeRun({}, SETTINGS)), ())[1].config.splitlines()
    assert [line.split("#")[0].strip() for line in lines] == [
        'train_dataset.path: "openai/gsm8k"',
        'train_dataset.split: "test"',
        'trial_name: "trial-3-testset"',
    ]


def test_batch_and_learning_rate_are_doubled() -> None:
    lines = four_steps(desk(MadeRun({}, SETTINGS)), ())[2].config.splitlines()
    assert lines[0].startswith("train_dataset.batch_size: 128")
    assert lines[1].startswith("actor.optimizer.lr: 2e-06")


def test_comparison_runs_answer_their_steps() -> None:
    others = (comparison("baseline", "eval-only"), comparison("testset", "on-test"))
    steps = four_steps(desk(MadeRun({}, SETTINGS)), others)
    assert [step.state for step in steps] == ["answered", "answered", "open", "open"]
    assert "on-test" in steps[1].answer


def test_without_a_configuration_only_what_is_known_is_told() -> None:
    steps = four_steps(desk(MadeRun({})), ())
    assert steps[1].config == "" and steps[2].config == ""
