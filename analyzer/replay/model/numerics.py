"""Questions that separate the causes of a difference in log-probs; the answers are numbers.

Each compares two recomputations that differ in one thing: nothing at all, the precision, the
checkpoint. What they mean beside the log is for the judge to say.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from torch import Tensor

from analyzer.errors import RunError
from analyzer.replay.insights import weights
from analyzer.replay.model.checkpoint import allow_deterministic, open_checkpoint
from analyzer.replay.model.settings import Dtype, Settings
from analyzer.replay.model.stage1 import StageOne, recompute


@dataclass(frozen=True, slots=True)
class Difference:
    """Log-probs `of` one policy minus those of another, d, on some tokens; weights are exp(d).

    In nats, float64. Tokens where d is not finite are counted and left out; all but the counts are
    None without a finite one.
    """

    tokens: int
    not_finite: int
    max_abs: float | None
    mean_abs: float | None
    mean: float | None
    mean_weight: float | None
    smallest_weight: float | None
    largest_weight: float | None
    effective: float | None
    """Kish's effective sample size as a share of the tokens."""
    k1: float | None
    k2: float | None
    k3: float | None
    """Mean of -d, d²/2 and exp(d)-1-d: estimates of the KL divergence of `against` from `of`."""


def difference(of: Tensor, against: Tensor, mask: Tensor) -> Difference:
    """What separates two sets of log-probs [B,T] on the tokens of a mask."""
    kept = mask.bool()
    log_weight = of.to(torch.float64)[kept] - against.to(torch.float64)[kept]
    found = weights(log_weight)
    finite = log_weight[torch.isfinite(log_weight)]
    if not len(finite):
        return Difference(found.tokens, found.not_finite, *[None] * 10)
    weight = torch.exp(finite)
    return Difference(
        found.tokens,
        found.not_finite,
        float(finite.abs().max()),
        float(finite.abs().mean()),
        float(finite.mean()),
        float(weight.mean()),
        float(weight.min()),
        float(weight.max()),
        found.effective,
        found.k1,
        found.k2,
        found.k3,
    )


@dataclass(frozen=True, slots=True)
class Repeat:
    """The same rows twice: with the algorithms as they are, and with deterministic ones only."""

    plain: Difference
    deterministic: Difference | None
    why_not: str
    """Why there is no deterministic answer; empty where there is one."""
    between: Difference | None
    """The first plain run against the first deterministic one."""


def repeat(
    batch: Mapping[str, Tensor], checkpoint: Path, settings: Settings, mask: Tensor
) -> Repeat:
    """Whether the same computation gives the same log-probs: is nondeterminism the cause?

    `mask` [B,T] is at predicting positions. Raises RunError as `recompute` does.
    """
    allow_deterministic()
    first, second = _twice(batch, checkpoint, replace(settings, deterministic=False), mask)
    plain = difference(second.logprobs, first.logprobs, mask)
    try:
        exact, again = _twice(batch, checkpoint, replace(settings, deterministic=True), mask)
    except RunError as cause:
        return Repeat(plain, None, cause.message, None)
    return Repeat(
        plain,
        difference(again.logprobs, exact.logprobs, mask),
        "",
        difference(first.logprobs, exact.logprobs, mask),
    )


def _twice(
    batch: Mapping[str, Tensor], checkpoint: Path, settings: Settings, mask: Tensor
) -> tuple[StageOne, StageOne]:
    opened = open_checkpoint(checkpoint, settings)
    first, second = (recompute(batch, opened, settings, wanted=mask) for _ in range(2))
    return first, second


def precision(
    batch: Mapping[str, Tensor],
    checkpoint: Path,
    settings: Settings,
    mask: Tensor,
    lower: Dtype = "bfloat16",
) -> Difference:
    """float32 against a lower precision, the same weights: is precision the cause?"""
    exact, coarse = (
        recompute(batch, checkpoint, replace(settings, dtype=dtype), wanted=mask)
        for dtype in ("float32", lower)
    )
    return difference(exact.logprobs, coarse.logprobs, mask)


def staleness(
    batch: Mapping[str, Tensor],
    current: Path,
    stale: Path,
    settings: Settings,
    mask: Tensor,
) -> Difference:
    """The current checkpoint against an older one, all else the same: is staleness the cause?"""
    new, old = (recompute(batch, path, settings, wanted=mask) for path in (current, stale))
    return difference(new.logprobs, old.logprobs, mask)


def temperature(
    batch: Mapping[str, Tensor],
    checkpoint: Path,
    settings: Settings,
    mask: Tensor,
    other: float,
) -> Difference:
    """The temperature of the settings against another one, the same weights."""
    opened = open_checkpoint(checkpoint, settings)
    own, theirs = (
        recompute(batch, opened, replace(settings, temperature=value), wanted=mask)
        for value in (settings.temperature, other)
    )
    return difference(own.logprobs, theirs.logprobs, mask)
