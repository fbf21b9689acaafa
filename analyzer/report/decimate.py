"""Fewer points for a drawn line, with every spike and gap kept."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt

from analyzer.tables.evidence import Floats, Steps

POINTS = 400  # of a drawn line, at most
GAP_FACTOR = 3  # a step this many times the usual one is a gap

Indices = npt.NDArray[np.intp]


def keep_extremes(values: Floats, points: int = POINTS) -> Indices:
    """Indices of at most `points` of the values, ascending: the first, the last, and the lowest
    and highest of each of equal stretches between, so that no spike is lost. Values are finite.
    """
    count = len(values)
    if count <= points:
        return np.arange(count)
    edges = np.linspace(1, count - 1, (points - 2) // 2 + 1).astype(np.intp)
    kept = [0, count - 1]
    for low, high in pairwise(edges):
        stretch = values[low:high]
        kept += [low + int(np.argmin(stretch)), low + int(np.argmax(stretch))]
    return np.unique(np.array(kept, dtype=np.intp))


def pieces(steps: Steps, values: Floats) -> npt.NDArray[np.int64]:
    """The number of the unbroken piece that each value belongs to: a line breaks at a value that
    is not finite and at a gap in the steps.
    """
    if not len(steps):
        return np.zeros(0, dtype=np.int64)
    jumps = np.diff(steps)
    usual = float(np.median(jumps)) if len(jumps) else 1.0
    broken = np.concatenate(([False], jumps > GAP_FACTOR * usual))
    return np.cumsum(broken | ~np.isfinite(values))
