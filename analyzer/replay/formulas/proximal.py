"""The proximal policy's log-probs: recorded, taken over, or approximated from versions."""

from __future__ import annotations

import torch
from torch import Tensor

from analyzer.replay.areal_errors import ArealRaises

METHODS = ("loglinear", "linear", "rollout")


def alpha(versions: Tensor, current_version: int, dtype: torch.dtype) -> Tensor:
    """How far the proximal policy lies on the way from a token's version to the current one.

    `versions` stays at the tokens, while the log-probs are at the positions that predict them.
    """
    behind = (current_version - versions).to(dtype)
    share = torch.clamp((behind - 1) / behind, 0, 1)
    return torch.where((behind > 0) & (versions >= 0), share, 0)


def approximate(method: str, old: Tensor, new: Tensor, share: Tensor) -> Tensor:
    """The proximal log-prob between behaviour (share 0) and current policy (share 1)."""
    if method == "loglinear":
        return old + share * (new - old)
    if method == "linear":
        return torch.log((1 - share) * torch.exp(old) + share * torch.exp(new) + 1e-10)
    return old.clone()


def resolve(
    method: str,
    given: Tensor | None,
    old: Tensor,
    new: Tensor,
    versions: Tensor | None,
    current_version: int | None,
) -> Tensor:
    """The proximal log-probs the loss uses. Raises ArealRaises as AReaL does."""
    if method == "reuse_train_logp":
        return finite(new.detach(), method)
    if given is not None:
        return finite(given, method)
    if method != "loglinear":
        raise ArealRaises(
            "ValueError",
            f"prox_logp is None but prox_logp_method='{method}'. "
            "This indicates compute_logp() was skipped incorrectly.",
        )
    if versions is None or current_version is None:
        raise ArealRaises(
            "ValueError",
            f"prox_logp is None with prox_logp_method='{method}' but versions not available. "
            "Cannot proceed without either ground truth or approximation.",
        )
    share = alpha(versions, current_version, old.dtype)
    return finite(approximate("loglinear", old, new.detach(), share), method)


def finite(prox: Tensor, method: str) -> Tensor:
    """`prox`, if it is finite at every packed token, prompts too."""
    if bool(torch.isfinite(prox).all()):
        return prox
    raise ArealRaises(
        "RuntimeError",
        f"prox_logp contains NaN or Inf with prox_logp_method='{method}'. "
        "This indicates computation failed.",
    )
