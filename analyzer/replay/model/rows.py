"""Token rows without their padding, put into micro-batches, and the way back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from analyzer.errors import RunError


@dataclass(frozen=True)
class Row:
    """One sequence: its token ids, where each stands in the batch, and what is asked for."""

    ids: Tensor
    """[L] int64, without padding."""
    places: Tensor
    """[L] int64: positions in the batch's row."""
    wanted: Tensor
    """[L-1] bool: the predicting positions whose log-probs are asked for."""


@dataclass(frozen=True)
class MicroBatch:
    """Some rows, padded on the right to the longest."""

    rows: tuple[int, ...]
    ids: Tensor
    """[b,t] int64; 0 on padding."""
    wanted: Tensor
    """[b,t] bool at predicting positions."""
    labels: Tensor
    """[n] int64: the token after each wanted position, row by row."""


def rows_of(ids: Tensor, attention: Tensor, wanted: Tensor | None) -> tuple[Row, ...]:
    """The rows of a batch [B,T], padded on either side.

    `wanted` is a mask [B,T] at predicting positions (t predicts t+1); None: all. Raises RunError
    for shapes that do not fit and for padding between tokens.
    """
    for name, tensor in (("attention_mask", attention), ("wanted", wanted)):
        if tensor is not None and tensor.shape != ids.shape:
            raise RunError(f"{name} has shape {list(tensor.shape)}, not {list(ids.shape)}")
    ids, attention = ids.to("cpu", torch.int64), attention.to("cpu").bool()
    asked = torch.ones_like(attention) if wanted is None else wanted.to("cpu").bool()
    found = []
    for number in range(ids.shape[0]):
        places = torch.nonzero(attention[number]).flatten()
        if len(places) and int(places[-1] - places[0]) != len(places) - 1:
            raise RunError(f"row {number} has padding between its tokens")
        found.append(Row(ids[number, places], places, asked[number, places[:-1]]))
    return tuple(found)


def micro_batches(rows: Sequence[Row], tokens: int) -> tuple[MicroBatch, ...]:
    """Rows with something wanted, the longest first, as many to a batch as its padded size allows.

    The longest come first: what does not fit into memory then fails at once, and the time that the
    first one took is an upper estimate of the others'.
    """
    order = sorted(
        (number for number, row in enumerate(rows) if bool(row.wanted.any())),
        key=lambda number: (-_needed(rows[number]), number),
    )
    found: list[list[int]] = []
    for number in order:
        if found and _needed(rows[found[-1][0]]) * (len(found[-1]) + 1) <= tokens:
            found[-1].append(number)
        else:
            found.append([number])
    return tuple(_padded(rows, numbers) for numbers in found)


def spread(rows: Sequence[Row], part: MicroBatch, values: Tensor, into: Tensor) -> None:
    """Write the values [n] of a micro-batch to their places in a batch [B,T]."""
    start = 0
    for number in part.rows:
        row = rows[number]
        places = row.places[:-1][row.wanted]
        into[number, places] = values[start : start + len(places)]
        start += len(places)


def gathered(rows: Sequence[Row], part: MicroBatch, values: Tensor) -> Tensor:
    """The values [n] of a micro-batch from a batch [B,T]: the way back from `spread`."""
    return torch.cat(
        [values[number, rows[number].places[:-1][rows[number].wanted]] for number in part.rows]
    )


def _needed(row: Row) -> int:
    """Tokens that the model has to see: those up to the last wanted position."""
    return int(torch.nonzero(row.wanted)[-1]) + 1


def _padded(rows: Sequence[Row], numbers: Sequence[int]) -> MicroBatch:
    width = max(_needed(rows[number]) for number in numbers)
    ids = torch.zeros(len(numbers), width, dtype=torch.int64)
    wanted = torch.zeros(len(numbers), width, dtype=torch.bool)
    labels = []
    for at, number in enumerate(numbers):
        row, needed = rows[number], _needed(rows[number])
        ids[at, :needed] = row.ids[:needed]
        wanted[at, :needed] = row.wanted[:needed]
        labels.append(row.ids[1:][row.wanted])
    return MicroBatch(tuple(numbers), ids, wanted, torch.cat(labels))
