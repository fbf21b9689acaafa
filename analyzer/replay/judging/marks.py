"""Tokens that bear the marks of not having been sampled, or of a log-prob that is none."""

from __future__ import annotations

import torch
from torch import Tensor

from analyzer.findings.numbers import format_value
from analyzer.replay.judging.fits import band
from analyzer.replay.judging.material import Material, Told, many

SHARE = 0.5
"""Of the squared deviation: what carries less is not why the weights are off."""


def marked(material: Material) -> Told | None:
    """Trained tokens with a recorded log-prob of exactly 0 that are anything but certain.

    A float32 log-prob of 0 says p > 1 - 6e-8. Where the trainer gives the token less than what
    rounding in bfloat16 can do to such a p, the 0 was filled in. With version -1, the version of
    prompts and tool output, no policy sampled the token.
    """
    reference = material.reference()
    if reference is None:
        return None
    mask, behave = material.mask, material.behave
    zero = mask & (behave == 0) & (reference < -band("bfloat16").token)
    count = int(zero.sum())
    if not count:
        return None
    share = _share_of_deviation(behave, reference, zero, mask)
    if share < SHARE:
        return None
    foreign = _without_version(material, zero)
    where = many(count, "trained token")
    low = format_value(float(reference[zero].double().mean()), "nats")
    carried = f"they carry {share:.0%} of the squared deviation"
    if foreign > count / 2:
        return Told(
            "unmasked-tokens",
            f"{where} with version −1 and a log-prob of exactly 0 are in the loss mask: no policy "
            f"sampled them. The trainer gives them {low} nats on average; {carried}.",
        )
    return Told(
        "filled-logprobs",
        f"{where} of {int(mask.sum()):,} have a recorded log-prob of exactly 0, where the trainer "
        f"has {low} nats on average; {carried}.",
    )


def _share_of_deviation(behave: Tensor, reference: Tensor, some: Tensor, mask: Tensor) -> float:
    square = (behave - reference).double() ** 2
    square = torch.where(torch.isfinite(square) & mask, square, 0)
    total = float(square.sum())
    return float(square[some].sum()) / total if total else 0.0


def _without_version(material: Material, some: Tensor) -> int:
    """How many of these tokens have version -1, where others have one."""
    versions = material.batch.versions
    if versions is None:
        return 0
    of_rows = material.part(versions)
    if not bool((of_rows[material.mask] >= 0).any()):
        return 0
    return int((of_rows[some] < 0).sum())
