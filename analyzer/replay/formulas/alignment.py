"""From the position of a token to the position that predicts it, and from rows to packed tokens."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


def to_prediction(tokens: Tensor) -> Tensor:
    """Values at tokens → the same at the positions that predict them; the first one wraps round."""
    return torch.roll(tokens, shifts=-1, dims=-1)


def turns_to_prediction(turn_ids: Tensor) -> Tensor:
    """As `to_prediction`, but the last position belongs to no turn (-1)."""
    rolled = to_prediction(turn_ids)
    return torch.cat([rolled[:, :-1], torch.full_like(rolled[:, -1:], -1)], dim=1)


@dataclass(frozen=True)
class Packing:
    """Some rows of a batch laid end to end without their padding."""

    places: Tensor
    """Where each packed token is in the flattened batch."""
    sequence: Tensor
    """The number, from 0, of each packed token's sequence."""
    count: int
    """How many sequences there are."""

    def pack(self, tokens: Tensor) -> Tensor:
        """[B,T] → [packed tokens]."""
        return tokens.reshape(-1).index_select(0, self.places)

    def unpack_into(self, target: Tensor, packed: Tensor) -> None:
        """Write packed values to their places in a contiguous [B,T] tensor."""
        target.view(-1).index_copy_(0, self.places, packed.to(target.dtype))

    def sums(self, packed: Tensor) -> Tensor:
        """The sum of each sequence."""
        return packed.new_zeros(self.count).index_add(0, self.sequence, packed)

    def maxima(self, packed: Tensor, of_none: float) -> Tensor:
        """The maximum of each sequence."""
        start = packed.new_full((self.count,), of_none)
        return start.scatter_reduce(0, self.sequence, packed, "amax", include_self=True)

    def spread(self, per_sequence: Tensor) -> Tensor:
        """A value a sequence → the same at each of its tokens."""
        return per_sequence[self.sequence]


def packing(attention_mask: Tensor, rows: list[int]) -> Packing:
    """How these rows are packed."""
    chosen = torch.tensor(rows, dtype=torch.long, device=attention_mask.device)
    sequence, columns = torch.nonzero(attention_mask[chosen], as_tuple=True)
    places = chosen[sequence] * attention_mask.shape[1] + columns
    return Packing(places, sequence, len(rows))
