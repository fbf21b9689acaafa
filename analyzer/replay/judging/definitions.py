"""What a logged number would be if it were what its name says, where AReaL computes another.

CONVENTIONS of the statistics: rejection sets ratios to 0 and divides by all tokens, statistics of
the behaviour weight see survivors alone, a row counts as cut off when it is as long as the padded
batch, versions stand one token beside the log-probs they belong to, scalars are plain means over
micro-batches.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from analyzer.replay.insights import truncation
from analyzer.replay.judging.recomputed import Batch

KEPT = "over the tokens that rejection kept"
BEFORE = "over all trained tokens, before rejection"


@dataclass(frozen=True, slots=True)
class Corrected:
    """A number by what its name promises."""

    value: float
    by: str  # how, in words


def corrected(batch: Batch) -> dict[str, Corrected]:
    """Canonical or derived name → its value by what the name promises, where that is another."""
    found: dict[str, Corrected] = {}
    for part in (_kept, _before_rejection, _rejected, _truncated, _age, _rewards, _prompts):
        found.update((name, value) for name, value in part(batch) if not math.isnan(value.value))
    return found


def _kept(batch: Batch) -> Iterator[tuple[str, Corrected]]:
    """Ratios and clip shares that count rejected tokens as 0, over the tokens that were kept."""
    actor, tensors = batch.bundle.config.actor, batch.found.tensors
    rejection = actor.rejection_sampling
    if rejection is None or rejection.action != "mask" or "rs_mask" not in tensors:
        return
    kept = batch.survivors & batch.mask
    if not bool(kept.any()):
        return
    if "approx_kl" in tensors:
        yield "approx_kl", Corrected(mean(tensors["approx_kl"], kept), f"mean {KEPT}")
    zeroed = batch.conventions.ratio_on == "survivors"
    if "importance_weight" not in tensors:
        return
    if actor.use_cispo_loss or not (zeroed or actor.importance_sampling_level == "sequence"):
        return
    ratio = tensors["importance_weight"]
    yield "importance_weight", Corrected(mean(ratio, kept), f"mean {KEPT}")
    yield "importance_weight_min", Corrected(float(ratio[kept].min()), f"smallest {KEPT}")
    for name, key in (("clip_ratio", "clip_mask"), ("dual_clip_ratio", "dual_clip_mask")):
        yield name, Corrected(mean(tensors[key], kept), f"share of the tokens {KEPT[5:]}")


def _before_rejection(batch: Batch) -> Iterator[tuple[str, Corrected]]:
    """What statistics over survivors would be over all trained tokens."""
    rejection, mask = batch.bundle.config.actor.rejection_sampling, batch.mask
    prox, new = batch.prox, batch.new
    if rejection is None or prox is None or not bool(mask.any()):
        return
    old = batch.found.tensors["old_logp"].double()
    log_weight = prox.double() - old
    by_row = rejection.level == "sequence" and rejection.metric == "ratio"
    weight = torch.exp(row_means(log_weight, mask) if by_row else log_weight)
    yield "behave_imp_weight", Corrected(mean(weight, mask), f"mean {BEFORE}")
    yield "behave_imp_weight_min", Corrected(float(weight[mask].min()), f"smallest {BEFORE}")
    yield "behave_imp_weight_max", Corrected(float(weight[mask].max()), f"largest {BEFORE}")
    yield "behave_approx_kl", Corrected(mean(log_weight, mask), f"mean {BEFORE}")
    if new is None:
        return
    d = new.double() - old
    for name, value in (
        ("behave_kl_k1", -d),
        ("behave_kl_k2", d * d / 2),
        ("behave_kl_k3", torch.expm1(d) - d),
    ):
        yield name, Corrected(mean(value, mask), f"mean {BEFORE}")


def _rejected(batch: Batch) -> Iterator[tuple[str, Corrected]]:
    rejection = batch.bundle.config.actor.rejection_sampling
    if rejection is None or "rs_mask" not in batch.found.tensors or not bool(batch.mask.any()):
        return
    if rejection.action == "clamp":
        yield "rejected_fraction", Corrected(0.0, "clamping changes weights and removes no token")
        return
    share = 1 - mean(batch.survivors, batch.mask)
    yield "rejected_fraction", Corrected(share, "share of all trained tokens, none weighted more")


def _truncated(batch: Batch) -> Iterator[tuple[str, Corrected]]:
    found = truncation(batch.bundle)
    if found is None:
        return
    share = Corrected(
        len(found.by_token) / batch.bundle.rows,
        "share of rows whose last token is not the end-of-sequence token",
    )
    yield "no_eos_ratio", share
    yield "truncation_excess", share


def _age(batch: Batch) -> Iterator[tuple[str, Corrected]]:
    """Versions taken at the token that a position predicts."""
    versions, current = batch.versions, batch.bundle.config.current_version
    if versions is None or current is None:
        return
    known = batch.mask & (versions >= 0)
    if not bool(known.any()):
        return
    age = (current - versions[known]).double()
    by = "versions taken at the tokens that were generated, over all trained tokens"
    yield "staleness", Corrected(float(age.mean()) - 1, by)
    yield "staleness_theta", Corrected(float(age.mean()), by)
    yield "staleness_max", Corrected(float(age.max()), "oldest of all trained tokens")


def _rewards(batch: Batch) -> Iterator[tuple[str, Corrected]]:
    actor, tensors = batch.bundle.config.actor, batch.bundle.tensors
    if actor.overlong_reward_penalty and "original_rewards" not in tensors:
        reward = float(tensors["rewards"].double().mean())
        yield "task_reward", Corrected(reward, "without the penalty for overlong responses")


def _prompts(batch: Batch) -> Iterator[tuple[str, Corrected]]:
    if batch.conventions.prompt_length != "not-generated":
        return
    generated = batch.bundle.tensors["loss_mask"] != 0
    lengths = batch.bundle.tensors["attention_mask"].bool().sum(-1)
    first = torch.where(generated.any(-1), generated.to(torch.int64).argmax(-1), lengths)
    by = "tokens before the first generated one"
    yield "prompt_len", Corrected(float(first.double().mean()), by)


def mean(values: Tensor, mask: Tensor) -> float:
    """The mean over a mask, in float64; NaN over nothing."""
    return float(values[mask].double().mean())


def row_means(values: Tensor, mask: Tensor) -> Tensor:
    """Each row's mean over the mask, at all its positions; 0 for a row without a token."""
    total = torch.where(mask, values, 0).sum(-1, keepdim=True)
    return (total / mask.sum(-1, keepdim=True).clamp(min=1)).expand_as(values)


def unweighted_mean(batch: Batch, values: Tensor) -> float | None:
    """The plain mean over micro-batches of their means; None where the split is not known."""
    mini, micro = (batch.found.tensors[f"{name}batch_index"].tolist() for name in ("mini", "micro"))
    groups: dict[tuple[int, int], list[int]] = {}
    for row, key in enumerate(zip(mini, micro, strict=True)):
        if key[0] >= 0:
            groups.setdefault(key, []).append(row)
    means = [mean(values[rows], batch.mask[rows]) for rows in groups.values()]
    return sum(means) / len(means) if means else None
