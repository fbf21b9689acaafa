"""Exact search for change points in the mean."""

from __future__ import annotations

import numpy as np

from analyzer.statistics.finite import Floats


def change_points(values: Floats, penalty: float, smallest: int = 5) -> list[int]:
    """Where new segments begin: the segmentation with the least squared error plus `penalty` for
    each change, among all with segments of at least `smallest` values.

    Optimal partitioning (Jackson et al. 2005) with prefix sums: O(n²), vectorised over the last
    change, 8 ms for 512 values. It gives what ruptures' KernelCPD gives for the linear kernel
    (a test compares them), without the second that importing ruptures takes
    (docs/decisions/0007-change-points.md).
    """
    n = len(values)
    sums = np.concatenate([[0.0], np.cumsum(values - values.mean())]) if n else np.zeros(1)
    best = np.full(n + 1, np.inf)
    best[0] = -penalty
    previous = np.zeros(n + 1, dtype=np.intp)
    for end in range(smallest, n + 1):
        starts = slice(0, end - smallest + 1)
        lengths = end - np.arange(end - smallest + 1)
        # The squared error of a segment is Σ x² − (Σ x)²/length; Σ x² is the same for all.
        costs = best[starts] - (sums[end] - sums[starts]) ** 2 / lengths
        previous[end] = int(costs.argmin())
        best[end] = costs[previous[end]] + penalty
    found = []
    at = int(previous[n])
    while at > 0:
        found.append(at)
        at = int(previous[at])
    return found[::-1]
