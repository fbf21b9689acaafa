from __future__ import annotations

import numpy as np
import pytest
from fake_run import run_with, series

from analyzer.rulebook.conditions.shift import Shift

N = 160
T = np.arange(N)
NOISE = np.random.default_rng(4).standard_normal(N)


def stepped(at: int, height: float, until: int = N) -> np.ndarray:
    """Level 20 with noise of 1, `height` more in [at, until)."""
    return 20 + NOISE + np.where((at <= T) & (until > T), height, 0.0)


def test_a_jump_lasts_to_the_end() -> None:
    run = run_with(series("t", stepped(90, 8.0), unit="s"))
    outcome = Shift(series="t", direction="up").judge(run)
    assert outcome.state == "holds"
    assert outcome.onset is not None
    assert outcome.onset.low <= 90 <= outcome.onset.high
    assert outcome.windows == ((outcome.onset.step, 159),)
    assert outcome.p_value is not None
    assert outcome.p_value < 0.001
    (evidence,) = outcome.evidence
    assert evidence.value == pytest.approx(28, abs=0.6)
    assert "at step 90" in evidence.text
    assert evidence.needed == "jumps up by at least 3 times its noise"


def test_a_jump_that_is_taken_back() -> None:
    outcome = Shift(series="t", direction="up").judge(
        run_with(series("t", stepped(60, 8.0, until=100)))
    )
    assert outcome.windows == ((60, 99),)


def test_direction() -> None:
    run = run_with(series("t", stepped(90, -8.0)))
    assert Shift(series="t", direction="up").judge(run).state == "not"
    assert Shift(series="t", direction="down").judge(run).state == "holds"
    assert Shift(series="t").judge(run).state == "holds"


def test_ratio() -> None:
    run = run_with(series("t", stepped(90, 8.0)))
    assert Shift(series="t", min_ratio=1.3).judge(run).state == "holds"
    large = Shift(series="t", direction="up", min_ratio=1.5).judge(run)
    assert large.state == "not"
    assert large.margin.startswith("t: largest jump 19.86 to 28.12 at step 90")
    assert large.evidence[0].needed.endswith("and to 1.5 times its level")


def test_size_in_noise() -> None:
    run = run_with(series("t", stepped(90, 4.0)))
    assert Shift(series="t").judge(run).state == "holds"
    assert Shift(series="t", min_effect=6).judge(run).state == "not"


def test_drift_and_noise_are_no_jumps() -> None:
    assert Shift(series="t").judge(run_with(series("t", NOISE + T / 8))).state == "not"
    noise = Shift(series="t").judge(run_with(series("t", NOISE)))
    assert (noise.state, noise.margin) == ("not", "t: no jump")


@pytest.mark.parametrize(("resumes", "state"), [((85,), "holds"), ((40,), "not"), ((), "not")])
def test_near_a_restart(resumes: tuple[int, ...], state: str) -> None:
    run = run_with(series("t", stepped(90, 8.0)), resumes=resumes)
    assert Shift(series="t", near="resume").judge(run).state == state


def test_near_an_epoch() -> None:
    jumped = series("t", stepped(90, 8.0))
    near = Shift(series="t", near="epoch", within=3)
    assert near.judge(run_with(jumped, facts={"steps_per_epoch": 30})).state == "holds"
    assert near.judge(run_with(jumped, facts={"steps_per_epoch": 48})).state == "not"
    unsaid = near.judge(run_with(jumped))
    assert unsaid.reason == "this run does not tell steps_per_epoch"


def test_near_an_evaluation() -> None:
    jumped = series("t", stepped(90, 8.0))
    near = Shift(series="t", near="eval", within=3)
    assert near.judge(run_with(jumped, series("eval_reward", [0, 0], [50, 92]))).state == "holds"
    assert near.judge(run_with(jumped, series("eval_reward", [0, 0], [50, 99]))).state == "not"
    assert near.judge(run_with(jumped)).reason == "eval_reward is not logged in this run"


def test_too_few_points() -> None:
    outcome = Shift(series="t").judge(run_with(series("t", NOISE[:12])))
    assert outcome.reason == "t: only 12 logged steps, 20 needed"
    assert Shift(series="t").judge(run_with()).state == "unknown"
