"""Adam on the policy's flat tensor, with a learning rate that is written as for a large model."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

LR_UNIT = 1000.0
"""A policy of some ten thousand parameters takes steps a thousand times those of one of a billion.

Settings, configuration and log carry the large model's rate (1e-6), so that what is usual for a
learning rate means the same here as in a real run.
"""


@dataclass(frozen=True)
class LossScale:
    """Gradients in half precision under a scale, as trainers in float16 hold them."""

    start: float = 2.0**4
    growth_every: int = 5
    """Steps after which the scale doubles."""
    shrinks: bool = True
    """Whether an overflow halves it."""


@dataclass(frozen=True)
class Step:
    """What an optimiser step did."""

    grad_norm: float
    taken: bool
    lr: float


BETAS = (0.9, 0.999)
EPS = 1e-8


class Optimiser:
    """AdamW (Loshchilov and Hutter, 2019) with gradient clipping and, where wanted, a loss scale.

    Six operations on one flat tensor; `torch.optim` would load torch's compiler for them, which
    takes as long as fifty steps.
    """

    def __init__(self, flat: Tensor, clip: float, weight_decay: float) -> None:
        self.flat = flat
        self.clip = clip
        self.weight_decay = weight_decay
        self.mean = torch.zeros_like(flat, requires_grad=False)
        self.square = torch.zeros_like(flat, requires_grad=False)
        self.count = 0
        self.scale: float | None = None
        self.since_growth = 0

    def step(self, loss: Tensor, lr: float, scaling: LossScale | None) -> Step:
        """One step down the gradient of a loss; none where the gradient is not finite."""
        gradient = self._gradient(loss, scaling)
        norm = float(torch.linalg.vector_norm(gradient))
        taken = math.isfinite(norm)
        if scaling is not None:
            self._adapt(taken, scaling)
        if taken:
            self._move(gradient * min(1.0, self.clip / (norm + 1e-6)), lr * LR_UNIT)
        return Step(norm, taken, lr)

    @torch.no_grad()
    def _move(self, gradient: Tensor, lr: float) -> None:
        self.count += 1
        self.mean.lerp_(gradient, 1 - BETAS[0])
        self.square.mul_(BETAS[1]).addcmul_(gradient, gradient, value=1 - BETAS[1])
        corrected = [1 - beta**self.count for beta in BETAS]
        root = (self.square / corrected[1]).sqrt_().add_(EPS)
        self.flat.mul_(1 - lr * self.weight_decay)
        self.flat.addcdiv_(self.mean, root, value=-lr / corrected[0])

    def _gradient(self, loss: Tensor, scaling: LossScale | None) -> Tensor:
        if scaling is None:
            (gradient,) = torch.autograd.grad(loss, self.flat)
            return gradient
        if self.scale is None:
            self.scale = scaling.start
        (gradient,) = torch.autograd.grad(loss * self.scale, self.flat)
        return gradient.to(torch.float16).to(torch.float32) / self.scale

    def _adapt(self, taken: bool, scaling: LossScale) -> None:
        assert self.scale is not None
        self.since_growth += 1
        if not taken and scaling.shrinks:
            self.scale, self.since_growth = self.scale / 2, 0
        elif taken and self.since_growth >= scaling.growth_every:
            self.scale, self.since_growth = self.scale * 2, 0

    def state(self) -> dict[str, Any]:
        """What a checkpoint keeps of it."""
        return {
            "mean": self.mean,
            "square": self.square,
            "count": self.count,
            "scale": self.scale,
            "since_growth": self.since_growth,
        }

    def load(self, state: dict[str, Any]) -> None:
        """Go on from a checkpoint."""
        self.mean, self.square = state["mean"].clone(), state["square"].clone()
        self.count, self.scale = state["count"], state["scale"]
        self.since_growth = state["since_growth"]
