"""How well log-probs agree with others, and how well they ought to."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

EXPLAINED = 0.1
"""A candidate explains a deviation where it leaves at most a tenth of its mean square."""

LOST = 0.01
"""A sampled token is one that top-p and top-k kept; rounding moves few across their bounds."""


@dataclass(frozen=True, slots=True)
class Band:
    """How far two computations of the same log-probs may be apart."""

    token: float  # at one token
    mean: float  # signed, over all


# Measured on a small model with other kernels and another batching, and doubled: 4e-6 to 7e-6 a
# token in float32, 0.12 to 0.19 in bfloat16. float16 keeps three bits more than bfloat16.
BANDS = {
    "float64": Band(5e-5, 1e-5),
    "float32": Band(5e-5, 1e-5),
    "float16": Band(0.25 / 8, 1e-2 / 8),
    "bfloat16": Band(0.25, 1e-2),
}


def band(dtype: str | None) -> Band:
    """The band of a dtype; that of bfloat16 where it is not known, as engines use it."""
    return BANDS.get(dtype or "bfloat16", BANDS["bfloat16"])


@dataclass(frozen=True, slots=True)
class Fit:
    """The difference of two sets of log-probs over some tokens."""

    tokens: int
    mean: float
    distance: float  # mean absolute difference, nats
    square: float  # mean square
    largest: float  # absolute
    lost: float = 0.0  # share of the tokens left out because one of the two is not finite

    def within(self, bound: Band) -> bool:
        """Are they the same, as far as that dtype can tell?"""
        return self.tokens > 0 and self.largest <= bound.token and abs(self.mean) <= bound.mean

    def explains(self, deviation: Fit) -> bool:
        """Is next to nothing left of a deviation, at all tokens but those a bound rounds away?"""
        whole = self.tokens > 0 and self.lost <= LOST
        return whole and self.square <= EXPLAINED * deviation.square


def fit(one: Tensor, other: Tensor, mask: Tensor) -> Fit:
    """`one - other` over the finite tokens of a mask."""
    difference = (one.double() - other.double())[mask]
    asked = difference.numel()
    difference = difference[torch.isfinite(difference)]
    if not difference.numel():
        return Fit(0, 0.0, 0.0, 0.0, 0.0, 1.0)
    size = difference.abs()
    return Fit(
        difference.numel(),
        float(difference.mean()),
        float(size.mean()),
        float((difference * difference).mean()),
        float(size.max()),
        1 - difference.numel() / asked,
    )
