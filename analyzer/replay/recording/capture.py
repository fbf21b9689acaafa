"""A batch's tensors copied to main memory, in the layout of a recorded batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from analyzer.replay.layout import FLOATS, LOGGED, ROUNDED, TENSORS, Kind, dtype_name
from analyzer.replay.padding import as_tensor

_MASK_NAMES = ("attention_mask", "loss_mask")
# Tensors that AReaL's compute_advantages leaves beside those that it has shifted by one token.
_AFTER_ADVANTAGES = ("advantages", "kl_rewards", "tot_rewards")


@dataclass(frozen=True)
class Captured:
    """Tensors on the CPU that nothing else writes to."""

    tensors: dict[str, Tensor]
    came_as: dict[str, str]
    """The dtype of those that are kept in a wider one."""
    shifted: bool
    """Masks and behaviour log-probs stand at predicting positions: see `to_tokens`."""


def capture(
    batch: Mapping[str, Any], logged: Sequence[str], rows: Sequence[int] | None
) -> Captured:
    """What a replay knows of a batch, on any device, and of it only these rows.

    Raises KeyError for a batch without input_ids, and IndexError where a tensor lacks a row.
    """
    total = rows_of(batch)
    shifted = all(name in batch for name in _AFTER_ADVANTAGES)
    tensors, came_as = {}, {}
    for name, kind in (TENSORS | dict.fromkeys(logged, LOGGED)).items():
        tensor = as_tensor(batch[name]) if batch.get(name) is not None else None
        if tensor is None:
            continue
        if tensor.dtype in ROUNDED:
            came_as[name] = dtype_name(tensor.dtype)
        if rows is not None and tensor.dim() and len(tensor) == total:
            tensor = tensor[torch.tensor(rows, device=tensor.device)]
        tensors[name] = _copied(name, tensor, kind)
    return Captured(tensors, came_as, shifted)


def rows_of(batch: Mapping[str, Any]) -> int:
    """The number of sequences."""
    return len(batch["input_ids"])


def _copied(name: str, tensor: Tensor, kind: Kind) -> Tensor:
    copy = tensor.to("cpu", copy=True).contiguous()
    if name in _MASK_NAMES:
        copy = copy != 0
    return copy.to(_dtype(copy.dtype, kind))


def _dtype(dtype: torch.dtype, kind: Kind) -> torch.dtype:
    """The usual dtype; where counts and measures are both allowed, that of the same sort."""
    if not all(some in kind.dtypes for some in (torch.bool, *FLOATS)):
        return kind.dtypes[0]
    return torch.float32 if dtype.is_floating_point else dtype


def to_tokens(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """A batch as it was before AReaL's `compute_advantages` shifted it by one token.

    The shift is a roll, so that rolling back gives the mask exactly, and the log-probs wherever a
    token was trained on; elsewhere AReaL has set them to 0.
    """
    back = {
        name: torch.roll(tensors[name], 1, dims=-1)
        for name in ("loss_mask", "logprobs")
        if name in tensors and tensors[name].dim() == 2
    }
    return {**tensors, **back}
