"""How a batch is cut into minibatches and micro-batches: first fit by descending length."""

from __future__ import annotations

import math
from collections.abc import Sequence

from analyzer.replay.areal_errors import ArealRaises
from analyzer.replay.config import MicroBatches


def allocate(lengths: Sequence[int], capacity: float, least: int) -> list[list[int]]:
    """Groups of rows with at most `capacity` tokens each, at least `least` groups.

    Rows come longest first. Among the groups that a row fits in, the one with the fewest rows takes
    it, the lightest of those. Where the lightest of all cannot take it, a new group is opened.
    Raises ArealRaises for a row longer than the capacity and for fewer rows than groups.
    """
    if any(length > capacity for length in lengths):
        raise ArealRaises(
            "RuntimeError", f"Values {list(lengths)} is larger than capacity {capacity}"
        )
    if len(lengths) < least:
        raise ArealRaises(
            "RuntimeError",
            f"Number of values {len(lengths)} is smaller than min_groups {least}",
        )
    groups: list[list[int]] = []
    weight: list[int] = []
    for row in sorted(range(len(lengths)), key=lambda row: -lengths[row]):
        length = lengths[row]
        if len(groups) < least or min(weight) + length > capacity:
            groups.append([row])
            weight.append(length)
            continue
        fitting = [g for g in range(len(groups)) if weight[g] + length <= capacity]
        chosen = min(fitting, key=lambda g: (len(groups[g]), weight[g], g))
        groups[chosen].append(row)
        weight[chosen] += length
    return sorted(sorted(group) for group in groups)


def minibatches(rows: Sequence[int], lengths: Sequence[int], count: int) -> list[list[int]]:
    """The rows of each minibatch."""
    return _split(rows, lengths, math.inf, count)


def microbatches(
    rows: Sequence[int], lengths: Sequence[int], spec: MicroBatches
) -> list[list[int]]:
    """The rows of each micro-batch of a minibatch."""
    capacity = spec.max_tokens_per_mb if spec.max_tokens_per_mb is not None else math.inf
    return _split(rows, lengths, capacity, spec.n_mbs or 1)


def _split(
    rows: Sequence[int], lengths: Sequence[int], capacity: float, count: int
) -> list[list[int]]:
    groups = allocate([lengths[row] for row in rows], capacity, max(count, 1))
    return [[rows[i] for i in group] for group in groups]


def is_open(lengths: Sequence[int], groups: int) -> bool:
    """Whether equal lengths leave it to the sort of AReaL's numpy which row goes where."""
    return groups > 1 and len(set(lengths)) < len(lengths)


def recorded(index: Sequence[int], rows: Sequence[int]) -> list[list[int]]:
    """Groups from the recorded number of each row's group; rows with -1 are in none."""
    groups: dict[int, list[int]] = {}
    for row in rows:
        if index[row] >= 0:
            groups.setdefault(index[row], []).append(row)
    return [groups[number] for number in sorted(groups)]
