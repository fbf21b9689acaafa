"""The losses of the actor: PPO with its variants, CISPO, SAPO, distillation; and the critic's."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor

from analyzer.replay.areal_errors import ArealRaises
from analyzer.replay.config import ActorConfig, TeacherConfig
from analyzer.replay.conventions import Conventions
from analyzer.replay.formulas.alignment import Packing
from analyzer.replay.formulas.rejection import Rejection, aggregate, reject


@dataclass(frozen=True)
class Tokens:
    """A packed micro-batch; every tensor has one element a token, at predicting positions."""

    new: Tensor
    old: Tensor
    prox: Tensor
    advantages: Tensor
    mask: Tensor
    """The tokens trained on, after M2PO and before rejection sampling."""
    packing: Packing


@dataclass(frozen=True)
class Loss:
    """A loss and what the statistics are made of."""

    loss: Tensor
    per_token: Tensor
    ratio: Tensor
    approx_kl: Tensor
    clip_mask: Tensor
    dual_clip_mask: Tensor
    rejection: Rejection | None = None
    behave_mask: Tensor | None = None
    behave_approx_kl: Tensor | None = None
    sequence_advantages: Tensor | None = None
    gates: dict[str, Tensor] = field(default_factory=dict)


def actor_loss(tokens: Tokens, actor: ActorConfig, conventions: Conventions) -> Loss:
    """The loss the configuration asks for."""
    if actor.use_sapo_loss:
        return sapo(tokens, actor)
    rejection = None
    if actor.rejection_sampling is not None:
        rejection = reject(
            actor.rejection_sampling, tokens.old, tokens.prox, tokens.mask, tokens.packing
        )
    step = cispo if actor.use_cispo_loss else ppo
    return step(tokens, actor, conventions, rejection)


def ratio_and_advantages(
    difference: Tensor, advantages: Tensor, mask: Tensor, level: str, packing: Packing
) -> tuple[Tensor, Tensor]:
    """exp(difference) on the mask with the advantages; at sequence level both of the sequence.

    GSPO (Zheng et al., 2025): the geometric mean of the ratios, the mean of the advantages.
    """
    if level == "token":
        return torch.where(mask, torch.exp(difference), 0), advantages
    mean = aggregate("mean", difference, mask, packing)
    ratio = torch.where(mask, torch.exp(mean), 0)
    return ratio, torch.where(mask, aggregate("mean", advantages, mask, packing), 0)


def clipped(ratio: Tensor, actor: ActorConfig) -> Tensor:
    """The ratio within the clip band."""
    higher = actor.eps_clip if actor.eps_clip_higher is None else actor.eps_clip_higher
    return torch.clamp(ratio, 1 - actor.eps_clip, 1 + higher)


def mean_loss(per_token: Tensor, survivors: Tensor, mask: Tensor) -> Tensor:
    """The sum over what survived by the count of what there was before rejection sampling."""
    return torch.where(survivors, per_token, 0).sum() / torch.clamp(mask.sum(), min=1)


def ppo(
    tokens: Tokens, actor: ActorConfig, conventions: Conventions, rejection: Rejection | None
) -> Loss:
    """PPO (Schulman et al., 2017) with dual clip and behaviour weight; GSPO at sequence level."""
    survivors = tokens.mask if rejection is None else rejection.mask
    level = actor.importance_sampling_level
    by_token = level == "token"
    ratio_on = tokens.mask if by_token and conventions.ratio_on != "survivors" else survivors
    difference = tokens.new - tokens.prox
    ratio, advantages = ratio_and_advantages(
        difference, tokens.advantages, ratio_on, level, tokens.packing
    )
    unclipped, bounded = -advantages * ratio, -advantages * clipped(ratio, actor)
    per_token = torch.maximum(unclipped, bounded)
    counted = survivors if conventions.clip_counted_on == "survivors" else tokens.mask
    clip_mask = (unclipped.detach() < bounded.detach()) & counted
    per_token, dual = dual_clip(per_token, advantages, actor.c_clip)
    return _finish(
        tokens,
        rejection,
        per_token,
        ratio.detach(),
        clip_mask,
        dual & counted,
        None if by_token else advantages,
    )


def dual_clip(per_token: Tensor, advantages: Tensor, c_clip: float | None) -> tuple[Tensor, Tensor]:
    """The loss bounded by c·|A| (Ye et al., 2020), and where that takes effect."""
    if c_clip is None:
        return per_token, torch.zeros_like(per_token, dtype=torch.bool)
    if c_clip <= 1:
        raise ArealRaises("AssertionError", str(c_clip))
    bound = c_clip * advantages.abs()
    return torch.minimum(per_token, bound), bound < per_token.detach()


def cispo(
    tokens: Tokens, actor: ActorConfig, conventions: Conventions, rejection: Rejection | None
) -> Loss:
    """CISPO (MiniMax-M1, 2025): the clipped ratio, without gradient, weighs the log-prob."""
    survivors = tokens.mask if rejection is None else rejection.mask
    ratio = torch.exp(tokens.new - tokens.prox).detach()
    bounded = clipped(ratio, actor)
    per_token = -bounded * tokens.advantages * tokens.new
    clip_mask = (bounded != ratio) & survivors
    return _finish(
        tokens, rejection, per_token, ratio, clip_mask, torch.zeros_like(clip_mask), None
    )


def _finish(
    tokens: Tokens,
    rejection: Rejection | None,
    per_token: Tensor,
    ratio: Tensor,
    clip_mask: Tensor,
    dual_clip_mask: Tensor,
    sequence_advantages: Tensor | None,
) -> Loss:
    """Apply the behaviour weight, if there is rejection sampling, and take the mean."""
    survivors, behave_mask, behave_kl = tokens.mask, None, None
    if rejection is not None:
        per_token = per_token * rejection.weight
        survivors = rejection.mask
        behave_mask = (rejection.weight > 0) & survivors
        behave_kl = torch.where(behave_mask, tokens.prox - tokens.old, 0)
    return Loss(
        loss=mean_loss(per_token, survivors, tokens.mask),
        per_token=per_token.detach(),
        ratio=ratio,
        approx_kl=(tokens.new - tokens.prox).detach(),
        clip_mask=clip_mask,
        dual_clip_mask=dual_clip_mask,
        rejection=rejection,
        behave_mask=behave_mask,
        behave_approx_kl=behave_kl,
        sequence_advantages=sequence_advantages,
    )


def sapo(tokens: Tokens, actor: ActorConfig) -> Loss:
    """SAPO (Gao et al., 2025): a smooth gate in place of the clip, by the advantage's sign."""
    difference = tokens.new - tokens.old
    ratio, advantages, sequence_advantages = torch.exp(difference), tokens.advantages, None
    if actor.importance_sampling_level == "sequence":
        ratio, advantages = ratio_and_advantages(
            difference, tokens.advantages, tokens.mask, "sequence", tokens.packing
        )
        sequence_advantages = advantages
    positive, negative = (gate(ratio, tau) for tau in (actor.sapo_tau_pos, actor.sapo_tau_neg))
    soft = torch.where(advantages > 0, positive, negative)
    per_token = -soft * advantages
    none = torch.zeros_like(tokens.mask)
    return Loss(
        loss=mean_loss(per_token, tokens.mask, tokens.mask),
        per_token=per_token.detach(),
        ratio=ratio.detach(),
        approx_kl=difference.detach(),
        clip_mask=none,
        dual_clip_mask=none,
        sequence_advantages=sequence_advantages,
        gates={
            "sapo_soft_gate": soft.detach(),
            "sapo_scaled_gate_pos": positive.detach(),
            "sapo_scaled_gate_neg": negative.detach(),
        },
    )


