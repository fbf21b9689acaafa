"""Several trajectories as one batch, padded on the right to the longest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor


def as_tensor(value: Any) -> Tensor | None:
    """A tensor of numbers, detached from what computed it; None for anything else."""
    try:
        tensor: Tensor = torch.as_tensor(value)
    except (TypeError, ValueError, RuntimeError):
        return None
    return tensor.detach()


def joined(
    trajectories: Sequence[Mapping[str, Any]],
) -> tuple[dict[str, Tensor], tuple[int, ...]]:
    """One batch of the trajectories' rows, and how many rows each has.

    Tensors that are not in every trajectory, and values that are no tensors, are left out. What
    lies beyond a row's own width is 0, and False in a mask, as AReaL pads.

    Raises ValueError where a trajectory's tensors do not have the same number of rows.
    """
    found = [_tensors(trajectory) for trajectory in trajectories]
    if not found or not all("input_ids" in tensors for tensors in found):
        raise ValueError("no trajectories with input_ids")
    sizes = tuple(len(tensors["input_ids"]) for tensors in found)
    names = [n for n in found[0] if all(n in tensors for tensors in found)]
    batch = {}
    for name in names:
        parts = [tensors[name] for tensors in found]
        if [len(part) for part in parts] != list(sizes):
            raise ValueError(f"{name} has another number of rows than input_ids")
        batch[name] = torch.cat(_padded(parts))
    return batch, sizes


def _tensors(trajectory: Mapping[str, Any]) -> dict[str, Tensor]:
    tensors = {name: as_tensor(value) for name, value in trajectory.items()}
    return {name: tensor for name, tensor in tensors.items() if tensor is not None and tensor.dim()}


def _padded(parts: Sequence[Tensor]) -> list[Tensor]:
    if parts[0].dim() < 2:
        return list(parts)
    width = max(part.shape[1] for part in parts)
    pads = [(0, 0) * (part.dim() - 2) + (0, width - part.shape[1]) for part in parts]
    return [torch.nn.functional.pad(part, pad) for part, pad in zip(parts, pads, strict=True)]
