"""Policies that runs begin with: they know the form and the way, and are often wrong.

`sample_logs.lab.teach` makes them by supervised training on demonstrations.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from torch import Tensor

from sample_logs.lab import checkpoints

FOLDER = Path(__file__).parent / "warm"


@dataclass(frozen=True)
class Recipe:
    """How demonstrations are made, and for how long a policy is shown them."""

    size: str
    mistakes: tuple[float, float, float] = (0.10, 0.16, 0.20)
    """Probability that a letter is wrong, for copy, reverse and sort."""
    thinking: float = 1.0
    """Factor on that probability for each free word."""
    words: tuple[float, int] = (0.25, 9)
    """Probability that the free words end after each of them, and the most of them."""
    unformed: float = 0.06
    """Share of demonstrations without the sign `>`."""
    letters: tuple[int, int] = (2, 8)
    start: str | None = None
    """The warm start to go on from; None: from random parameters."""
    steps: int = 2000
    lr: float = 4e-3
    seed: int = 1


RECIPES = {
    "tiny": Recipe("tiny"),
    "thinking": Recipe(
        "tiny",
        mistakes=(0.45, 0.55, 0.6),
        thinking=0.72,
        words=(0.3, 12),
        start="tiny",
        steps=400,
        lr=2e-3,
    ),
}
"""In the order in which they are made."""


def load(name: str) -> Tensor:
    """The flat tensor of a warm start by its name."""
    return checkpoints.load(FOLDER / name)[1]
