"""Trained tokens that are too unlikely to have been sampled."""

from __future__ import annotations

import math
from dataclasses import replace

import torch
from torch import Tensor

from analyzer.replay.judging.material import Material, Told

ALPHA = 1e-3  # chance that sampled tokens look so, anywhere in the rows
HOTTER = 2.0  # times the temperature


def unlikely(material: Material) -> Told | None:
    """A run of tokens that a hotter policy explains far better than the one that sampled them.

    For tokens sampled from p, the product of q/p over a run has expectation 1 for every other
    distribution q; so by Ville's inequality, summed over the N places where a run can begin, the
    chance that log q/p adds up to more than log(N/alpha) anywhere is at most alpha. q is p at twice
    the temperature. Tokens of another source gain on it; sampled tokens lose.
    """
    scores, version = material.scores, material.current
    if scores is None or version is None:
        return None
    how = material.trainer_how
    plain = scores.logprobs(version, how).double()
    hotter = scores.logprobs(version, replace(how, temperature=how.temperature * HOTTER)).double()
    mask = material.mask
    tokens = int(mask.sum())
    if not tokens:
        return None
    needed = math.log(tokens / ALPHA)
    row, first, last, gain = best_run(hotter - plain, mask)
    if gain < needed:
        return None
    inside = mask[row].clone()
    inside[:first] = False
    inside[last + 1 :] = False
    surprise = float(-plain[row][inside].mean())
    number = int(material.rows[row])
    return Told(
        "unmasked-tokens",
        f"In row {number} the {int(inside.sum())} trained tokens from position {first + 1} to "
        f"{last + 1} have {surprise:.1f} nats of surprise each: a policy at twice the temperature "
        f"explains them better by {gain:.0f} nats, where sampled tokens reach {needed:.0f} once in "
        f"{1 / ALPHA:,.0f} batches.",
    )


def best_run(gain: Tensor, mask: Tensor) -> tuple[int, int, int, float]:
    """Row, first and last position and sum of the run of masked tokens with the largest sum."""
    best = (0, 0, 0, 0.0)
    values = torch.where(mask & torch.isfinite(gain), gain, 0).tolist()
    for row, of_row in enumerate(values):
        total, start = 0.0, 0
        for position, value in enumerate(of_row):
            if total <= 0:
                total, start = 0.0, position
            total += value
            if total > best[3]:
                best = (row, start, position, total)
    return best
