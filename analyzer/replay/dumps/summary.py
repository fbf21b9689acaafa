"""What can be said of a dump: its rewards, groups, truncation and weights."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from analyzer.replay.dumps.dump import Dump
from analyzer.replay.insights import Weights, weights


@dataclass(frozen=True)
class Rewards:
    """Of the finite rewards; all but the counts are None without one."""

    count: int
    not_finite: int
    mean: float | None
    std: float | None
    """With n - 1; None for fewer than two."""
    least: float | None
    most: float | None


@dataclass(frozen=True)
class Groups:
    """Groups, and those whose sequences all had the same reward and so teach nothing."""

    count: int
    zero_variance: int
    by: str
    """What was compared: rewards, or advantages that are all 0."""


@dataclass(frozen=True)
class Summary:
    """None for what the dump does not allow."""

    rewards: Rewards | None
    groups: Groups | None
    truncated: int | None
    """Sequences that were cut off."""
    weights: Weights | None


def summary(dump: Dump) -> Summary:
    """What a dump says by itself."""
    return Summary(
        None if dump.rewards is None else _rewards(dump.rewards),
        _groups(dump),
        None if dump.truncated is None else sum(dump.truncated),
        None if dump.log_weights is None else weights(dump.log_weights),
    )


def _rewards(values: Sequence[float]) -> Rewards:
    finite = [value for value in values if math.isfinite(value)]
    count = len(finite)
    if not count:
        return Rewards(len(values), len(values), None, None, None, None)
    mean = math.fsum(finite) / count
    square = math.fsum((value - mean) ** 2 for value in finite)
    return Rewards(
        len(values),
        len(values) - count,
        mean,
        math.sqrt(square / (count - 1)) if count > 1 else None,
        min(finite),
        max(finite),
    )


def _groups(dump: Dump) -> Groups | None:
    if dump.groups is None:
        return None
    by_advantage = dump.rewards is None and dump.spread is not None
    values = dump.spread if by_advantage else dump.rewards
    if values is None:
        return None
    members: dict[Hashable, list[float]] = defaultdict(list)
    for group, value in zip(dump.groups, values, strict=True):
        members[group].append(value)
    flat = sum(
        all(value == (0 if by_advantage else held[0]) for value in held)
        for held in members.values()
    )
    return Groups(len(members), flat, "advantages" if by_advantage else "rewards")
