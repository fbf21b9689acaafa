from __future__ import annotations

import numpy as np

from analyzer.statistics.reduce import bucket_medians


def test_short_series_stay() -> None:
    steps, (values,) = bucket_medians(np.arange(4), np.arange(4.0), buckets=4)
    assert list(steps) == [0, 1, 2, 3]
    assert list(values) == [0, 1, 2, 3]


def test_medians_over_equal_counts() -> None:
    steps, (a, b) = bucket_medians(
        np.array([0, 1, 2, 10, 11, 12]),
        np.array([5.0, 1.0, 9.0, 4.0, 4.0, 0.0]),
        np.array([0.0, 0.0, 1.0, 7.0, 8.0, 9.0]),
        buckets=2,
    )
    assert (list(steps), list(a), list(b)) == ([1, 11], [5.0, 4.0], [0.0, 8.0])
