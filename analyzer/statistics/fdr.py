"""Control of false discoveries over many tests."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def survivors(p_values: Sequence[float], q: float) -> list[bool]:
    """Which tests stand when at most a share q of those that stand may be false.

    Benjamini & Hochberg 1995: with the p-values in ascending order, all up to the last with
    p(k) ≤ q·k/m. The order of the answer is that of `p_values`. Raises ValueError for a p-value
    outside [0, 1].
    """
    p = np.asarray(p_values, dtype=np.float64)
    if not np.all((p >= 0.0) & (p <= 1.0)):
        raise ValueError("a p-value lies outside [0, 1]")
    m = len(p)
    if m == 0:
        return []
    passing = np.flatnonzero(np.sort(p) <= q * np.arange(1, m + 1) / m)
    limit = np.sort(p)[passing[-1]] if len(passing) else -1.0
    return [bool(value <= limit) for value in p]
