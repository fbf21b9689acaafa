"""Long series of which several share their steps, made short."""

from __future__ import annotations

import numpy as np

from analyzer.statistics.finite import Floats, Steps


def bucket_medians(steps: Steps, *series: Floats, buckets: int) -> tuple[Steps, tuple[Floats, ...]]:
    """Medians over `buckets` stretches of equally many steps; unchanged where it is no longer."""
    if len(steps) <= buckets:
        return steps, series
    edges = np.array_split(np.arange(len(steps)), buckets)
    middle = np.array([np.median(steps[part]) for part in edges]).astype(np.int64)
    return middle, tuple(np.array([np.median(s[part]) for part in edges]) for s in series)
