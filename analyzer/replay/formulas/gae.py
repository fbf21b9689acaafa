"""Generalised advantage estimation (Schulman et al., 2016) as AReaL does it, by tokens or turns."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from analyzer.replay.areal_errors import ArealRaises
from analyzer.replay.config import ActorConfig


@dataclass(frozen=True)
class Episode:
    """What the estimate is made of: [B,T] at predicting positions, and `no_eos` [B]."""

    kl: Tensor
    """The KL reward, 0 at each row's last position."""
    outcome: Tensor
    """The sequence's reward at one position."""
    mask: Tensor
    """1 where a token is trained on, in floating point."""
    values: Tensor
    """The critic's values; 0 without a critic."""
    no_eos: Tensor
    turn_ids: Tensor | None = None


def advantages(episode: Episode, actor: ActorConfig, lam: Tensor) -> tuple[Tensor, Tensor]:
    """Advantages and returns by the configured unit, with one lambda a row."""
    if actor.gae_timestep_unit == "turn":
        return by_turns(episode, actor.discount, lam)
    return by_tokens(episode, actor.discount, lam)


def by_tokens(episode: Episode, discount: float, lam: Tensor) -> tuple[Tensor, Tensor]:
    """Advantages and returns; a masked position costs nothing and carries the next advantage.

    The blend over the mask is arithmetic as in AReaL: a NaN at a masked position spreads.
    """
    rewards, values = episode.kl + episode.outcome, episode.values
    width = rewards.shape[1]
    following = values[:, width - 1] * episode.no_eos
    gae = torch.zeros_like(following)
    columns = [gae]
    for t in range(width - 2, -1, -1):
        delta = rewards[:, t] + discount * following - values[:, t]
        new = delta + discount * lam * gae
        m = episode.mask[:, t]
        following = following * (1 - m) + values[:, t] * m
        gae = gae * (1 - m) + new * m
        columns.append(gae)
    result = torch.stack(columns[::-1], dim=1)
    return result, result + values


def by_turns(episode: Episode, discount: float, lam: Tensor) -> tuple[Tensor, Tensor]:
    """Advantages and returns with discount and lambda once a turn; KL is added after it."""
    assert episode.turn_ids is not None, "checked with the batch"
    ids, active, values = episode.turn_ids.long(), episode.mask > 0, episode.values
    check_turns(ids, active)
    # AReaL scatters masked positions to turn 0 with weight 0, so that a NaN among them shows there.
    index = torch.where(active, ids, 0)
    rewards = torch.zeros_like(values).scatter_add(1, index, episode.outcome * episode.mask)
    present = torch.zeros_like(index).scatter_add(1, index, active.long()) > 0
    value = torch.gather(values, 1, _first_positions(index, active))
    following = values[:, -1] * episode.no_eos
    gae = torch.zeros_like(following)
    turns = torch.zeros_like(values)
    for k in torch.unique(ids[active]).tolist()[::-1]:
        new = rewards[:, k] + discount * following - value[:, k] + discount * lam * gae
        here = present[:, k]
        gae = torch.where(here, new, gae)
        following = torch.where(here, value[:, k], following)
        turns[:, k] = gae
    spread = torch.gather(turns, 1, index)
    returns = torch.where(active, spread + torch.gather(value, 1, index), values)
    return torch.where(active, spread + episode.kl, episode.kl), returns


def _first_positions(index: Tensor, active: Tensor) -> Tensor:
    """[B, turn] → the first position of the turn; the last position where there is none."""
    width = index.shape[1]
    positions = torch.where(active, torch.arange(width, device=index.device), width - 1)
    start = torch.full_like(index, width - 1)
    return start.scatter_reduce(1, index, positions, "amin", include_self=True)


def check_turns(ids: Tensor, active: Tensor) -> None:
    """Raise what AReaL asserts of turn numbers at the tokens that are trained on."""
    width = ids.shape[1]
    inside = (ids >= 0) & (ids < width)
    highest = torch.where(active, ids, -1).cummax(dim=1).values
    if bool((active & ~inside).any()):
        fault = f"turn_ids of trained tokens must be in [0, {width})"
    elif bool((active & (ids < highest)).any()):
        fault = "turn_ids of trained tokens must not decrease within a row"
    else:
        return
    raise ArealRaises("AssertionError", fault, "compute_advantages")


def lambdas(
    actor: ActorConfig, mask: Tensor, turn_ids: Tensor | None, dtype: torch.dtype
) -> Tensor:
    """One lambda a row: the configured number, or the configured function of the row's length."""
    rows = mask.shape[0]
    if not isinstance(actor.gae_lambda, str):
        return torch.full((rows,), float(actor.gae_lambda), dtype=dtype, device=mask.device)
    lengths = mask.sum(-1)
    if actor.gae_timestep_unit == "turn":
        lengths = turn_counts(mask, turn_ids)
    name = actor.gae_lambda.rpartition(".")[2]
    if name not in LAMBDA_FUNCTIONS:
        raise ArealRaises(
            "ImportError", f"no function {actor.gae_lambda!r} is known to a replay", "config"
        )
    function, parameter = LAMBDA_FUNCTIONS[name]
    if parameter not in actor.gae_lambda_kwargs:
        raise ArealRaises(
            "TypeError",
            f"{name}() missing 1 required keyword-only argument: '{parameter}'",
            "compute_advantages",
        )
    return function(lengths.to(dtype), float(actor.gae_lambda_kwargs[parameter]))


def turn_counts(mask: Tensor, turn_ids: Tensor | None) -> Tensor:
    """How many turns of each row have a token that is trained on."""
    if turn_ids is None:
        return torch.zeros_like(mask[:, 0])
    found = [torch.unique(ids[m > 0]).numel() for ids, m in zip(turn_ids, mask, strict=True)]
    return torch.tensor(found, dtype=mask.dtype, device=mask.device)


def constant_lambda(lengths: Tensor, value: float) -> Tensor:
    """The same for all."""
    return torch.full_like(lengths, value)


def vapo_lambda(lengths: Tensor, alpha: float) -> Tensor:
    """max(0, 1 - 1/(alpha n)), 0 for n = 0 (VAPO, Yue et al., 2025)."""
    found = torch.clamp(1 - 1 / (alpha * torch.clamp(lengths, min=1)), min=0)
    return torch.where(lengths > 0, found, 0)


def relative_position_lambda(lengths: Tensor, q: float) -> Tensor:
    """q^(1/(n-1)), 1 for n = 1, 0 for n = 0."""
    found = torch.pow(torch.full_like(lengths, q), 1 / torch.clamp(lengths - 1, min=1))
    return torch.where(lengths > 1, found, (lengths > 0).to(lengths.dtype))


LAMBDA_FUNCTIONS = {
    "constant_gae_lambda": (constant_lambda, "value"),
    "vapo_length_adaptive_gae": (vapo_lambda, "alpha"),
    "relative_position_gae_lambda": (relative_position_lambda, "q"),
}
