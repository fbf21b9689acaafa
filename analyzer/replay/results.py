"""What a replay without a model finds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from torch import Tensor

from analyzer.replay.formulas.statistics import Number


@dataclass(frozen=True)
class Part:
    """A micro-batch: its rows, its loss (None if it was skipped) and its weight, valid tokens."""

    rows: tuple[int, ...]
    loss: float | None
    loss_weight: int


@dataclass(frozen=True)
class Minibatch:
    """One optimiser step: its loss, weighted over its micro-batches."""

    loss: float
    loss_weight: int
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class ArealError:
    """The exception AReaL ends with on this batch."""

    stage: str
    type: str
    message: str


@dataclass(frozen=True)
class StageZero:
    """What a replay without a model finds."""

    stats: dict[str, Number]
    """By AReaL's keys; empty where AReaL raises."""
    loss: float | None
    error: ArealError | None
    tensors: dict[str, Tensor]
    """[B,T] at predicting positions, or [B]; as far as AReaL gets."""
    minibatches: tuple[Minibatch, ...] = ()
    partial_stats: dict[str, Number] = field(default_factory=dict)
    """What had been recorded when AReaL raised."""
    critic_loss: float | None = None
    critic_minibatches: tuple[Minibatch, ...] = ()
    notes: tuple[str, ...] = ()


def total_loss(minibatches: Sequence[Minibatch]) -> float | None:
    """The minibatches' losses, weighted by valid tokens; None without any."""
    weight = sum(minibatch.loss_weight for minibatch in minibatches)
    if not weight:
        return None
    return sum(m.loss * m.loss_weight for m in minibatches) / weight
