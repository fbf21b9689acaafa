from __future__ import annotations

import numpy as np
import pytest
from fake_run import run_with, series

from analyzer.rulebook.conditions.spike import Spike

NOISE = np.random.default_rng(8).standard_normal(120)


def with_spikes(*at: int, height: float = 20.0) -> np.ndarray:
    values = 10 + NOISE
    values[list(at)] += height
    return values


def test_outliers_are_found_where_they_stand() -> None:
    outcome = Spike(series="g", at_least=2).judge(run_with(series("g", with_spikes(30, 90))))
    assert outcome.state == "holds"
    assert outcome.windows == ((30, 30), (90, 90))
    assert outcome.onset is not None
    assert outcome.onset.step == 30
    (evidence,) = outcome.evidence
    assert evidence.text.startswith("2 outliers, the largest ")


@pytest.mark.parametrize("seed", range(20))
def test_noise_has_none(seed: int) -> None:
    noise = np.random.default_rng(seed).standard_normal(500)
    assert Spike(series="g", direction="either").judge(run_with(series("g", noise))).state == "not"


def test_too_few_are_none() -> None:
    outcome = Spike(series="g", at_least=3).judge(run_with(series("g", with_spikes(30, 90))))
    assert outcome.state == "not"
    assert "2 outliers" in outcome.margin


def test_a_step_to_another_level_is_no_outlier() -> None:
    values = 10 + NOISE + np.where(np.arange(120) >= 60, 30.0, 0.0)
    assert Spike(series="g").judge(run_with(series("g", values))).state == "not"


def test_the_direction_counts() -> None:
    run = run_with(series("g", with_spikes(40, height=-20.0)))
    assert Spike(series="g", direction="up").judge(run).state == "not"
    assert Spike(series="g", direction="down").judge(run).state == "holds"


def test_a_ratio_can_be_asked_for_as_well() -> None:
    run = run_with(series("g", 100 + with_spikes(40)))
    assert Spike(series="g").judge(run).state == "holds"
    assert Spike(series="g", min_ratio=1.5).judge(run).state == "not"


def test_growing_wants_more_of_them_at_the_end() -> None:
    late = run_with(series("g", with_spikes(20, 85, 95, 110)))
    early = run_with(series("g", with_spikes(5, 15, 25, 110)))
    assert Spike(series="g", growing=True).judge(late).state == "holds"
    assert Spike(series="g", growing=True).judge(early).state == "not"


def test_a_constant_series_with_one_other_value() -> None:
    values = np.full(40, 3.0)
    values[20] = 4.0
    assert Spike(series="g").judge(run_with(series("g", values))).windows == ((20, 20),)


def test_a_short_series_cannot_be_judged() -> None:
    outcome = Spike(series="g").judge(run_with(series("g", NOISE[:10])))
    assert outcome.state == "unknown"
    assert outcome.reason == "g: only 10 logged steps, 20 needed"
