from __future__ import annotations

import numpy as np
import pytest
from fake_run import run_with, series

from analyzer.rulebook.conditions.order import Order

T = np.arange(200)
GENERATOR = np.random.default_rng(12)


def drift(start: int, size: float = 12.0) -> np.ndarray:
    """Flat with noise of 1, then up by `size` until the end."""
    ramp = np.clip((T - start) / (200 - start), 0, 1) * size
    return GENERATOR.standard_normal(200) + ramp


def test_the_earlier_drift_comes_first() -> None:
    run = run_with(series("a", drift(40)), series("b", drift(130)))
    outcome = Order(first="a", then="b").judge(run)
    assert outcome.state == "holds"
    assert outcome.onset is not None
    assert 100 <= outcome.onset.step <= 150
    assert Order(first="b", then="a").judge(run).state == "not"


def test_too_long_before_is_not() -> None:
    run = run_with(series("a", drift(20)), series("b", drift(150)))
    assert Order(first="a", then="b", within=40).judge(run).state == "not"
    assert Order(first="a", then="b", within=180).judge(run).state == "holds"


def test_drifts_that_start_together_cannot_be_ordered() -> None:
    run = run_with(series("a", drift(90)), series("b", drift(92)))
    outcome = Order(first="a", then="b").judge(run)
    assert outcome.state == "unknown"
    assert outcome.reason.startswith("cannot tell which began first: a from step ")


def test_without_a_drift_there_is_no_order() -> None:
    run = run_with(series("a", drift(40)), series("b", GENERATOR.standard_normal(200)))
    outcome = Order(first="a", then="b").judge(run)
    assert outcome.state == "not"
    assert outcome.margin.endswith("one of them has no drift")


def test_an_absent_series_is_named() -> None:
    outcome = Order(first="a", then="b").judge(run_with(series("a", drift(40))))
    assert outcome.reason == "b is not logged in this run"


@pytest.mark.parametrize("seed", range(12))
def test_a_curved_and_a_straight_drift_of_one_start_are_not_ordered(seed: int) -> None:
    generator = np.random.default_rng(seed)
    t = np.arange(500)
    learning = 12 * (1 - np.exp(-np.clip(t - 200, 0, None) / 83))
    straight = 12 * np.clip((t - 200) / 300, 0, 1)
    run = run_with(
        series("a", learning + generator.standard_normal(500)),
        series("b", straight + generator.standard_normal(500)),
    )
    assert Order(first="a", then="b").judge(run).state == "unknown"
