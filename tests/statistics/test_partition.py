from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import numpy.typing as npt
import pytest
import ruptures
from noise_series import white

from analyzer.statistics.partition import change_points


def cost(values: npt.NDArray[np.float64], changes: list[int], penalty: float) -> float:
    """Squared error of the segments plus the penalty of the changes, from the definition."""
    edges = [0, *changes, len(values)]
    error = sum(((values[a:b] - values[a:b].mean()) ** 2).sum() for a, b in pairwise(edges))
    return float(error + penalty * len(changes))


@pytest.mark.parametrize("penalty", [0.3, 1.5, 6.0])
def test_is_the_best_of_all_segmentations(penalty: float) -> None:
    values = white(41, 12) + np.where(np.arange(12) >= 7, 2.0, 0.0)
    allowed = [
        list(places)
        for count in range(6)
        for places in combinations(range(1, 12), count)
        if all(b - a >= 2 for a, b in pairwise([0, *places, 12]))
    ]
    best = min(allowed, key=lambda places: cost(values, places, penalty))
    assert change_points(values, penalty, smallest=2) == best


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("factor", [1.0, 3.0])
def test_is_that_of_ruptures(seed: int, factor: float) -> None:
    values = white(seed, 300)
    values[90:] += 1.2
    values[180:230] -= 2.0
    penalty = factor * np.log(300)
    search = ruptures.KernelCPD(kernel="linear", min_size=5).fit(values.reshape(-1, 1))
    assert change_points(values, penalty, smallest=5) == search.predict(pen=penalty)[:-1]


def test_nothing_to_find() -> None:
    assert change_points(np.zeros(50), 1.0) == []
    assert change_points(np.zeros(0), 1.0) == []
    assert change_points(white(42, 6), 0.1, smallest=5) == []
