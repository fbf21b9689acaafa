"""Values that a statistic can be computed of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Steps = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Finite:
    """Steps and values without NaN and Inf, and how many of those there were."""

    steps: Steps
    values: Floats
    dropped: int

    def __len__(self) -> int:
        return len(self.steps)


def finite(steps: npt.ArrayLike, values: npt.ArrayLike) -> Finite:
    """The finite values with their steps, in the order given."""
    s = np.asarray(steps, dtype=np.int64)
    v = np.asarray(values, dtype=np.float64)
    keep = np.isfinite(v)
    return Finite(s[keep], v[keep], int(len(v) - keep.sum()))
