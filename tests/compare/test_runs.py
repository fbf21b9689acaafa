"""Runs compared: verdicts, seeds, what is left out."""

from __future__ import annotations

import pytest
from compared_runs import run

from analyzer.compare.model import Comparison, Verdict
from analyzer.compare.runs import compare
from analyzer.errors import RunError

RISING = "0.2+0.002x150~0.02 0.5x100~0.02"


def rewards(mine: str, other: str, **more: float) -> Comparison:
    return compare("baseline", [run({"task_reward": mine})], [run({"task_reward": other})], **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("other", "verdict"),
    [
        ("0.2+0.001x150~0.02 0.35x100~0.02", "better"),
        ("0.2+0.003x150~0.02 0.65x100~0.02", "worse"),
        ("0.2+0.002x150~0.021 0.5x100~0.02", "not-separable"),
    ],
)
def test_the_level_of_a_reward(other: str, verdict: Verdict) -> None:
    (metric,) = rewards(RISING, other).metrics
    assert metric.metric == "task_reward"
    assert metric.verdict == verdict
    assert metric.level.mine == pytest.approx(0.5, abs=0.01)
    assert (metric.parting is None) == (verdict == "not-separable")


def test_where_they_part() -> None:
    (metric,) = rewards("0.3x250~0.02", "0.3x120~0.021 0.3+0.004x50~0.02 0.5x80~0.02").metrics
    assert metric.parting is not None
    assert 100 <= metric.parting.low <= metric.parting.place <= metric.parting.high <= 140


def test_an_early_half_of_the_rise_is_better() -> None:
    (metric,) = rewards("0.2+0.006x50~0.02 0.5x200~0.02", RISING).metrics
    rows = {row.name: row for row in metric.measures}
    assert rows["reach"].verdict == "better"
    assert rows["reach"].unit == "steps"
    # They begin at 0.298, the mean of 0.347 and 0.249 over the first 50 steps, and end at 0.5:
    # 0.399 is reached after 0.199 / 0.006 and 0.199 / 0.002 steps.
    assert rows["reach"].mine == pytest.approx(33.2, abs=3)
    assert rows["reach"].other == pytest.approx(99.5, abs=3)


def test_a_rise_is_neither_good_nor_bad() -> None:
    (metric,) = rewards("0.8+0.0002x200~0.02", "0.3+0.002x200~0.02").metrics
    verdicts = {row.name: row.verdict for row in metric.measures}
    assert (verdicts["level"], verdicts["rise"], verdicts["area"]) == ("better", "lower", "better")


def test_a_constant_has_no_rise() -> None:
    a = run({"importance_weight": "1.1x70"})
    rise = compare("sync", [a], [a]).metrics[0].measures[1]
    assert (rise.mine, rise.other, rise.verdict) == (0.0, 0.0, "same")


def test_within_delta_they_are_the_same() -> None:
    (metric,) = rewards("0.5x200~0.02", "0.5x200~0.021", delta=0.05).metrics
    assert metric.verdict == "same"
    (metric,) = rewards("0.53x200~0.02", "0.5x200~0.021", delta=0.001).metrics
    assert metric.verdict == "better"
    (metric,) = rewards("0.53x200~0.02", "0.5x200~0.021", delta=0.03).metrics
    assert metric.verdict == "not-separable"


def test_a_series_without_a_good_side_is_higher_or_lower() -> None:
    a, b = run({"entropy": "0.5x100~0.01"}), run({"entropy": "0.4x100~0.01"})
    assert compare("sync", [a], [b]).metrics[0].verdict == "higher"
    assert compare("sync", [b], [a]).metrics[0].verdict == "lower"


def test_what_is_not_compared_is_told() -> None:
    a, b = run({"entropy": "0.5x100", "grad_norm": "1x10"}), run({"grad_norm": "1x10"})
    found = compare("sync", [a], [b], metrics=["entropy", "grad_norm"])
    assert found.metrics == ()
    reasons = dict(found.left_out)
    assert "entropy is not logged" in reasons["entropy"]
    assert "10 places that all runs share; 20" in reasons["grad_norm"]
    assert not found.knows_seeds


def test_several_seeds_a_side() -> None:
    mine = [
        run({"task_reward": f"{v}x100~0.02"}, {"seed": i}) for i, v in enumerate((0.5, 0.6, 0.55))
    ]
    other = [
        run({"task_reward": f"{v}x100~0.02"}, {"seed": i}) for i, v in enumerate((0.3, 0.4, 0.35))
    ]
    found = compare("baseline", mine, other)
    assert found.knows_seeds and len(found.mine) == len(found.other) == 3
    level = found.metrics[0].level
    assert level.verdict == "better"
    assert level.difference.value == pytest.approx(0.2, abs=0.01)
    assert level.improvement is not None and level.improvement.share == 1.0


def test_the_spread_of_seeds_hides_what_one_pair_shows() -> None:
    """0.5 against 0.45 is clear within two runs, and nothing among seeds from 0.3 to 0.6."""
    a = run({"task_reward": "0.5x100~0.01"}, {"seed": 1})
    b = run({"task_reward": "0.45x100~0.01"}, {"seed": 2})
    assert compare("sync", [a], [b]).metrics[0].verdict == "better"
    more = [run({"task_reward": f"{v}x100~0.01"}, {"seed": 3}) for v in (0.3, 0.6)]
    assert compare("sync", [a, *more], [b]).metrics[0].verdict == "not-separable"


def test_a_run_of_another_configuration_is_no_seed() -> None:
    first = run({"task_reward": "0.5x100~0.01"}, {"seed": 1, "actor.eps_clip": 0.2})
    changed = run({"task_reward": "0.5x100~0.01"}, {"seed": 2, "actor.eps_clip": 0.4})
    found = compare("sync", [first, changed], [first])
    assert len(found.mine) == 1
    assert "it differs in actor.eps_clip" in found.notes[0]
    bare = run({"task_reward": "0.5x100~0.01"})
    assert "a configuration is missing" in compare("sync", [first], [first, bare]).notes[0]


def test_without_an_axis_it_is_refused() -> None:
    a = run({"task_reward": "0.5x100"})
    with pytest.raises(RunError, match=r"not comparable by tokens.*--align step"):
        compare("sync", [a], [a], align="tokens")
