"""The spread that is assumed of seeds, against what was measured and worked out by hand."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from compared_runs import run

from analyzer.compare.model import Measure
from analyzer.compare.runs import compare
from analyzer.compare.seed_spread import FREEDOM, OTHERS, SHARES, assumed_spread

RESULTS = Path(__file__).resolve().parents[2] / "bench" / "results" / "seed_spread.json"
MEASURED = json.loads(RESULTS.read_text("utf-8"))


def test_what_is_assumed_is_what_was_measured_rounded_up() -> None:
    rows = {name: np.array(list(row.values())[:3]) for name, row in MEASURED["shares"].items()}
    weights = [rows.pop(name) for name in ("importance_weight", "behave_imp_weight")]
    rows["importance_weight"] = rows["behave_imp_weight"] = np.max(weights, axis=0)
    assert set(SHARES) == {*rows, "eval_reward"}
    for name, row in rows.items():
        up = np.maximum(np.ceil(row * 20 - 1e-9) / 20, 0.1)
        assert list(SHARES[name]) == pytest.approx(list(up))
    assert max(SHARES.values()) == OTHERS
    # The place of half of the rise takes the share of the rise, 0.15.
    assert 0.1 < MEASURED["shares"]["task_reward"]["reach"] <= SHARES["task_reward"][1]
    seeds = sum(len(group["seeds"]) for group in MEASURED["fixed on"])
    assert seeds - len(MEASURED["fixed on"]) >= FREEDOM


def test_on_other_seeds_of_one_configuration_few_differences_are_told() -> None:
    (tried,) = MEASURED["tried on"]
    used = {seed for group in MEASURED["fixed on"] for seed in group["seeds"]}
    assert not used & set(tried["seeds"])
    assert tried["pairs"] >= 40 and tried["false"] <= 2


def test_what_the_planner_calls_detectable_is_found() -> None:
    for row in MEASURED["detected"]:
        assert row["pairs"] >= 20
        assert row["level"] >= 0.8 * row["pairs"], row["series"]


def test_a_share_of_the_runs_own_deviation() -> None:
    x = np.arange(4.0)
    curves = np.array([[1.0, 3.0, 1.0, 3.0], [5.0, 5.0, 5.0, 5.0]])
    # Variances 1 and 0, their mean 0.5; shares of the reward 0.1, 0.15, 0.1.
    assert assumed_spread("task_reward", "level", x, curves) == pytest.approx(0.1 * 0.5**0.5)
    assert assumed_spread("task_reward", "rise", x, curves) == pytest.approx(0.15 * 0.5**0.5)
    # The places 0, 1, 2, 3 have a variance of 1.25.
    assert assumed_spread("task_reward", "reach", x, curves) == pytest.approx(0.15 * 1.25**0.5)
    assert assumed_spread("own_series", "area", x, curves) == pytest.approx(0.35 * 0.5**0.5)


def test_of_a_constant_nothing_is_assumed() -> None:
    assert assumed_spread("entropy", "level", np.arange(70.0), np.full((2, 70), 1.1)) == 0.0


def level(mine: str, other: str) -> Measure:
    found = compare("sync", [run({"entropy": mine})], [run({"entropy": other})])
    return found.metrics[0].level


def test_a_difference_that_seeds_may_make_is_of_the_pair_alone() -> None:
    """Both fall by 0.3: a standard deviation of 0.3/√12 = 0.087, of which seeds may differ by 0.7.

    So a difference of 0.1 is within √2·0.061 = 0.086, and one of 0.6 is far from it.
    """
    falling = "0.8-0.002x150~0.01"
    near = level(falling, "0.7-0.002x150~0.011")
    assert near.seed_spread == pytest.approx(0.7 * 0.3 / math.sqrt(12), rel=0.05)
    assert near.verdict == "not-separable" and near.only_the_pair
    assert near.pair is not None and near.pair.low > 0.09
    far = level("1.4-0.002x150~0.01", falling)
    assert far.verdict == "higher" and not far.only_the_pair


def test_of_equal_noise_not_even_the_pair_differs() -> None:
    row = level("0.5x200~0.02", "0.5x200~0.021")
    assert row.verdict == "not-separable" and not row.only_the_pair


def test_where_seeds_are_known_nothing_is_assumed() -> None:
    seeds = [run({"entropy": f"{v}x100~0.02"}, {"seed": i}) for i, v in enumerate((0.5, 0.6))]
    row = compare("sync", seeds, seeds).metrics[0].level
    assert row.seed_spread is None and row.pair is None
