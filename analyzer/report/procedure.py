"""The four steps that AReaL's guide takes when the training reward does not rise."""

from __future__ import annotations

import json

import numpy as np

from analyzer.compare.model import Comparison
from analyzer.findings.model import ConfigChange
from analyzer.findings.numbers import format_value
from analyzer.report.facts import Desk
from analyzer.report.page import ProcedureStep
from analyzer.report.remedies import config_lines
from analyzer.tables.evidence import Series

RULE = "reward-stagnation"
DOUBLED = ("train_dataset.batch_size", "actor.optimizer.lr")


def four_steps(desk: Desk, comparisons: tuple[Comparison, ...]) -> tuple[ProcedureStep, ...]:
    """Baseline, test set, training, data; for each, what this run's evidence says of it."""
    roles = {comparison.role: ", ".join(comparison.other) for comparison in comparisons}
    baseline = _first_evaluation(desk)
    if "baseline" in roles:
        baseline = desk.words("procedure.compared", run=roles["baseline"])
    testset = desk.words("procedure.compared", run=roles["testset"]) if "testset" in roles else ""
    return (
        _step(1, baseline, _baseline_changes(desk), desk),
        _step(2, testset, _testset_changes(desk), desk),
        _step(3, "", _doubled(desk), desk),
        _step(4, "", (), desk),
    )


def _step(number: int, answer: str, changes: tuple[ConfigChange, ...], desk: Desk) -> ProcedureStep:
    words = desk.words
    config = config_lines(changes, known=True, words=words)
    if number == 4:
        config = words("procedure.4.code")
    return ProcedureStep(
        words(f"procedure.{number}.title"),
        words(f"procedure.{number}.text"),
        "answered" if answer else "open",
        answer or words(f"procedure.{number}.open"),
        "" if number == 1 and answer else config,
    )


def _first_evaluation(desk: Desk) -> str:
    """The evaluation before the first update, where this run made one."""
    series = desk.source.series("eval_reward")
    if not isinstance(series, Series) or not len(series):
        return ""
    if int(series.steps[0]) > desk.span[0] or not np.isfinite(series.values[0]):
        return ""
    value = format_value(float(series.values[0]), series.unit)
    return desk.words("procedure.evaluated", step=int(series.steps[0]), value=value)


def _baseline_changes(desk: Desk) -> tuple[ConfigChange, ...]:
    return (
        ConfigChange(
            "evaluator.eval_before_train", _now("evaluator.eval_before_train", desk), "true"
        ),
    )


def _testset_changes(desk: Desk) -> tuple[ConfigChange, ...]:
    """Train on what the evaluation reads, under another trial name."""
    pairs = [
        ("train_dataset.path", "valid_dataset.path"),
        ("train_dataset.split", "valid_dataset.split"),
    ]
    changes = [
        ConfigChange(key, _now(key, desk), value)
        for key, other in pairs
        if (value := _now(other, desk)) is not None
    ]
    trial = desk.source.config("trial_name")
    if trial is not None:
        changes.append(
            ConfigChange("trial_name", _json(trial.value), _json(f"{trial.value}-testset"))
        )
    return tuple(changes)


def _doubled(desk: Desk) -> tuple[ConfigChange, ...]:
    changes = []
    for key in DOUBLED:
        value = desk.source.config(key)
        if value is not None and isinstance(value.value, int | float):
            changes.append(ConfigChange(key, _json(value.value), _json(value.value * 2)))
    return tuple(changes)


def _now(key: str, desk: Desk) -> str | None:
    value = desk.source.config(key)
    return None if value is None else _json(value.value)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
