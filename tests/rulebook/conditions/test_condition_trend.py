from __future__ import annotations

import numpy as np
import pytest
from fake_run import run_with, series
from pydantic import ValidationError

from analyzer.rulebook.conditions.trend import Trend

N = 240
T = np.arange(N)
NOISE = np.random.default_rng(3).standard_normal(N)


def test_rises_since_when_and_by_how_much() -> None:
    lengths = 700 + 40 * np.clip(T - 80, 0, 80) + 60 * NOISE
    run = run_with(series("seq_len", lengths, unit="tokens"))
    outcome = Trend(series="seq_len", direction="up", min_change_ratio=0.1).judge(run)
    assert outcome.state == "holds"
    assert outcome.p_value is not None
    assert outcome.p_value < 1e-6
    assert outcome.onset is not None
    assert outcome.onset.low <= 80 <= outcome.onset.high
    assert outcome.windows == ((outcome.onset.step, 239),)
    (evidence,) = outcome.evidence
    assert evidence.value is not None
    assert 3000 < evidence.value < 4600
    assert evidence.needed == "rises by at least 10\u202f% of its start"
    assert "p < 0.001" in evidence.text


def test_the_other_direction() -> None:
    run = run_with(series("x", NOISE - T / 20))
    assert Trend(series="x", direction="down").judge(run).state == "holds"
    up = Trend(series="x", direction="up").judge(run)
    assert up.state == "not"
    assert up.confidence > 0.99


def test_too_small_a_rise_keeps_its_p_value() -> None:
    run = run_with(series("x", 100 + 0.1 * NOISE + T / 240))
    outcome = Trend(series="x", direction="up", min_change=5).judge(run)
    assert outcome.state == "not"
    assert outcome.p_value is not None
    assert outcome.p_value < 1e-6
    assert Trend(series="x", direction="up", min_change=0.5).judge(run).state == "holds"
    assert Trend(series="x", direction="up", min_change_ratio=0.1).judge(run).state == "not"


def test_noise_is_no_trend() -> None:
    outcome = Trend(series="x", direction="up").judge(run_with(series("x", NOISE)))
    assert outcome.state == "not"
    assert outcome.margin.startswith("x: ")


def test_a_late_rise_counts() -> None:
    run = run_with(series("x", np.clip((T - 205) / 20, 0, 1) + 0.05 * NOISE))
    outcome = Trend(series="x", direction="up", min_change=0.5).judge(run)
    assert outcome.state == "holds"
    assert outcome.onset is not None
    assert outcome.onset.low <= 205 <= outcome.onset.high


def test_window_ends_where_the_series_goes_back() -> None:
    values = np.clip((T - 30) / 100, 0, 1) + 0.2 * NOISE
    values[225:] -= 1.0
    outcome = Trend(series="x", direction="up").judge(run_with(series("x", values)))
    assert outcome.state == "holds"
    assert abs(outcome.windows[0][1] - 224) <= 3


def test_absence_is_affirmed_where_the_noise_is_small() -> None:
    run = run_with(series("x", 0.2 + 0.03 * NOISE, unit="fraction"))
    outcome = Trend(series="x", direction="none", min_change=0.05).judge(run)
    assert (outcome.state, outcome.p_value, outcome.windows) == ("holds", None, ((0, 239),))
    assert "percentage points" in outcome.evidence[0].text


def test_absence_cannot_be_told_where_the_noise_is_large() -> None:
    run = run_with(series("x", 0.5 + 0.3 * NOISE[:80], unit="fraction"))
    outcome = Trend(series="x", direction="none", min_change=0.05).judge(run)
    assert outcome.state == "unknown"
    assert outcome.reason.startswith("cannot tell: the noise of x allows a change of ")


@pytest.mark.parametrize("drift", [0.2, -0.2])
def test_absence_is_denied_where_there_is_a_trend(drift: float) -> None:
    run = run_with(series("x", 0.5 + 0.01 * NOISE + drift * T / N))
    assert Trend(series="x", direction="none", min_change=0.05).judge(run).state == "not"


def test_absence_is_denied_where_the_rise_comes_late() -> None:
    run = run_with(series("x", np.clip((T - 210) / 20, 0, 1) + 0.05 * NOISE))
    assert Trend(series="x", direction="none", min_change=0.5).judge(run).state == "not"


def test_last_half_only() -> None:
    values = np.where(T < 120, T / 120, 1.0) + 0.02 * NOISE
    run = run_with(series("x", values))
    assert (
        Trend(series="x", direction="none", min_change=0.05, last=0.5).judge(run).state == "holds"
    )
    assert Trend(series="x", direction="none", min_change=0.05).judge(run).state == "not"


def test_long_series_are_asked_for_in_buckets() -> None:
    run = run_with(series("x", NOISE))
    Trend(series="x", direction="up").judge(run)
    assert run.asked == [("x", 512)]


def test_too_few_points() -> None:
    values = np.r_[NOISE[:19], np.nan, np.inf]
    outcome = Trend(series="x", direction="up").judge(run_with(series("x", values)))
    assert outcome.reason == "x: only 19 logged steps, 20 needed"


def test_none_needs_a_size() -> None:
    with pytest.raises(ValidationError, match="direction none needs"):
        Trend(series="x", direction="none")


@pytest.mark.parametrize(("moves", "since"), [(0, 0), (40, 40)])
def test_a_standstill_is_followed_back_to_where_it_began(moves: int, since: int) -> None:
    """Judged is the last half of 160 steps; before `moves` the level was lower by 0.3."""
    values = np.where(np.arange(160) < moves, 0.2, 0.5) + 0.01 * np.sin(np.arange(160))
    run = run_with(series("r", values))
    still = {"series": "r", "direction": "none", "min_change": 0.05, "last": 0.5}
    outcome = Trend.model_validate(still).judge(run)
    assert outcome.onset is not None
    assert outcome.windows == ((outcome.onset.step, 159),)
    assert outcome.onset.step == pytest.approx(since, abs=1)
    assert (outcome.onset.low, outcome.onset.high) == (outcome.onset.step, 80)
