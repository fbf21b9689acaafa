"""Runs in neutral words: what happened at each step, before any framework has named it."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping

Step = Mapping[str, float]

STEPS = 120
LIMIT = 1024  # tokens of a response
PROMPT = 100  # tokens


def healthy(steps: int = STEPS) -> list[Step]:
    """The reward rises and levels off; nothing else moves much."""
    noise = random.Random(7)
    return [_step(noise, place, steps) for place in range(steps)]


def sick(steps: int = STEPS, onset: int = 40) -> list[Step]:
    """From the onset on responses grow until most are cut off, and the reward falls with them;
    then the entropy falls to nothing, and gradients grow."""
    noise = random.Random(7)
    run: list[Step] = []
    for place in range(steps):
        step = dict(_step(noise, place, steps))
        longer = min(1.0, max(0.0, (place - onset) / 60))
        surer = min(1.0, max(0.0, (place - onset - 30) / 20))
        step["response_length"] += longer * (0.92 * LIMIT - step["response_length"])
        step["truncated"] += longer * 0.7
        step["reward"] *= 1 - 0.85 * longer
        step["entropy"] *= math.exp(-5 * surer)
        step["grad_norm"] *= 1 + 30 * surer
        run.append(_rounded(step))
    return run


def _step(noise: random.Random, place: int, steps: int) -> Step:
    """Lengths are in tokens, shares are fractions, times in seconds.

    policy_shift is the mean of log new - log old probability: negative when the policy moves.
    """

    def about(value: float, share: float) -> float:
        return value * (1 + share * noise.uniform(-1, 1))

    grown = 1 - math.exp(-3 * place / steps)
    return _rounded(
        {
            "reward": about(0.30 + 0.35 * grown, 0.05),
            "response_length": about(400 + 60 * grown, 0.03),
            "response_length_max": LIMIT,
            "truncated": noise.choice((0, 0, 0, 1 / 512)),
            "entropy": about(0.60 - 0.15 * grown, 0.03),
            "policy_shift": -about(0.0006, 0.3),
            "clip_ratio": about(0.012, 0.2),
            "loss": noise.uniform(-0.01, 0.01),
            "grad_norm": about(0.30, 0.15),
            "lr": 1e-6,
            "seconds": about(60, 0.05),
        }
    )


def _rounded(step: Step) -> dict[str, float]:
    """With five digits, as AReaL's log shows them, so that no format has more than another."""
    return {name: float(f"{value:.4e}") for name, value in step.items()}
