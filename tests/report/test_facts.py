"""The facts of page one, computed by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest
from report_parts import MadeRun, judgement, manifest, series, truncation
from report_runs import healthy_run, sick_run

from analyzer.findings.model import Movement
from analyzer.report.clock import Clock
from analyzer.report.facts import Desk, decisive, finding_facts, reward_movement, run_facts
from analyzer.report.words import load_words
from analyzer.tables.manifest import Manifest


def desk(made: MadeRun, whole: Manifest | None = None) -> Desk:
    whole = whole or manifest()
    return Desk(whole, made, Clock(whole, made), load_words("en"))


def test_the_five_facts_of_the_sick_run() -> None:
    judged, whole, made = sick_run()
    since, affected, now, reward, checks = finding_facts(
        judged.findings[0], judged.coverage, desk(made, whole)
    )
    assert since.value == "step 151"
    assert "between 146–157" in since.notes and "epoch 7" in since.notes
    assert affected.value == "89 steps"
    # 89 steps of 76.5 s are 1.89 h; eight GPUs make 15 GPU-hours of them.
    assert affected.notes[1] == "1.9\u202fh, 15 GPU-h" and "37" in affected.notes[0]
    assert affected.notes[2] == "from step times"
    assert (now.label, now.value) == ("Now", "36\u202f%")
    assert now.notes[0] == "limit 5\u202f%"
    assert reward.value.startswith("\u22120.1")
    assert checks.notes == ("5 clear", "3 not checked")


def test_the_number_against_a_limit_is_that_of_the_level() -> None:
    evidence = decisive(truncation())
    assert evidence is not None and evidence.condition == "level" and evidence.value == 0.36


def test_a_level_that_held_long_before_the_onset_is_not_what_matters() -> None:
    """ "Not saturated" holds all along; what began at step 100 is that nothing moves."""
    trend, level = (replace(truncation().evidence[i], limit=0.1) for i in (0, 3))
    finding = replace(truncation(), evidence=(trend, replace(level, window=(0, 239))))
    evidence = decisive(finding)
    assert evidence is not None and evidence.condition == "trend"


def test_without_a_limit_the_first_movement_tells() -> None:
    finding = replace(truncation(), evidence=())
    _, _, now, _, _ = finding_facts(finding, judgement(finding).coverage, desk(MadeRun({})))
    assert now.value == "3,900" and "1,550" in now.notes[0]


def test_several_windows_count_only_their_steps() -> None:
    """Three stretches of one step among 91 are three affected steps."""
    finding = replace(truncation(), windows=((30, 30), (70, 70), (120, 120)), end=120)
    facts = finding_facts(finding, judgement(finding).coverage, desk(MadeRun({})))
    assert facts[1].value == "3 steps"


def test_a_finding_without_onset_is_of_the_whole_run() -> None:
    finding = replace(truncation(), onset=None, windows=(), end=None)
    since, affected, *_ = finding_facts(finding, judgement(finding).coverage, desk(MadeRun({})))
    assert since.value == "whole run" and affected.value == "240 steps"


def test_the_findings_own_movement_of_a_reward_comes_first() -> None:
    move = Movement("eval_reward", "eval-rollout/reward", "reward", 0.6, 0.5)
    finding = replace(truncation(), movements=(move,))
    assert reward_movement(finding, desk(sick_run()[2])) == move


def test_the_reward_is_the_median_of_twenty_steps_before_and_at_the_end() -> None:
    """1 before step 146, 5 from 151 on; the steps between belong to neither."""
    values = [1.0] * 146 + [99.0] * 5 + [5.0] * 89
    made = MadeRun({"task_reward": series("task_reward", "reward", "r", values)})
    move = reward_movement(truncation(), desk(made))
    assert move is not None and (move.before, move.after) == (1.0, 5.0)


def test_no_reward_series_is_said() -> None:
    finding = truncation()
    facts = finding_facts(finding, judgement(finding).coverage, desk(MadeRun({})))
    assert facts[3].notes == ("no reward series",)


def test_the_facts_of_a_healthy_run() -> None:
    judged, whole, made = healthy_run()
    steps, length, attempts, _, checks = run_facts(judged.coverage, desk(made, whole))
    assert steps.value == "240" and steps.notes == ("of 240 planned", "run to its end")
    # 240 steps of 76.5 s are 5.1 h, times eight GPUs 41.
    assert length.value == "5.1\u202fh" and length.notes[0] == "41 GPU-h"
    assert attempts.value == "2" and attempts.notes == ("steps 90–96 written twice",)
    assert checks.value == "0 fired"


@pytest.mark.parametrize(("end", "label"), [(239, "Now"), (200, "Measured")])
def test_now_is_said_only_of_the_end(end: int, label: str) -> None:
    level = replace(truncation().evidence[3], window=(169, end))
    finding = replace(truncation(), evidence=(level,))
    facts = finding_facts(finding, judgement(finding).coverage, desk(MadeRun({})))
    assert facts[2].label == label
