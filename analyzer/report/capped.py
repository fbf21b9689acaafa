"""A table's first rows, with the number of those left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Capped(Generic[T]):
    """The first rows of a table, and how many more there are."""

    rows: tuple[T, ...]
    more: int = 0


def cap(rows: Sequence[T], limit: int) -> Capped[T]:
    """At most `limit` rows; a single one over is kept, for its line would be as long."""
    if len(rows) <= limit + 1:
        return Capped(tuple(rows))
    return Capped(tuple(rows[:limit]), len(rows) - limit)


def cut(rows: Sequence[T], limit: int) -> Capped[T]:
    """At most `limit` rows, for those that may take several lines each."""
    return Capped(tuple(rows[:limit]), max(0, len(rows) - limit))
