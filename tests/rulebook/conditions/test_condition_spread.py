from __future__ import annotations

import math

import numpy as np
import pytest
from fake_run import run_with, series

from analyzer.rulebook.conditions.spread import Spread

NOISE = np.random.default_rng(5).standard_normal(400)
DRIFT = np.linspace(0.3, 0.5, 400)


def test_noise_without_its_drift() -> None:
    run = run_with(series("r", DRIFT + 0.04 * NOISE, unit="fraction"))
    assert Spread(series="r", above=0.03).judge(run).state == "holds"
    clear = Spread(series="r", above=0.05).judge(run)
    assert clear.state == "not"
    assert clear.evidence[0].value == pytest.approx(0.04, abs=0.005)
    assert Spread(series="r", above=0.03).judge(run).windows == ((0, 399),)


@pytest.mark.parametrize(
    ("measure", "size"), [("std", 0.04), ("mad", 0.04), ("range", 0.04 * float(np.ptp(NOISE)))]
)
def test_measures(measure: str, size: float) -> None:
    run = run_with(series("r", 0.04 * NOISE + 0.5))
    outcome = Spread.model_validate({"series": "r", "measure": measure, "above": 9}).judge(run)
    assert outcome.evidence[0].value == pytest.approx(size, rel=0.12)


def test_explained_by_the_batch() -> None:
    # At a rate of 0.4, 64 rewards of 0 or 1 have a mean with σ = √(0.24/64) = 0.0612.
    values = 0.4 + math.sqrt(0.24 / 64) * NOISE
    small = run_with(series("r", values, unit="fraction"), facts={"batch_seqs": 64})
    outcome = Spread(series="r", above=0.05, explained=True).judge(small)
    assert outcome.state == "holds"
    # 0.24 / 0.05² = 96 samples for a σ of 0.05, give or take the error of the median rate.
    text = outcome.evidence[0].text
    assert "a batch of 64 makes 6.1\u202f% by itself" in text
    assert "takes a batch of 9" in text
    assert Spread(series="r", above=0.05, explained=False).judge(small).state == "not"
    large = run_with(series("r", values, unit="fraction"), facts={"batch_seqs": 1024})
    assert Spread(series="r", above=0.05, explained=True).judge(large).state == "not"
    assert Spread(series="r", above=0.05, explained=False).judge(large).state == "holds"


def test_explained_cannot_be_told_without_a_batch_size() -> None:
    run = run_with(series("r", 0.4 + 0.06 * NOISE))
    outcome = Spread(series="r", above=0.05, explained=True).judge(run)
    assert outcome.reason == "r: the size of a batch is not known"


def test_relative_to_level_and_to_the_start() -> None:
    run = run_with(series("t", 50 + 5 * NOISE))
    assert Spread(series="t", above=0.08, relative_to="level").judge(run).state == "holds"
    assert Spread(series="t", above=0.12, relative_to="level").judge(run).state == "not"
    grown = NOISE * np.where(np.arange(400) < 100, 1.0, 4.0)
    wide = run_with(series("t", grown))
    assert Spread(series="t", above=2, relative_to="first_window").judge(wide).state == "holds"
    same = run_with(series("t", NOISE))
    assert Spread(series="t", above=2, relative_to="first_window").judge(same).state == "not"


def test_confidence_is_low_close_to_the_limit() -> None:
    run = run_with(series("r", 0.04 * NOISE + 0.5))
    size = Spread(series="r", above=9).judge(run).evidence[0].value
    assert size is not None
    assert Spread(series="r", above=size * 0.999).judge(run).confidence == pytest.approx(
        0.5, abs=0.02
    )
    assert Spread(series="r", above=size / 2).judge(run).confidence > 0.99


def test_too_little_to_judge() -> None:
    short = Spread(series="r", above=1).judge(run_with(series("r", NOISE[:7])))
    assert short.reason == "r: only 7 logged steps, 20 needed"
    assert Spread(series="r", above=1).judge(run_with()).state == "unknown"
