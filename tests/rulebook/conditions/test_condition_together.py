from __future__ import annotations

import numpy as np
from fake_run import run_with, series

from analyzer.rulebook.conditions.together import Together

N = 240
T = np.arange(N)
RNG = np.random.default_rng(6)
A, B, C = RNG.standard_normal((3, N))
RISE = np.clip((T - 80) / 80, 0, 1)


def test_two_that_rise_together() -> None:
    run = run_with(series("a", A + 6 * RISE), series("b", 0.1 * B + RISE))
    outcome = Together(series=("a", "b")).judge(run)
    assert outcome.state == "holds"
    assert outcome.p_value is not None
    assert outcome.p_value < 1e-4
    assert outcome.onset is not None
    assert outcome.onset.low <= 80 <= outcome.onset.high
    assert outcome.windows == ((outcome.onset.step, 239),)
    (evidence,) = outcome.evidence
    assert evidence.metric == "a, b"
    assert evidence.logged_as == "log/a, log/b"
    assert evidence.value is not None
    assert evidence.value > 0.6
    assert "drifts at the same time" in evidence.text


def test_sign() -> None:
    run = run_with(series("a", A + 6 * RISE), series("b", B - 6 * RISE))
    assert Together(series=("a", "b")).judge(run).state == "not"
    opposite = Together(series=("a", "b"), sign="opposite").judge(run)
    assert opposite.state == "holds"
    assert opposite.evidence[0].limit == -0.5
    assert opposite.evidence[0].needed.endswith("≤ \u22120.50")


def test_rises_in_opposite_halves_are_not_together() -> None:
    early, late = np.clip(T / 120, 0, 1), np.clip((T - 120) / 119, 0, 1)
    run = run_with(series("a", A + 10 * early), series("b", B + 10 * late))
    outcome = Together(series=("a", "b"), min_rho=0.3).judge(run)
    assert outcome.evidence[0].value is not None
    assert outcome.evidence[0].value > 0.3
    assert outcome.state == "not"


def test_common_noise_is_together_over_all_steps() -> None:
    run = run_with(series("a", C + 0.3 * A), series("b", 5 * C + 0.3 * B))
    outcome = Together(series=("a", "b")).judge(run)
    assert (outcome.state, outcome.windows) == ("holds", ((0, 239),))
    assert "of the changes 0.9" in outcome.evidence[0].text


def test_noise_is_not_together() -> None:
    outcome = Together(series=("a", "b")).judge(run_with(series("a", A), series("b", B)))
    assert outcome.state == "not"
    assert outcome.margin.startswith("a and b: rank correlation")


def test_only_the_steps_in_common_count() -> None:
    seldom = np.arange(0, N, 8)
    run = run_with(series("a", A + 6 * RISE), series("b", RISE[seldom], seldom))
    assert Together(series=("a", "b")).judge(run).state == "holds"
    few = run_with(series("a", A), series("b", B[:15], np.arange(15) * 16))
    assert Together(series=("a", "b")).judge(few).reason == (
        "a and b: only 15 steps in common, 20 needed"
    )


def test_the_one_that_follows_is_named() -> None:
    run = run_with(series("a", C[4:]), series("b", C[:-4] + 0.1 * B[4:]))
    outcome = Together(series=("a", "b")).judge(run)
    assert ", b 4 logged steps after a" in outcome.evidence[0].text


def test_absent() -> None:
    outcome = Together(series=("a", "b")).judge(run_with(series("a", A)))
    assert outcome.reason == "b is not logged in this run"
