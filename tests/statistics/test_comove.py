from __future__ import annotations

import numpy as np
import pytest
from noise_series import ar1, ramp, white
from scipy import stats

from analyzer.statistics.comove import (
    changes_test,
    comovement,
    lagged_spearman,
    sequence_loss,
)
from analyzer.statistics.ramp import fit_ramp

N = 240
STEPS = np.arange(N)


def test_two_that_rise_together_under_noise() -> None:
    first = ramp(N, 80, 160, 5.0) + white(81, N)
    second = ramp(N, 90, 170, 40.0) + 8.0 * white(82, N)
    found = comovement(STEPS, first, second)
    assert found.rho > 0.6
    assert found.overlap > 0.7
    assert found.p_value < 1e-4


def test_one_falls_as_the_other_rises() -> None:
    move = ramp(N, 60, 180, 5.0)
    found = comovement(STEPS, white(83, N) + move, white(84, N) - move)
    assert found.rho < -0.6
    assert found.p_value < 1e-4


@pytest.mark.parametrize("height", [3.0, 10.0, 30.0])
def test_trends_in_opposite_halves_have_nothing_to_do_with_one_another(height: float) -> None:
    first = ramp(N, 0, 120, height) + white(85, N)
    second = ramp(N, 120, 239, height) + white(86, N)
    assert stats.spearmanr(first, second).pvalue < 0.001
    assert comovement(STEPS, first, second).p_value > 0.05


def test_common_changes_without_a_drift() -> None:
    common = ar1(87, 1, N, 0.5)[0]
    found = comovement(STEPS, white(88, N) + 2 * common, white(89, N) + 2 * common)
    assert found.p_drift > 0.01
    assert found.p_changes < 1e-6
    assert found.rho_changes > 0.5


def test_lag_is_positive_where_the_second_follows() -> None:
    common = ar1(90, 1, N + 4, 0.3)[0]
    first, second = common[4:] + 0.2 * white(91, N), common[:-4] + 0.2 * white(92, N)
    rho, lag = lagged_spearman(first, second, 10)
    assert lag == 4
    assert rho == pytest.approx(stats.spearmanr(first[:-4], second[4:]).statistic)
    assert lagged_spearman(second, first, 10)[1] == -4


def test_lag_of_long_memories_is_not_read_off_nothing() -> None:
    line = np.linspace(0, 10, N)
    assert lagged_spearman(line, line + 0.1 * white(93, N), 10)[1] == 0


def test_bootstrap_gives_the_p_value_of_independent_permutations() -> None:
    # For white noise the largest of 21 correlations of unrelated series is what chance makes.
    first = white(94, 150)
    second = 0.25 * first + white(95, 150)
    _, p_value = changes_test(first, second, 0)
    assert p_value == pytest.approx(stats.spearmanr(first, second).pvalue, abs=0.02)


def test_same_seed_same_answer() -> None:
    first, second = white(96, 100), white(97, 100)
    assert changes_test(first, second, 10) == changes_test(first, second, 10)
    assert changes_test(first, second, 10) != changes_test(first, second, 10, seed=1)


def test_a_constant_moves_with_nothing() -> None:
    found = comovement(STEPS, np.ones(N), white(98, N))
    assert (found.rho, found.p_value) == (0.0, 1.0)


def test_too_few_points() -> None:
    with pytest.raises(ValueError, match="needs 20 points"):
        comovement(np.arange(19), np.zeros(19), np.zeros(19))


@pytest.mark.parametrize(("n", "rho", "height"), [(50, 0.0, 3.0), (100, 0.7, 4.0)])
def test_weak_rises_in_opposite_halves_are_not_together(n: int, rho: float, height: float) -> None:
    half = n // 2
    first = ar1(96, 300, n, rho) + ramp(n, 0, half, height)
    second = ar1(97, 300, n, rho) + ramp(n, half, n - 1, height)
    pairs = zip(first, second, strict=True)
    assert np.mean([comovement(np.arange(n), a, b).p_value <= 0.01 for a, b in pairs]) <= 0.02


def test_places_of_strong_movements_are_sure() -> None:
    early, late = (fit_ramp(ramp(100, a, a + 20, 20.0) + white(a, 100)) for a in (10, 60))
    assert sequence_loss(early, late, 10) == 0.0
    assert sequence_loss(late, early, 10) == 0.0
    assert sequence_loss(early, early, 10) > 50.0
    assert sequence_loss(early, late, 99) == np.inf
