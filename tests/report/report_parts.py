"""Parts of the runs that the report is tested with: series, manifests, findings, checks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

import numpy as np

from analyzer.compare.model import Comparison, KeyDifference
from analyzer.findings.model import (
    ChartLine,
    CheckState,
    ConfigChange,
    Coverage,
    Evidence,
    Finding,
    Judgement,
    Movement,
    Onset,
    Parameter,
    Remedy,
)
from analyzer.tables.evidence import Absent, ConfigValue, Event, Series
from analyzer.tables.manifest import (
    AttemptRecord,
    Manifest,
    NoteRecord,
    SkippedRecord,
    SourceRecord,
)

START = datetime(2026, 3, 4, 5, 0, tzinfo=UTC)
STEP_S = 76.5  # seconds of a step
STEPS = 240


def comparison(role: str, run: str, config: tuple[KeyDifference, ...] = ()) -> Comparison:
    """Another run beside, of which nothing but the configuration is known."""
    return Comparison(role, ("mine",), (run,), "step", 0.0, (), (), config, (), ())


@dataclass
class MadeRun:
    """Series, configuration, events and facts in memory."""

    found: Mapping[str, Series]
    settings: Mapping[str, object] = field(default_factory=dict)
    lines: Sequence[Event] = ()
    facts: Mapping[str, float] = field(default_factory=dict)
    texts: Mapping[tuple[str, int], tuple[str, str]] = field(default_factory=dict)

    def series(self, name: str, buckets: int | None = None) -> Series | Absent:
        return self.found.get(name, Absent(name, f"{name} is not logged in this run"))

    def events(self) -> Sequence[Event]:
        return self.lines

    def config(self, key: str) -> ConfigValue | None:
        return ConfigValue(self.settings[key], "config.yaml") if key in self.settings else None

    def response_text(self, path: str, offset: int) -> tuple[str, str] | None:
        return self.texts.get((path, offset))

    def fact(self, name: str) -> tuple[float, str] | None:
        return (self.facts[name], "config.yaml") if name in self.facts else None


def series(name: str, unit: str, logged_as: str, values: Sequence[float], every: int = 1) -> Series:
    """A series with a value at every so many steps from 0."""
    steps = np.arange(len(values), dtype=np.int64) * every
    return Series(name, unit, logged_as, steps, np.asarray(values, dtype=np.float64))


def ramp(before: float, after: float, start: int, end: int, noise: float, seed: int) -> list[float]:
    """Level `before`, then straight to `after` between two steps, with Gaussian noise."""
    steps = np.arange(STEPS)
    clean = np.interp(steps, [start, end], [before, after])
    values: list[float] = (clean + np.random.default_rng(seed).normal(0, noise, STEPS)).tolist()
    return values


def sick_series() -> dict[str, Series]:
    """Responses grow into the limit; then the reward falls."""
    cut = np.clip(ramp(0.01, 0.36, 140, 225, 0.012, 2), 0.008, None).tolist()
    made = [
        series("seq_len", "tokens", "ppo_actor/seq_len/avg", ramp(720, 3900, 90, 220, 60, 1)),
        series("truncation_excess", "fraction", "ppo_actor/no_eos_ratios/avg − 4/512", cut),
        series("no_eos_ratio", "fraction", "ppo_actor/no_eos_ratios/avg", cut),
        series(
            "task_reward",
            "reward",
            "ppo_actor/task_reward/avg",
            ramp(0.72, 0.53, 170, 235, 0.03, 3),
        ),
        series(
            "eval_reward",
            "reward",
            "eval-rollout/reward",
            ramp(0.66, 0.49, 170, 235, 0.01, 4)[::12],
            every=12,
        ),
        series("t_step", "s", "sum of timeperf/*", [STEP_S] * STEPS),
        series(
            "importance_weight",
            "1",
            "ppo_actor/update/importance_weight/avg",
            ramp(1, 1, 0, 1, 0.0008, 5),
        ),
    ]
    return {s.name: s for s in made}


def manifest(**changes: object) -> Manifest:
    """240 steps in one attempt, from three files."""
    end = START + timedelta(seconds=STEP_S * (STEPS - 1))
    whole = Manifest(
        run="gsm8k-grpo/truncation-12",
        framework="AReaL",
        framework_version="2026-08",
        first_step=0,
        last_step=STEPS - 1,
        step_count=STEPS,
        total_steps=STEPS,
        steps_per_epoch=24,
        finished=True,
        started=f"{START:%Y-%m-%dT%H:%M:%SZ}",
        ended=f"{end:%Y-%m-%dT%H:%M:%SZ}",
        metrics=63,
        attempts=(AttemptRecord(0, 0, STEPS - 1, START.isoformat(), end.isoformat(), None),),
        sources=(
            SourceRecord(
                "main.log", "areal-text", 4_812_332, "8d1c" + "0" * 56 + "e07b", 5, 15_120, 1
            ),
            SourceRecord("config.yaml", "areal-config", 9_120, "ab" * 32, 17, 0, 0),
            SourceRecord(
                "tensorboard/events.out.tfevents.1795964320.vm",
                "tensorboard",
                1_020_100,
                "cd" * 32,
                17,
                15_120,
                0,
            ),
        ),
        skipped=(SkippedRecord("rollout/180/18015.jsonl", "rollout dumps are not read yet"),),
        notes=(
            NoteRecord(
                "local-clock", "its clock has no zone; times are taken as UTC", None, "main.log"
            ),
        ),
    )
    return replace(whole, **changes)  # type: ignore[arg-type]


def truncation() -> Finding:
    """The primary finding of the sick run."""
    return Finding(
        id="length-driven-truncation",
        rule="length-driven-truncation",
        rule_version=1,
        topic="sequence",
        severity="error",
        confidence=0.98,
        title="Length-driven truncation",
        headline="Responses grew into the generation limit; then the reward fell",
        summary=(
            "From step 151 responses grew from 1,550 to 3,900 tokens, and the share cut off at "
            "max_new_tokens = 4,096 rose from 1 % to 36 %; the two move together (Spearman "
            "0.93, no "
            "lag). From step 171 training reward fell from 0.72 to 0.53, as a consequence: a "
            "cut-off "
            "answer earns nothing."
        ),
        why=(
            "Cut-off trajectories carry no answer and no EOS: their reward is noise, and the "
            "policy "
            "learns to ramble."
        ),
        onset=Onset(151, 146, 157),
        end=239,
        windows=((151, 239),),
        evidence=(
            Evidence(
                "trend",
                "seq_len",
                "ppo_actor/seq_len/avg",
                "tokens",
                1.52,
                0.10,
                (131, 239),
                "+152 % (Theil–Sen), p < 0.001",
                "rises by at least 10 %",
            ),
            Evidence(
                "trend",
                "truncation_excess",
                "ppo_actor/no_eos_ratios/avg − 4/512",
                "fraction",
                0.34,
                None,
                (146, 239),
                "+0.34, p < 0.001",
                "rises",
            ),
            Evidence(
                "together",
                "truncation_excess",
                "seq_len with truncation_excess",
                "1",
                0.93,
                0.5,
                (131, 239),
                "ρ 0.93 on levels, 0.41 on differences, lag 0",
                "at least 0.5",
            ),
            Evidence(
                "level",
                "truncation_excess",
                "ppo_actor/no_eos_ratios/avg − 4/512",
                "fraction",
                0.36,
                0.05,
                (169, 239),
                "36 % at the end, above for 71 steps",
                "above 5 % for 5 steps",
            ),
        ),
        movements=(
            Movement("seq_len", "ppo_actor/seq_len/avg", "tokens", 1550, 3900),
            Movement("truncation_excess", "ppo_actor/no_eos_ratios/avg", "fraction", 0.01, 0.36),
        ),
        caveats=(
            "no_eos_ratios counts the longest row of each of the four padded groups as cut "
            "off; that "
            "floor (4/512) is removed in every judgement here.",
        ),
        caused_by=(),
        suppressed=None,
        remedies=(
            Remedy(
                "Raise the generation limit",
                "apply",
                (
                    ConfigChange("gconfig.max_new_tokens", "4096", "8192"),
                    ConfigChange("gconfig.max_tokens", "4608", "8704"),
                ),
                "it gives the policy room while you look at why it rambles.",
            ),
            Remedy(
                "Reject overlong trajectories while collecting (should_accept_fn)",
                "apply",
                (),
                "71 % of the cut-off samples repeat themselves and would not finish with more "
                "room.",
            ),
            Remedy(
                "Go back to the checkpoint of step 150",
                "apply",
                (),
                "later ones have learned from cut-off answers.",
            ),
            Remedy(
                "Penalise overlong responses",
                "already",
                (ConfigChange("actor.overlong_reward_penalty", "true", "true"),),
            ),
        ),
        parameters=(
            Parameter("limit", 0.05, "fraction", "default; the guide"),
            Parameter("min_change_ratio", 0.10, "fraction", "default"),
        ),
        charts=(
            ChartLine("seq_len", "evidence", (("max_new_tokens + prompt", 4206.0),)),
            ChartLine("truncation_excess", "evidence", (("limit", 0.05),)),
            ChartLine("task_reward", "consequence"),
            ChartLine("eval_reward", "consequence"),
        ),
        false_positives=(
            "A curriculum that lengthens the tasks on purpose. Here the prompts' length did "
            "not change."
        ),
        runbook=(
            "# Length-driven truncation\n\n## Meaning\n\nResponses become longer until "
            "`max_new_tokens` "
            "cuts them off.\n\n## Diagnosis\n\n1. Read ten cut-off samples.\n2. Compare with the "
            "[truncation](truncation.md) page.\n\n```yaml\ngconfig.max_new_tokens: 8192\n```\n"
        ),
        references=("AReaL, Diagnosing RL Performance",),
        rule_text=(
            "id: length-driven-truncation\nversion: 1\nwhen:\n  all:\n    - trend: {series: "
            "seq_len, "
            "direction: up, min_change_ratio: 0.10}\n    - level: {series: truncation_excess, "
            "above: "
            "$limit, for: 5}\n"
        ),
        fingerprint="1" * 16,
    )


def consequence(rule: str, headline: str, onset: int, chart: str) -> Finding:
    """A warning that follows from the truncation."""
    return replace(
        truncation(),
        id=rule,
        rule=rule,
        topic="reward",
        severity="warning",
        title=rule.replace("-", " ").capitalize(),
        headline=headline,
        summary=f"From step {onset} on, and to the end.",
        onset=Onset(onset, onset - 4, onset + 4),
        windows=((onset, 239),),
        evidence=(
            Evidence(
                "shift",
                chart,
                f"ppo_actor/{chart}/avg",
                "reward",
                -0.19,
                -0.1,
                (onset, 239),
                "fell by 0.19",
                "falls by at least 0.1",
            ),
        ),
        movements=(Movement(chart, f"ppo_actor/{chart}/avg", "reward", 0.72, 0.53),),
        caveats=(),
        caused_by=("length-driven-truncation",),
        remedies=(Remedy("Treat the cause", "apply"),),
        charts=(ChartLine(chart, "evidence"),),
        runbook="",
        references=(),
        parameters=(),
    )


def checks() -> tuple[CheckState, ...]:
    """States of ten rules."""
    state = CheckState
    return (
        state("length-driven-truncation", "Length-driven truncation", "sequence", "fired", ""),
        state("reward-collapse", "The reward collapses", "reward", "fired", ""),
        state(
            "importance-weight-drift",
            "Importance weight drifts",
            "policy",
            "clear",
            "",
            "importance_weight nearest 1.0008 at step 3, limit off 1 by > 0.01",
            0.08,
        ),
        state(
            "behave-weight-drift",
            "Behaviour weight drifts",
            "policy",
            "clear",
            "",
            "behave_imp_weight nearest 1.03 at step 41, limit off 1 by > 0.05",
            0.6,
        ),
        state(
            "entropy-collapse",
            "Entropy collapses",
            "policy",
            "clear",
            "",
            "entropy_share nearest 78\u202f% at step 146, limit < 40\u202f%",
            0.37,
        ),
        state(
            "grad-nonfinite", "Gradient is not finite", "optimization", "clear", "", "no such value"
        ),
        state("out-of-memory", "Out of memory", "infrastructure", "clear", "", "no such line"),
        state(
            "critic-diverging",
            "Critic diverges",
            "policy",
            "not-checked",
            "critic_loss is not logged in this run",
        ),
        state(
            "kl-blowup", "KL grows", "policy", "not-checked", "kl_rewards is not logged in this run"
        ),
        state(
            "reward-components-conflict",
            "Reward parts conflict",
            "reward",
            "not-checked",
            "kl_rewards is not logged in this run",
        ),
    )


def judgement(
    *findings: Finding, verdict: str = "error", states: Sequence[CheckState] = ()
) -> Judgement:
    """A judgement with those findings; the coverage counts the checks."""
    every = tuple(states) or checks()
    count = {
        s: sum(c.state == s for c in every) for s in ("fired", "clear", "not-checked", "error")
    }
    coverage = Coverage(
        len(every), count["fired"], count["clear"], count["not-checked"], count["error"]
    )
    return Judgement(verdict, coverage, findings, every, "3f9a12c" + "0" * 57)  # type: ignore[arg-type]


def event(line: int, level: str, message: str, step: int | None = None, attempt: int = 0) -> Event:
    """A line of main.log, written at its own second."""
    time = START + timedelta(seconds=line)
    return Event(attempt, step, time, level, "RolloutController", message, 1, line, "main.log")
