"""The same batch under other settings: what the weights, the loss and the gradient would be."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from analyzer.findings.replayed import WhatIf
from analyzer.replay.bundle import Bundle
from analyzer.replay.config import ActorConfig, RejectionConfig
from analyzer.replay.insights import truncation
from analyzer.replay.judging.causes import question_of
from analyzer.replay.judging.recomputed import Batch
from analyzer.replay.model.gradient import cosine as cosine_of
from analyzer.replay.question import Question
from analyzer.replay.results import StageZero
from analyzer.replay.stage0 import replay_batch

BOUNDS = (2.0, 5.0, 10.0)
AS_IT_RAN = "as it ran"

Gradient = Callable[[Tensor], Tensor | None]
"""From d loss / d log-probs [B,T] to the gradient of the weights, flat; None without one."""


@dataclass(frozen=True)
class Alternative:
    """A change, in words and in configuration keys, with the batch as it would be."""

    change: str
    config: tuple[tuple[str, str], ...]
    bundle: Bundle


def alternatives(batch: Batch, questions: Sequence[Question]) -> list[Alternative]:
    """What the remedies of these findings would change, each once."""
    keys = {change.key for question in questions for change in question.changes}
    kinds = {question_of(question.series) for question in questions}
    found: list[Alternative] = []
    if "behaviour" in kinds or any(key.startswith("actor.rejection_sampling") for key in keys):
        found += _rejections(batch)
    if "actor.use_decoupled_loss" in keys or "behaviour" in kinds:
        found += _decoupled(batch)
    if "actor.ppo_n_minibatches" in keys:
        found += _one_minibatch(batch)
    if any(question.series in ("no_eos_ratio", "truncation_excess") for question in questions):
        found += _without_truncated(batch)
    own = batch.bundle
    return [
        a for a in found if a.bundle.config != own.config or a.bundle.tensors is not own.tensors
    ]


def _with(batch: Batch, change: str, config: dict[str, object], actor: ActorConfig) -> Alternative:
    bundle = batch.bundle
    shown = tuple((f"actor.{key}", json.dumps(value)) for key, value in config.items())
    changed = bundle.config.model_copy(update={"actor": actor})
    return Alternative(change, shown, replace(bundle, config=changed))


def _rejections(batch: Batch) -> Iterator[Alternative]:
    actor = batch.bundle.config.actor
    variants = [("token", "mask", bound) for bound in BOUNDS]
    variants += [("token", "clamp", 5.0), ("sequence", "mask", 2.0)]
    # Without a proximal policy of its own the weight is 1 everywhere and nothing is rejected.
    if "prox_logp" not in batch.bundle.tensors or actor.use_sapo_loss:
        return
    loss: dict[str, object] = {} if actor.use_decoupled_loss else {"use_decoupled_loss": True}
    for level, action, upper in variants:
        rejection = RejectionConfig(level=level, action=action, metric="ratio", upper=upper)
        keys: dict[str, object] = {
            **loss,
            "rejection_sampling.level": level,
            "rejection_sampling.action": action,
            "rejection_sampling.metric": "ratio",
            "rejection_sampling.upper": upper,
        }
        words = f"reject {level}s above {upper:g}"
        if action == "clamp":
            words = f"clamp weights at {upper:g}"
        if loss:
            words += ", with a decoupled loss"
        changed = actor.model_copy(update={**loss, "rejection_sampling": rejection})
        yield _with(batch, words, keys, changed)
    if actor.rejection_sampling is not None:
        without = actor.model_copy(update={"rejection_sampling": None})
        yield _with(batch, "no rejection", {"rejection_sampling": None}, without)


def _decoupled(batch: Batch) -> Iterator[Alternative]:
    actor = batch.bundle.config.actor
    if "prox_logp" not in batch.bundle.tensors or actor.use_sapo_loss:
        return
    turned = not actor.use_decoupled_loss
    words = "with a decoupled loss" if turned else "without a decoupled loss"
    changed = actor.model_copy(update={"use_decoupled_loss": turned})
    yield _with(batch, words, {"use_decoupled_loss": turned}, changed)


def _one_minibatch(batch: Batch) -> Iterator[Alternative]:
    """All tokens scored by the weights that the step began with, which are the proximal ones."""
    actor, prox = batch.bundle.config.actor, batch.prox
    if actor.ppo_n_minibatches == 1 or prox is None or not batch.trainer_prox:
        return
    changed = actor.model_copy(update={"ppo_n_minibatches": 1})
    found = _with(batch, "one minibatch", {"ppo_n_minibatches": 1}, changed)
    tensors = {**batch.bundle.tensors, "new_logprobs": prox.float()}
    yield replace(found, bundle=replace(found.bundle, tensors=tensors, split=None))


def _without_truncated(batch: Batch) -> Iterator[Alternative]:
    found = truncation(batch.bundle)
    rows = found.by_token if found is not None else ()
    if not rows or len(rows) == batch.bundle.rows:
        return
    mask = batch.bundle.tensors["loss_mask"].clone()
    mask[list(rows)] = 0
    tensors = {**batch.bundle.tensors, "loss_mask": mask}
    words = f"without the {len(rows)} sequences that were cut off"
    yield Alternative(words, (), replace(batch.bundle, tensors=tensors))


def what_if(
    batch: Batch, chosen: Sequence[Alternative], gradient: Gradient | None = None
) -> tuple[WhatIf, ...]:
    """A row for the batch as it ran and one for each alternative.

    `gradient` gives cosines; without it they are None.
    """
    if batch.new is None or not chosen:
        return ()
    trained = int(batch.mask.sum())
    own = None if gradient is None else _direction(batch.found, gradient)
    rows = [_row(AS_IT_RAN, (), batch.bundle, batch.found, trained, None if own is None else 1.0)]
    for alternative in chosen:
        found = replay_batch(alternative.bundle, batch.conventions)
        cosine = None
        if gradient is not None and own is not None:
            other = _direction(found, gradient)
            cosine = None if other is None else cosine_of(own, other)
        rows.append(
            _row(alternative.change, alternative.config, alternative.bundle, found, trained, cosine)
        )
    return tuple(rows)


def _row(
    change: str,
    config: tuple[tuple[str, str], ...],
    bundle: Bundle,
    found: StageZero,
    trained: int,
    cosine: float | None,
) -> WhatIf:
    tensors = found.tensors
    if found.error is not None or "prox_logp_used" not in tensors:
        return WhatIf(change, config, None, None, None, None, None)
    mask = tensors["loss_mask_in"].bool()
    new = bundle.tensors["new_logprobs"].double()
    ratio = torch.exp(new - tensors["prox_logp_used"].double())
    left, weight, behave = mask, ratio, None
    if "rs_mask" in tensors:
        left = mask & tensors["rs_mask"].bool()
        applied = tensors["behave_imp_weight"].double()
        weight = ratio * applied
        behave = _mean(applied[left])
    return WhatIf(
        change,
        config,
        _mean(ratio[mask]),
        behave,
        _effective(weight[left], trained),
        1 - int(left.sum()) / trained if trained else None,
        found.loss,
        cosine,
    )


def _mean(values: Tensor) -> float | None:
    return float(values.mean()) if values.numel() else None


def _effective(weight: Tensor, trained: int) -> float | None:
    """Kish's (Σw)²/Σw² as a share of the trained tokens of the batch as it ran."""
    square = float((weight * weight).sum())
    if not trained or not square:
        return None
    return float(weight.sum()) ** 2 / (trained * square)


def _direction(found: StageZero, gradient: Gradient) -> Tensor | None:
    of_logprobs = found.tensors.get("grad_new_logprobs")
    if of_logprobs is None or not bool(torch.isfinite(of_logprobs).all()):
        return None
    return gradient(of_logprobs)
