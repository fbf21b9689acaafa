from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from analyzer.statistics.fdr import survivors


def test_by_hand() -> None:
    # Limits 0.01·k/4: 0.0025, 0.005, 0.0075, 0.01. The third passes and takes the second along.
    assert survivors([0.007, 0.0051, 0.5, 0.0001], 0.01) == [True, True, False, True]


@pytest.mark.parametrize("q", [0.01, 0.1, 0.3])
def test_is_that_of_scipy(q: float) -> None:
    rng = np.random.default_rng(21)
    p = np.concatenate([rng.uniform(size=30), rng.uniform(size=10) * 1e-3])
    expected = stats.false_discovery_control(p) <= q
    assert survivors(list(p), q) == list(expected)


def test_nothing_and_equal_values() -> None:
    assert survivors([], 0.05) == []
    assert survivors([0.02, 0.02], 0.02) == [True, True]
    assert survivors([1.0], 0.05) == [False]


def test_wrong_p_value() -> None:
    with pytest.raises(ValueError, match="outside"):
        survivors([0.1, float("nan")], 0.05)
