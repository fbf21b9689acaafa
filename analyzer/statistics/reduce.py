"""Long series of which several share their steps, made short."""

from __future__ import annotations

import numpy as np

from analyzer.statistics.finite import Floats, Steps


def bucket_medians(steps: Steps, *series: Floats, buckets: int) -> tuple[Steps, tuple[Floats, ...]]:
    """Medians over `buckets` stretches of equally many steps; unchanged where it is no longer."""
    if len(steps) <= buckets:
        return steps, series
    middle = _medians(steps.astype(np.float64), buckets).astype(np.int64)
    return middle, tuple(_medians(values, buckets) for values in series)


def _medians(values: Floats, buckets: int) -> Floats:
    """Medians of as many stretches; the first are one value longer where it does not divide."""
    size, longer = divmod(len(values), buckets)
    cut = longer * (size + 1)
    parts = values[:cut].reshape(longer, size + 1), values[cut:].reshape(-1, size)
    return np.concatenate([np.median(part, axis=1) for part in parts])
