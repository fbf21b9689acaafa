"""Normalisation of rewards and advantages, over the batch or over groups of rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from analyzer.replay.config import NormConfig
from analyzer.replay.conventions import Conventions, Singleton


@dataclass(frozen=True)
class Groups:
    """The groups of rows."""

    sizes: Sequence[int] | None
    """Rows of each group in order; None: slices of the configured size, a rest is in none."""
    singleton: Singleton

    def slices(self, rows: int, group_size: int) -> list[slice]:
        """The rows of each group."""
        sizes = self.sizes if self.sizes is not None else [group_size] * (rows // group_size)
        found, start = [], 0
        for size in sizes:
            found.append(slice(start, start + size))
            start += size
        return found


def groups_of(conventions: Conventions, sizes: Sequence[int] | None) -> Groups:
    """The groups that a version of AReaL normalises over."""
    by_trajectory = conventions.groups == "trajectories"
    return Groups(sizes if by_trajectory else None, conventions.singleton_leave_one_out)


def normalise(x: Tensor, mask: Tensor | None, norm: NormConfig, groups: Groups) -> Tensor:
    """(x - mean) / (std + eps) where the mask holds, 0 elsewhere; without a mask, everywhere.

    Sums are in float64, the result is of the dtype of `x`. A mask without a token leaves `x` as it
    is. Rows that are in no group have mean and standard deviation 0.
    """
    weight = torch.ones_like(x, dtype=torch.float64) if mask is None else mask.to(torch.float64)
    if not bool(weight.any()):
        return x
    exact = x.to(torch.float64)
    mean, std = torch.zeros_like(exact), torch.zeros_like(exact)
    for level, target in ((norm.mean_level, "mean"), (norm.std_level, "std")):
        if level is None:
            continue
        everything = [slice(0, len(x))]
        parts = everything if level == "batch" else groups.slices(len(x), norm.group_size)
        for part in parts:
            singleton = groups.singleton if level == "group" else "zero"
            if target == "mean":
                value = mean_of(exact[part], weight[part], norm.mean_leave1out, singleton)
                mean[part] = _stored(value, level, x.dtype)
            else:
                value = std_of(exact[part], weight[part], mean[part], norm, singleton)
                std[part] = _stored(value, level, x.dtype)
    eps = 0.0 if norm.std_level is None else norm.eps
    divisor = std + eps if norm.std_level is not None else torch.ones_like(std)
    return ((exact - mean) * weight / divisor).to(x.dtype)


def _stored(value: Tensor, level: str, dtype: torch.dtype) -> Tensor:
    """A group's mean and deviation are kept in the tensor's own precision."""
    return value.to(dtype).to(torch.float64) if level == "group" else value


def mean_of(x: Tensor, weight: Tensor, leave_one_out: bool, singleton: Singleton) -> Tensor:
    """The mean over the mask, or for each element that of all others."""
    total, n = (x * weight).sum(), weight.sum()
    if not leave_one_out:
        return (total / n if n > 0 else torch.zeros_like(total)).expand_as(x)
    if len(x) == 1 and singleton == "itself":
        return x
    return (total - x * weight) / (n - 1) if n > 1 else torch.zeros_like(x)


def std_of(
    x: Tensor, weight: Tensor, mean: Tensor, norm: NormConfig, singleton: Singleton
) -> Tensor:
    """The standard deviation around the given mean, which may be one a element."""
    n = weight.sum()
    one_row = len(x) == 1 and singleton == "itself" and x.dim() > 1
    if norm.std_unbiased and (n <= 1 or one_row):
        return torch.ones_like(x)
    squares = ((x - mean) ** 2 * weight).sum()
    count = n - 1 if norm.std_unbiased else torch.clamp(n, min=1)
    return torch.sqrt(squares / count).expand_as(x)
