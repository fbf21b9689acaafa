from __future__ import annotations

import math

import numpy as np
import pytest
from noise_series import ramp, white

from analyzer.statistics.shift import shifts


def test_one_jump_where_it_is() -> None:
    values = 20.0 + white(71, 120)
    values[70:] += 5.0
    (found,) = shifts(values)
    assert found.low <= 70 <= found.high
    assert found.at == pytest.approx(70, abs=1)
    assert found.before == pytest.approx(np.median(values[: found.at]))
    assert found.after == pytest.approx(np.median(values[found.at :]))
    assert found.effect == pytest.approx(5.0, abs=1.5)  # three errors of a σ from 120 values
    assert found.p_value < 1e-6


def test_up_and_down_again() -> None:
    values = white(72, 200)
    values[80:130] += 6.0
    up, down = shifts(values)
    assert (up.at, down.at) == pytest.approx((80, 130), abs=1)
    assert up.change > 4.5
    assert down.change < -4.5


@pytest.mark.parametrize("height", [3.0, 10.0, 30.0])
def test_drifts_are_no_jumps(height: float) -> None:
    t = np.arange(240)
    learning = height * (1 - np.exp(-t / 60)) + white(73, 240)
    straight = ramp(240, 0, 239, height) + white(74, 240)
    for values in (learning, straight):
        assert [s for s in shifts(values) if s.p_value < 0.01 and abs(s.effect) >= 3] == []


def test_a_spike_is_no_jump() -> None:
    values = white(75, 100)
    values[60:63] += 40.0
    assert [s for s in shifts(values) if s.p_value < 0.01] == []


def test_a_jump_in_the_midst_of_a_drift() -> None:
    values = ramp(240, 0, 239, 6.0) + white(76, 240)
    values[120:] += 9.0
    sure = [s for s in shifts(values) if s.p_value < 0.01 and abs(s.effect) >= 3]
    assert [s.at for s in sure] == pytest.approx([120], abs=1)


def test_without_noise() -> None:
    values = np.repeat([1.0, 3.0], [30, 30])
    (found,) = shifts(values)
    assert (found.at, found.low, found.high) == (30, 30, 30)
    assert (found.before, found.after, found.p_value) == (1.0, 3.0, 0.0)
    assert found.effect == math.inf
    assert shifts(np.full(40, 7.0)) == []


def test_a_cap_that_most_values_sit_on() -> None:
    values = np.minimum(ramp(200, 20, 80, 9.0) + 0.1 * white(77, 200), 8.0)
    for found in shifts(values):
        assert math.isfinite(found.effect)
        assert 0 <= found.low <= found.at <= found.high < 200


def test_too_few_values() -> None:
    with pytest.raises(ValueError, match="needs 20 values"):
        shifts(np.zeros(19))
