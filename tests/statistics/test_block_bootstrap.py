"""Blocks, their length, and what they keep of a variance."""

from __future__ import annotations

import numpy as np
import pytest
from noise_series import ar1, white

from analyzer.statistics.bootstrap import around, block_draws, block_freedom, block_length


def test_the_length_by_hand() -> None:
    # (√6 · 0.5 / 0.75)^(2/3) · 1000^(1/3) = 1.633^(2/3) · 10 = 13.87
    assert block_length(1000, 0.5) == 14
    assert block_length(1000, 0.0) == 1
    assert block_length(40, 0.99) == 10  # a quarter at most
    assert block_freedom(1000, 0.5, 2) == 69  # 71 whole blocks


def test_draws_are_blocks_of_the_residuals() -> None:
    residuals = np.arange(20.0) - 9.5
    drawn = block_draws(residuals, 0.5, 0, repetitions=50)
    scale = np.ptp(drawn) / 19.0
    index = np.round(drawn / scale + 9.5).astype(int)
    steps = np.diff(index, axis=1) % 20
    length = block_length(20, 0.5)
    inside = np.arange(1, 20) % length != 0
    assert np.all(steps[:, inside] == 1)
    assert np.array_equal(drawn, block_draws(residuals, 0.5, 0, repetitions=50))


@pytest.mark.parametrize("rho", [0.0, 0.7])
def test_means_of_draws_vary_as_means_of_the_series_do(rho: float) -> None:
    n = 400
    rows = ar1(5, 60, n, rho)
    spread = [block_draws(r - r.mean(), rho, 1, 300).mean(axis=1).var() for r in rows]
    truth = (1 + rho) / (1 - rho) / n  # to the first order
    assert np.mean(spread) == pytest.approx(truth, rel=0.15)


def test_an_interval_turns_the_quantiles_about_the_value() -> None:
    deviations = np.abs(white(3, 4000))  # only ever too high
    found = around(10.0, deviations, 10_000, 0.95)
    assert found.high == pytest.approx(10.0, abs=0.05)
    assert found.low == pytest.approx(10.0 - 2.24, abs=0.1)  # 97.5 % of |Z|