def gate(ratio: Tensor, tau: float) -> Tensor:
    """4/tau · sigmoid(tau (ratio - 1)): slope 1 at ratio 1."""
    return torch.sigmoid(tau * (ratio - 1)) * 4 / tau


def distilled(
    loss: Tensor, tokens: Tokens, teacher: Tensor, weights: TeacherConfig
) -> tuple[Tensor, Tensor]:
    """The loss with the teacher's term, and that term a token (reverse KL)."""
    count = torch.clamp(tokens.mask.sum(), min=1)
    mask = tokens.mask.to(teacher.dtype)
    if weights.rl_loss_weight == 0:
        reward = (teacher - tokens.new).detach()
        term = torch.exp(tokens.new - tokens.old) * reward * mask
        return -weights.distill_loss_weight * term.sum() / count, -term.detach()
    term = (tokens.new - teacher) * mask
    joint = weights.rl_loss_weight * loss + weights.distill_loss_weight * term.sum() / count
    return joint, term.detach()


@dataclass(frozen=True)
class ValueLoss:
    """The critic's loss and what its statistics are made of."""

    loss: Tensor
    per_token: Tensor
    clip_mask: Tensor


def critic_loss(
    new: Tensor, old: Tensor, target: Tensor, mask: Tensor, eps_clip: float
) -> ValueLoss:
    """Half the squared error, the larger of that of the value and of the value clipped."""
    bounded = old + torch.clamp(new - old, -eps_clip, eps_clip)
    plain, held = (new - target) ** 2 / 2, (bounded - target) ** 2 / 2
    per_token = torch.maximum(plain, held)
    clip_mask = (plain < held) & mask
    loss = torch.where(mask, per_token, 0).sum() / torch.clamp(mask.sum(), min=1)
    return ValueLoss(loss, per_token, clip_mask)
