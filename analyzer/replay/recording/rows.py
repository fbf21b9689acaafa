"""Which rows of a batch are recorded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

_T = TypeVar("_T")


@dataclass(frozen=True)
class Picked:
    """Rows of the batch that was handed over, rising, and the groups they form."""

    rows: tuple[int, ...] | None
    """None: all."""
    group_sizes: tuple[int, ...] | None
    """Rows of each group that are left; None where the groups are not known."""


def pick(total: int, wanted: int | None, group_sizes: Sequence[int] | None) -> Picked:
    """About `wanted` of `total` rows: whole groups, evenly spread over the batch.

    Where one group alone is larger than that, rows evenly spread over the batch.
    """
    sizes = tuple(group_sizes) if group_sizes is not None else None
    if wanted is None or wanted >= total:
        return Picked(None, sizes)
    blocks = _blocks(sizes if sizes is not None and sum(sizes) == total else (1,) * total)
    for count in range(len(blocks), 0, -1):
        chosen = _spread(blocks, count)
        if sum(len(block) for block in chosen) <= wanted:
            rows = tuple(row for block in chosen for row in block)
            return Picked(rows, tuple(len(block) for block in chosen) if sizes else None)
    rows = tuple(_spread(range(total), max(wanted, 1)))
    return Picked(rows, _left(blocks, rows) if sizes else None)


def _blocks(sizes: Sequence[int]) -> list[range]:
    blocks, start = [], 0
    for size in sizes:
        blocks.append(range(start, start + size))
        start += size
    return blocks


def _spread(items: Sequence[_T], count: int) -> list[_T]:
    return [items[i * len(items) // count] for i in range(count)]


def _left(blocks: Sequence[range], rows: Sequence[int]) -> tuple[int, ...]:
    counts = (sum(row in block for row in rows) for block in blocks)
    return tuple(count for count in counts if count)
