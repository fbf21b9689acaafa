"""What trackers/make.py logs, worked out by hand."""

from __future__ import annotations

import math

Row = tuple[int, str, str]

LOSS = {0: 1.0, 1: 0.5, 2: 1 / 3, 3: 0.25, 4: 0.2, 5: 1 / 6}
KL = {0: 0.0, 1: 0.25, 2: 0.5, 3: 0.75, 4: math.nan, 5: 1.25}


def expected(first: int, last: int) -> list[Row]:
    """Step, metric and value as text, since NaN does not equal itself."""
    steps = range(first, last + 1)
    rows = [(step, "loss/avg", repr(LOSS[step])) for step in steps]
    rows += [(step, "kl", repr(KL[step])) for step in steps]
    rows += [(3, "eval/reward", "0.125")] if 3 in steps else []
    return sorted(rows)


def told(metrics: list[tuple[int, int, int | None, str, float, object]]) -> list[Row]:
    """The same of what a reader handed on."""
    return sorted((row[1], row[3], repr(row[4])) for row in metrics)
