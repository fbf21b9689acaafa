"""Whole runs made by hand: what the report is given for a sick, a healthy, a crowded run."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import numpy as np
from report_parts import (
    START,
    MadeRun,
    checks,
    consequence,
    event,
    judgement,
    manifest,
    ramp,
    series,
    sick_series,
    truncation,
)

from analyzer.findings.model import CheckState, Evidence, Judgement, Suppression
from analyzer.tables.manifest import AttemptRecord, Manifest, SourceRecord


def sick_run() -> tuple[Judgement, Manifest, MadeRun]:
    """An error with two consequences."""
    findings = (
        truncation(),
        consequence(
            "reward-collapse", "The training reward fell from 0.72 to 0.53", 171, "task_reward"
        ),
        consequence("generalization-gap", "The test-set reward fell with it", 175, "eval_reward"),
    )
    settings = {"gconfig.max_new_tokens": 4096, "trial_name": "truncation-12"}
    lines = [event(10 + i, "WARNING", f"task {i} timed out after 300 s", 100 + i) for i in range(5)]
    return judgement(*findings), manifest(), MadeRun(sick_series(), settings, lines, {"gpus": 8})


def healthy_run() -> tuple[Judgement, Manifest, MadeRun]:
    """Nothing fired; two attempts, the second of which wrote seven steps again."""
    states = [c for c in checks() if c.state != "fired"]
    middle, end = START + timedelta(hours=2), START + timedelta(hours=5)
    attempts = (
        AttemptRecord(0, 0, 96, START.isoformat(), middle.isoformat(), (90, 96)),
        AttemptRecord(1, 90, 239, middle.isoformat(), end.isoformat(), None),
    )
    lines = [event(900, "ERROR", "NCCL communicator was aborted", 96)]
    made = MadeRun(sick_series(), {}, lines, {"gpus": 8})
    return judgement(verdict="ok", states=states), manifest(attempts=attempts), made


def unjudged_run() -> tuple[Judgement, Manifest, MadeRun]:
    """A start that ends out of memory: events, no step."""
    memory = replace(
        truncation(),
        id="out-of-memory",
        rule="out-of-memory",
        topic="infrastructure",
        title="Out of memory",
        headline="The trainer ran out of GPU memory before its first step",
        summary="torch.OutOfMemoryError on rank 3, 41 s after the start.",
        onset=None,
        end=None,
        windows=(),
        evidence=(
            Evidence("log", "log", "main.log:812", "count", 4, 1, None, "4 lines", "at least 1"),
        ),
        movements=(),
        charts=(),
        caveats=(),
    )
    states = [
        CheckState("out-of-memory", "Out of memory", "infrastructure", "fired", ""),
        CheckState("truncation", "Truncation", "sequence", "not-checked", "no step was logged"),
        CheckState(
            "reward-stagnation", "Reward stagnates", "reward", "not-checked", "no step was logged"
        ),
    ]
    trace = (
        'Traceback (most recent call last):\n  File "x.py", line 1\n'
        "torch.OutOfMemoryError: CUDA out of memory"
    )
    lines = [event(20, "WARNING", "flash attention is not installed"), event(812, "ERROR", trace)]
    empty = manifest(
        first_step=None,
        last_step=None,
        step_count=0,
        attempts=(),
        metrics=0,
        finished=False,
        ended=None,
    )
    return judgement(memory, verdict="cannot-judge", states=states), empty, MadeRun({}, {}, lines)


def withdrawn_run() -> tuple[Judgement, Manifest, MadeRun]:
    """A drift that is only the artefact of masking, and a note that says so."""
    drift = replace(
        consequence(
            "importance-weight-drift", "The importance weight fell to 0.91", 40, "importance_weight"
        ),
        caused_by=(),
        suppressed=Suppression(
            "importance-weight-artefact", "Weight plus rejected fraction is 1 at every step."
        ),
    )
    artefact = replace(
        consequence(
            "importance-weight-artefact",
            "The importance weight only shows what masking removed",
            40,
            "importance_weight",
        ),
        severity="info",
        caused_by=(),
    )
    run = MadeRun(sick_series(), {}, (), {})
    return judgement(artefact, drift, verdict="info"), manifest(), run


def crowded_run() -> tuple[Judgement, Manifest, MadeRun]:
    """Twelve findings, long names, NaN, hundreds of events, a stagnating reward, a broken rule."""
    long_name = "ppo_actor/update/" + "a_very_long_component_name_that_never_ends_" * 4 + "/avg"
    broken = np.array(ramp(1.2, 1.4, 10, 200, 0.1, 9))
    broken[50:60], broken[120], broken[200] = np.nan, np.inf, 900.0
    found = sick_series() | {"grad_norm": series("grad_norm", "1", long_name, broken.tolist())}
    findings = [truncation()]
    for i in range(9):
        other = consequence(
            f"rule-number-{i}", f"Something else went wrong, of kind {i}", 60 + 10 * i, "grad_norm"
        )
        findings.append(replace(other, caused_by=() if i % 3 else ("length-driven-truncation",)))
    stagnation = consequence(
        "reward-stagnation", "The training reward has no trend", 20, "task_reward"
    )
    setting = replace(
        consequence("legacy-behave-cap", "An old key caps the behaviour weight", 0, "task_reward"),
        topic="configuration",
        onset=None,
        windows=(),
        charts=(),
        caused_by=(),
        evidence=(
            Evidence(
                "config",
                "actor.behav_imp_weight_cap",
                "config.yaml",
                "",
                None,
                None,
                None,
                "actor.behav_imp_weight_cap = 5.0",
                "absent",
            ),
        ),
    )
    findings += [replace(stagnation, caused_by=()), setting]
    states = [
        *checks(),
        CheckState("grad-spikes", "Gradient spikes", "optimization", "error", "division by zero"),
    ]
    states += [
        CheckState(
            f"not-made-{i}",
            "A check",
            "data",
            "not-checked",
            f"series_{i} is not logged in this run",
        )
        for i in range(15)
    ]
    lines = [
        event(100 + i, "ERROR" if i % 7 == 0 else "WARNING", f"{'worker ' * (i % 9 + 1)} lost", i)
        for i in range(90)
    ]
    settings = {
        "train_dataset.path": "/data/" + "long/" * 20,
        "valid_dataset.path": "openai/gsm8k",
        "valid_dataset.split": "test",
        "train_dataset.split": "train",
        "train_dataset.batch_size": 64,
        "actor.optimizer.lr": 1e-6,
        "trial_name": "t",
        "evaluator.eval_before_train": False,
    }
    sources = tuple(
        SourceRecord(
            "a/very/long/path/" * 8 + f"events.{i}", "tensorboard", 10**9, "0f" * 32, 17, 10**6, 0
        )
        for i in range(55)
    )
    whole = manifest(run="an-experiment-with-a-long-name" * 5 + "/trial", sources=sources)
    return (
        judgement(*findings, states=states),
        whole,
        MadeRun(found, settings, lines, {"gpus": 1024}),
    )


def chinese_run() -> tuple[Judgement, Manifest, MadeRun]:
    """The sick run, told in Chinese."""
    _, whole, made = sick_run()
    told = replace(
        truncation(),
        title="长度增长导致截断",
        headline="回答长度增长到生成上限，随后奖励下降",
        summary=(
            "自第 151 步起，回答长度从 1,550 增至 3,900 个词元，被截断的"
            "比例从 1 % 升至 36 %；两者同向变化（Spearman 0.93）。"
            "自第 171 步起，训练奖励从 0.72 降至 0.53。"
        ),
        why="被截断的轨迹既没有答案也没有 EOS，其奖励只是噪声，策略由此学会了啰嗦。",
    )
    return judgement(told), whole, made
