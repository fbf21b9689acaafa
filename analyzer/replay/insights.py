"""What AReaL does not export of a batch, and what says where its deviation comes from."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from analyzer.replay.bundle import Bundle
from analyzer.replay.conventions import Conventions
from analyzer.replay.formulas.normalisation import Groups
from analyzer.replay.results import StageZero

QUANTILES = (0.0, 0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1.0)
BANDS = (0.01, 0.05)  # importance weights further from 1 than this
OWNERS = 5  # sequences, and tokens, that are named


@dataclass(frozen=True)
class Weights:
    """Importance weights of some tokens; all but the counts are None without a finite one."""

    tokens: int
    not_finite: int
    """Tokens left out of everything below."""
    effective: float | None
    """Kish's effective sample size (Σw)²/Σw², as a share of the tokens."""
    quantiles: dict[float, float]
    beyond: dict[float, float]
    """Distance from 1 → the share of tokens whose weight is further off."""
    k1: float | None
    k2: float | None
    k3: float | None
    """Estimates of the KL divergence of the denominator's policy from the numerator's, in nats."""


@dataclass(frozen=True)
class SequenceOwner:
    """A sequence and its share of the summed squared log-weight."""

    row: int
    share: float


@dataclass(frozen=True)
class TokenOwner:
    """A token, at the position that predicts it, with its weight and its share."""

    row: int
    position: int
    weight: float
    share: float


@dataclass(frozen=True)
class Truncation:
    """Which sequences end without an end-of-sequence token, and which ones AReaL takes for such."""

    by_token: tuple[int, ...]
    by_length: tuple[int, ...]


@dataclass(frozen=True)
class GroupSpread:
    """Groups of rows whose rewards are all the same and so teach nothing."""

    groups: int
    zero_variance: tuple[int, ...]


@dataclass(frozen=True)
class Insights:
    """What AReaL does not export."""

    behave: Weights | None
    """Proximal over behaviour policy, on all trained tokens."""
    behave_survivors: Weights | None
    """The same on what rejection sampling leaves; None where there is none."""
    policy: Weights | None
    """Current over proximal policy, on all trained tokens; None without the current one's."""
    sequences: tuple[SequenceOwner, ...]
    """Who carries the deviation of the behaviour weights, the largest share first."""
    tokens: tuple[TokenOwner, ...]
    truncation: Truncation | None
    """None where the end-of-sequence token is not known."""
    groups: GroupSpread | None
    """None where the groups are not known."""


def insights(bundle: Bundle, found: StageZero, conventions: Conventions) -> Insights:
    """What AReaL does not export of this batch; weights only as far as AReaL got."""
    behave = survivors = policy = None
    sequences: tuple[SequenceOwner, ...] = ()
    tokens: tuple[TokenOwner, ...] = ()
    tensors = found.tensors
    if "prox_logp_used" in tensors and "loss_mask_in" in tensors:
        prox, mask = tensors["prox_logp_used"], tensors["loss_mask_in"].bool()
        log_weight = prox - tensors["old_logp"]
        behave = weights(log_weight[mask])
        if "behave_mask" in tensors:
            survivors = weights(log_weight[tensors["behave_mask"].bool()])
        if "new_logprobs" in bundle.tensors:
            new = bundle.tensors["new_logprobs"].to(prox.device, prox.dtype)
            policy = weights((new - prox)[mask])
        sequences, tokens = owners(log_weight, mask)
    return Insights(
        behave,
        survivors,
        policy,
        sequences,
        tokens,
        truncation(bundle),
        group_spread(bundle, found, conventions),
    )


