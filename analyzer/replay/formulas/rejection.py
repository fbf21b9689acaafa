"""Which tokens count: the second-moment mask of M2PO, and rejection sampling."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from analyzer.replay.config import RejectionConfig
from analyzer.replay.formulas.alignment import Packing


def m2po_mask(old: Tensor, prox: Tensor, mask: Tensor, threshold: float) -> Tensor:
    """The mask without the largest (old - prox)², as few as bring the mean below the threshold.

    At least one token stays.
    """
    square = (old - prox) ** 2
    places = torch.nonzero(mask, as_tuple=True)[0]
    if len(places) == 0:
        return mask
    ordered, order = torch.sort(square[places], descending=True)
    rest = torch.flip(torch.cumsum(torch.flip(ordered, [0]), 0), [0])
    count = torch.arange(len(places), 0, -1, device=mask.device)
    below = torch.nonzero(rest / count < threshold, as_tuple=True)[0]
    dropped = int(below[0]) if len(below) else len(places) - 1
    kept = mask.clone()
    kept[places[order[:dropped]]] = False
    return kept


@dataclass(frozen=True)
class Rejection:
    """What rejection sampling leaves."""

    mask: Tensor
    """The tokens that stay."""
    weight: Tensor
    """The behaviour importance weight, 0 for tokens that do not stay."""
    filtered_fraction: Tensor
    """Masked: the share that goes; clamped: the share whose weight changes."""


def reject(
    config: RejectionConfig, old: Tensor, prox: Tensor, mask: Tensor, packing: Packing
) -> Rejection:
    """Reject, or clamp, tokens or sequences whose policies lie too far apart."""
    log_ratio = finite_log_ratio(old, prox)
    metric = divergence(config, old, prox, log_ratio, mask, packing)
    inside = in_bounds(config, metric)
    weight = raw_weight(config, log_ratio, mask, packing)
    count = torch.clamp(mask.sum(), min=1)
    if config.action == "mask":
        kept = mask & inside
        return Rejection(kept, torch.where(kept, weight, 0), (mask & ~inside).sum() / count)
    lower = config.lower if config.lower is not None else 0.0
    clamped = torch.clamp(weight, lower, config.upper)
    if config.level == "sequence":
        clamped = torch.where(inside, weight, clamped)
    changed = (mask & (clamped != weight)).sum()
    return Rejection(mask, torch.where(mask, clamped, 0), changed / count)


def finite_log_ratio(old: Tensor, prox: Tensor) -> Tensor:
    """log(prox / behaviour), with 0 for what is not finite."""
    log_ratio = prox - old
    return torch.where(torch.isfinite(log_ratio), log_ratio, 0)


def divergence(
    config: RejectionConfig,
    old: Tensor,
    prox: Tensor,
    log_ratio: Tensor,
    mask: Tensor,
    packing: Packing,
) -> Tensor:
    """The metric of each token; at sequence level, that of its sequence."""
    if config.metric == "ratio":
        if config.level == "sequence":
            log_ratio = aggregate(config.agg, log_ratio, mask, packing)
        return torch.exp(log_ratio)
    metric = token_divergence(config.metric, old, prox)
    return aggregate(config.agg, metric, mask, packing) if config.level == "sequence" else metric


def token_divergence(metric: str, old: Tensor, prox: Tensor) -> Tensor:
    """A KL estimate of each token, of what the log-probs are, finite or not."""
    d = prox - old
    if metric == "kl_k1":
        return d
    if metric == "kl_k2":
        return d * d / 2
    if metric == "kl_k3":
        return torch.exp(-d) - 1 + d
    p, q = (torch.clamp(torch.exp(x), 1e-8, 1 - 1e-8) for x in (prox, old))
    return torch.maximum(binary_kl(p, q), binary_kl(q, p))


def binary_kl(p: Tensor, q: Tensor) -> Tensor:
    """KL between two coins."""
    return p * torch.log(p / q) + (1 - p) * torch.log((1 - p) / (1 - q))


def aggregate(how: str, x: Tensor, mask: Tensor, packing: Packing) -> Tensor:
    """Sum, mean or maximum over the mask of each sequence, 0 for one without a token."""
    kept = torch.where(mask, x, 0)
    count = packing.sums(mask.to(x.dtype))
    if how == "max":
        lowest = torch.where(mask, x, -torch.inf)
        found = torch.where(count > 0, packing.maxima(lowest, -torch.inf), 0)
    else:
        found = packing.sums(kept)
        if how == "mean":
            found = found / torch.clamp(count, min=1)
    return packing.spread(found)


def in_bounds(config: RejectionConfig, metric: Tensor) -> Tensor:
    """Whether the metric is within the bounds; both belong to the inside."""
    inside = metric <= config.upper
    return inside if config.lower is None else inside & (metric >= config.lower)


def raw_weight(
    config: RejectionConfig, log_ratio: Tensor, mask: Tensor, packing: Packing
) -> Tensor:
    """The importance weight before it is clamped: the geometric mean for ratios of sequences."""
    if config.level == "sequence" and config.metric == "ratio":
        log_ratio = aggregate("mean", log_ratio, mask, packing)
    return torch.exp(log_ratio)
