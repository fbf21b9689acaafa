"""Blocks, their length, and what they keep of a variance."""

from __future__ import annotations

import numpy as np
import pytest
from noise_series import ar1, white
from scipy import stats

from analyzer.statistics.bootstrap import (
    Estimate,
    around,
    block_draws,
    block_freedom,
    block_length,
    with_spread,
)


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


def test_a_spread_is_added_in_quadrature() -> None:
    found = Estimate(2.0, 0.0, 6.0, 0.1, error=1.5, freedom=10)
    wide = with_spread(found, 2.0, 20, 0.95)
    assert wide.error == 2.5
    # Welch and Satterthwaite: 2.5⁴ / (1.5⁴/10 + 2⁴/20) = 29.9, of which the whole part.
    assert wide.freedom == 29
    t = stats.t(29)
    grown = t.ppf(0.975) / stats.t(10).ppf(0.975) * 2.5 / 1.5
    assert wide.low == pytest.approx(2.0 - 2.0 * grown)
    assert wide.high == pytest.approx(2.0 + 4.0 * grown)
    assert wide.p_value == pytest.approx(2 * t.sf(2.0 / 2.5))


def test_a_spread_alone_is_the_whole_error() -> None:
    exact = Estimate(1.0, 1.0, 1.0, 0.0, error=0.0, freedom=3)
    wide = with_spread(exact, 0.5, 20, 0.95)
    reach = stats.t(20).ppf(0.975) * 0.5
    assert [wide.low, wide.high] == pytest.approx([1 - reach, 1 + reach])
    assert with_spread(exact, 0.0, 20, 0.95) is exact
