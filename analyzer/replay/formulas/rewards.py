"""Rewards of sequences, and rewards of tokens: the KL penalty and the sequence's reward."""

from __future__ import annotations

import torch
from torch import Tensor

from analyzer.replay.areal_errors import ArealRaises
from analyzer.replay.config import ActorConfig
from analyzer.replay.formulas.normalisation import Groups, normalise


def overlong_penalty(rewards: Tensor, loss_mask: Tensor, actor: ActorConfig) -> Tensor:
    """Rewards less what a response loses for coming close to the limit; there is no floor."""
    if not actor.overlong_reward_penalty:
        return rewards
    tokens, factor = actor.overlong_tokens, actor.overlong_penalty_factor
    if tokens is None or factor is None:
        raise ArealRaises("AssertionError", "", "compute_advantages")
    length = loss_mask.sum(-1).to(rewards.dtype)
    excess = length - (actor.max_new_tokens - tokens)
    return rewards + torch.clamp(-excess / tokens * factor, max=0)


def scaled(rewards: Tensor, actor: ActorConfig, groups: Groups) -> Tensor:
    """The reward a sequence is trained on: biased, scaled, clipped, normalised."""
    score = (rewards + actor.reward_bias) * actor.reward_scaling
    score = torch.clamp(score, -actor.reward_clip, actor.reward_clip)
    if actor.reward_norm is None:
        return score
    return normalise(score, None, actor.reward_norm, groups)


def kl_estimate(kind: str, old: Tensor, ref: Tensor) -> Tensor:
    """k1, k2 or k3 of old against reference, clamped to ±10 (Schulman, 2020)."""
    d = old - ref
    if kind == "k1":
        value = d
    elif kind == "k2":
        value = d * d / 2
    else:
        value = torch.exp(-d) - 1 + d
    return torch.clamp(value, -10, 10)


def without_end(kl_rewards: Tensor, lengths: Tensor) -> Tensor:
    """The KL rewards with that at each row's last position, which predicts nothing, set to 0."""
    rows = torch.arange(len(lengths), device=lengths.device)
    result = kl_rewards.clone()
    result[rows, lengths - 1] = 0
    return result


def outcome(score: Tensor, lengths: Tensor, width: int) -> Tensor:
    """[B,T] with each sequence's reward at the position that predicts its last token."""
    result = score.new_zeros((len(score), width))
    rows = torch.arange(len(lengths), device=lengths.device)
    result[rows, torch.clamp(lengths - 2, min=0)] = score
    return result


def no_eos(lengths: Tensor, width: int) -> Tensor:
    """The rows taken for truncated: as long as the padded batch, whatever their last token."""
    return lengths == width