def weights(log_weight: Tensor) -> Weights:
    """The weights exp(log_weight) of some tokens."""
    exact = log_weight.to(torch.float64)
    exact = exact[torch.isfinite(exact)]
    left_out = log_weight.numel() - exact.numel()
    if exact.numel() == 0:
        return Weights(log_weight.numel(), left_out, None, {}, {}, None, None, None)
    weight = torch.exp(exact)
    at = torch.tensor(QUANTILES, dtype=torch.float64, device=weight.device)
    quantiles = dict(zip(QUANTILES, _quantiles(weight, at), strict=True))
    beyond = {band: float(((weight - 1).abs() > band).double().mean()) for band in BANDS}
    return Weights(
        log_weight.numel(),
        left_out,
        effective_share(exact),
        quantiles,
        beyond,
        float(-exact.mean()),
        float((exact * exact / 2).mean()),
        float((weight - 1 - exact).mean()),
    )


def effective_share(log_weight: Tensor) -> float:
    """(Σw)²/(n Σw²), reckoned so that no weight overflows."""
    weight = torch.exp(log_weight - log_weight.max())
    return float(weight.sum() ** 2 / (weight.numel() * (weight * weight).sum()))


def _quantiles(values: Tensor, at: Tensor) -> list[float]:
    """Linear between order statistics; torch.quantile refuses more than 16 million values."""
    ordered = torch.sort(values).values
    place = at * (ordered.numel() - 1)
    below, above = place.floor().long(), place.ceil().long()
    between = torch.where(
        below == above, ordered[below], torch.lerp(ordered[below], ordered[above], place - below)
    )
    return [float(value) for value in between]


def owners(
    log_weight: Tensor, mask: Tensor
) -> tuple[tuple[SequenceOwner, ...], tuple[TokenOwner, ...]]:
    """The sequences and tokens with the largest shares of the summed squared log-weight."""
    finite = torch.isfinite(log_weight) & mask
    square = torch.where(finite, log_weight, 0).to(torch.float64) ** 2
    total = float(square.sum())
    if total == 0:
        return (), ()
    by_row = square.sum(-1) / total
    rows = torch.argsort(by_row, descending=True, stable=True)[:OWNERS]
    flat = square.flatten() / total
    places = torch.argsort(flat, descending=True, stable=True)[:OWNERS]
    width = log_weight.shape[1]
    weight = torch.exp(log_weight.to(torch.float64))
    sequences = tuple(
        SequenceOwner(int(row), float(by_row[row])) for row in rows if by_row[row] > 0
    )
    tokens = tuple(
        TokenOwner(
            int(place) // width,
            int(place) % width,
            float(weight[int(place) // width, int(place) % width]),
            float(flat[place]),
        )
        for place in places
        if flat[place] > 0
    )
    return sequences, tokens


def truncation(bundle: Bundle) -> Truncation | None:
    """Rows by their last token, and rows by AReaL's rule: as long as the padded batch."""
    eos = bundle.config.meta.eos_token_id
    if eos is None:
        return None
    ids = bundle.tensors["input_ids"]
    lengths = bundle.tensors["attention_mask"].bool().sum(-1)
    last = ids[torch.arange(len(lengths)), lengths - 1]
    return Truncation(_rows(last != eos), _rows(lengths == ids.shape[1]))


def group_spread(bundle: Bundle, found: StageZero, conventions: Conventions) -> GroupSpread | None:
    """Groups, numbered from 0, in which all rewards after the overlong penalty are the same."""
    config = bundle.config
    size = config.actor.reward_norm.group_size if config.actor.reward_norm is not None else 1
    sizes = config.traj_group_sizes if conventions.groups == "trajectories" else None
    if sizes is None and size < 2:
        return None
    rewards = found.tensors.get("rewards_after_overlong", bundle.tensors["rewards"])
    parts = Groups(sizes, conventions.singleton_leave_one_out).slices(len(rewards), size)
    same = [bool((rewards[part] == rewards[part][0]).all()) for part in parts]
    return GroupSpread(len(parts), tuple(i for i, flat in enumerate(same) if flat))


def _rows(mask: Tensor) -> tuple[int, ...]:
    return tuple(int(row) for row in torch.nonzero(mask).flatten())
