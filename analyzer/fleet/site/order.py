"""Orders in which likes stand together: rules that the same runs have, runs with the same rules."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.bool_]


def rule_order(fired: Matrix) -> list[int]:
    """The columns of runs × rules, those that fire in the same runs beside each other.

    Clusters by average linkage over the Jaccard distance of their runs; of two that are joined the
    one with the more frequent rule comes first.
    """
    counts = fired.sum(axis=0)
    frequent = np.lexsort((np.arange(len(counts)), -counts))
    clusters: list[list[int]] = [[column] for column in frequent.tolist()]
    distance = jaccard(fired.T[frequent])
    np.fill_diagonal(distance, np.inf)
    while len(clusters) > 1:
        # Rounded, so that the order of sums does not decide between equals.
        nearest = int(np.argmin(np.round(distance, 9)))
        first, second = sorted(divmod(nearest, len(clusters)))
        a, b = len(clusters[first]), len(clusters[second])
        joined = (a * distance[first] + b * distance[second]) / (a + b)
        distance[first], distance[:, first] = joined, joined
        distance[first, first] = np.inf
        distance = np.delete(np.delete(distance, second, 0), second, 1)
        clusters[first] += clusters.pop(second)
    return clusters[0] if clusters else []


def jaccard(rows: Matrix) -> npt.NDArray[np.float64]:
    """Of each two rows: 1 − the share of what either has that both have; 0 for two empty rows."""
    counts = rows.sum(axis=1)
    both = rows.astype(np.int64) @ rows.T.astype(np.int64)
    either = counts[:, None] + counts[None, :] - both
    shared = np.divide(both, either, out=np.ones(both.shape), where=either > 0)
    return np.asarray(1 - shared, dtype=np.float64)


def run_order(grades: npt.NDArray[np.int64], tie: Sequence[str]) -> list[int]:
    """The rows of runs × rules: by the first rule's grade, then by the second's, and so on.

    Runs with the same findings are beside each other; `tie` decides between those.
    """
    keys = [(*(-grades[i]).tolist(), tie[i]) for i in range(len(tie))]
    return sorted(range(len(tie)), key=keys.__getitem__)
