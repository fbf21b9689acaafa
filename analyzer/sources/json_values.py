"""The numbers in a JSON object that was logged as one entry."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

_NAMED = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def number_of(value: Any) -> float | None:
    """A number, a truth value, or the name of a number that JSON does not have; None: no number."""
    found = _NAMED.get(value) if isinstance(value, str) else value
    return float(found) if isinstance(found, int | float) else None


def numbers_in(entry: Mapping[str, Any], joint: str = ".") -> tuple[dict[str, float], int]:
    """Name → number, inner objects' names joined, and how many values are no numbers.

    An object with `_type` is a tracker's own: a histogram, an image, a table.
    """
    numbers: dict[str, float] = {}
    others = 0
    for name, value in entry.items():
        if isinstance(value, dict) and "_type" not in value:
            inner, more = numbers_in(value, joint)
            numbers |= {f"{name}{joint}{key}": number for key, number in inner.items()}
            others += more
        elif (number := number_of(value)) is not None:
            numbers[name] = number
        else:
            others += 1
    return numbers, others
