"""Where a limit's label goes, so that it hides as little of the data as possible."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from analyzer.report.scale import Axis
from analyzer.tables.evidence import Floats

LETTER = 5.0  # width of a letter, px
LINE = 11.0  # height of a label, px
CROSSED_LIMIT = 50  # as bad as so many hidden points


@dataclass(frozen=True, slots=True)
class Placed:
    """A label beside its limit: at the left or the right end, above or below the line."""

    label: str
    value: float
    left: bool
    above: bool


def place(axis: Axis, across: Floats, values: Floats, width: float, height: float) -> list[Placed]:
    """The axis' limits with the place of each label. `across` is where each value stands between
    the left (0) and the right end (1) of a plot of `width` × `height` px.
    """
    heights = np.array([_height(axis, value) for value in values]) * height
    levels = [_height(axis, value) * height for _, value in axis.limits]
    placed = []
    for (label, value), level in zip(axis.limits, levels, strict=True):
        share = LETTER * len(label) / width
        others = [other for other in levels if other != level]
        options = []
        for above in (True, False):
            low, high = (level, level + LINE) if above else (level - LINE, level)
            inside = (heights >= low - 2) & (heights <= high + 2)
            cost = 1000 * (high > height + 3 or low < 0)
            cost += CROSSED_LIMIT * sum(low - 3 <= other <= high for other in others)
            for left in (True, False):
                beside = across <= share + 0.02 if left else across >= 0.98 - share
                options.append(
                    (cost + int((inside & beside).sum()), Placed(label, value, left, above))
                )
        placed.append(min(options, key=lambda option: option[0])[1])
    return placed


def _height(axis: Axis, value: float) -> float:
    if axis.log:
        return math.log(value / axis.low) / math.log(axis.high / axis.low)
    return (value - axis.low) / (axis.high - axis.low)
