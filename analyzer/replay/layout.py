"""The tensors of a batch: which there are, their shapes and dtypes, and reading their file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open

from analyzer.errors import Location, RunError

LARGEST_HEADER = 2**20  # bytes; a batch has some twenty tensors

FLOATS = (torch.float32, torch.float64)
ROUNDED = (torch.bfloat16, torch.float16)
INTEGERS = (torch.int32, torch.int64, torch.int16, torch.uint8)
MASKS = (torch.bool, *INTEGERS)
SPLIT = ("minibatch_index", "microbatch_index")


@dataclass(frozen=True)
class Kind:
    """What a tensor has to be like: [B,T] or [B], and the dtypes; the first is the usual one."""

    dimensions: int
    dtypes: tuple[torch.dtype, ...]
    always: bool = False
    """Whether every batch has it."""

    @property
    def shown(self) -> str:
        """Its shape, for messages."""
        return "[B,T]" if self.dimensions == 2 else "[B]"


TENSORS: dict[str, Kind] = {
    "input_ids": Kind(2, INTEGERS, True),
    "attention_mask": Kind(2, MASKS, True),
    "loss_mask": Kind(2, (*INTEGERS, torch.bool), True),
    "logprobs": Kind(2, FLOATS, True),
    "rewards": Kind(1, FLOATS, True),
    "new_logprobs": Kind(2, FLOATS),
    "entropy": Kind(2, FLOATS),
    "versions": Kind(2, INTEGERS),
    "prox_logp": Kind(2, FLOATS),
    "ref_logp": Kind(2, FLOATS),
    "teacher_logp": Kind(2, FLOATS),
    "values": Kind(2, FLOATS),
    "new_values": Kind(2, FLOATS),
    "vocab_min_logits": Kind(2, FLOATS),
    "vocab_max_logits": Kind(2, FLOATS),
    "turn_ids": Kind(2, INTEGERS),
    "original_rewards": Kind(1, FLOATS),
    "begin_of_trajectory": Kind(1, (*MASKS, *FLOATS)),
    "minibatch_index": Kind(1, INTEGERS),
    "microbatch_index": Kind(1, INTEGERS),
}
LOGGED = Kind(1, (*FLOATS, *MASKS), True)
"""What a user has AReaL log of trajectories, under names of their own."""


def load(path: Path, largest: int) -> dict[str, torch.Tensor]:
    """The tensors of a safetensors file. Raises RunError, in one line, where it cannot be read."""
    size = path.stat().st_size
    if size > largest:
        raise wrong(
            path,
            f"has {size:,} bytes, more than the {largest:,} that are read",
            "record fewer rows",
        )
    header = _header_length(path)
    if size == 0 or size < 8 + header:
        raise wrong(path, f"is cut: {size:,} bytes", "record the batch again")
    if header > LARGEST_HEADER:
        raise wrong(path, f"has a header of {header:,} bytes, too many for a batch")
    try:
        with safe_open(path, framework="pt") as file:
            return {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError, ValueError) as cause:
        reason = " ".join(str(cause).split())
        raise wrong(path, f"cannot be read: {reason}", "cut short, or not safetensors") from cause


def _header_length(path: Path) -> int:
    with path.open("rb") as file:
        return int.from_bytes(file.read(8), "little")


def check(
    path: Path,
    tensors: Mapping[str, torch.Tensor],
    logged: Sequence[str] = (),
    needed: Sequence[str] = (),
    rounded: bool = False,
) -> None:
    """Raise RunError where the tensors of a file are not those of a batch.

    `logged` are the names that a user has AReaL log, `needed` further ones that have to be there;
    `rounded` says that bfloat16 and float16 may stand for float32.
    """
    known = TENSORS | dict.fromkeys(logged, LOGGED)
    missing = [n for n, k in known.items() if (k.always or n in needed) and n not in tensors]
    if missing:
        raise wrong(path, f"lacks {', '.join(missing)}")
    shape = tuple(tensors["input_ids"].shape)
    if len(shape) != 2 or 0 in shape:
        raise wrong(path, f"input_ids has shape {list(shape)}, not [rows, tokens]")
    for name, tensor in tensors.items():
        if name not in known:
            raise wrong(path, f"holds {name!r}, which no replay knows", "leave it out")
        _check_one(path, name, tensor, known[name], shape, rounded)
    attention = tensors["attention_mask"].bool()
    if bool((attention[:, 1:] & ~attention[:, :-1]).any()) or not bool(attention[:, 0].all()):
        raise wrong(path, "attention_mask is not padded on the right alone")


def _check_one(
    path: Path,
    name: str,
    tensor: torch.Tensor,
    kind: Kind,
    shape: tuple[int, ...],
    rounded: bool,
) -> None:
    expected = shape[: kind.dimensions]
    if tuple(tensor.shape) != expected:
        raise wrong(
            path, f"{name} has shape {list(tensor.shape)}, not {kind.shown} = {list(expected)}"
        )
    fits = tensor.dtype in kind.dtypes
    if not fits and rounded and torch.float32 in kind.dtypes:
        fits = tensor.dtype in ROUNDED
    if not fits:
        raise wrong(path, f"{name} is {dtype_name(tensor.dtype)}, not {dtype_name(kind.dtypes[0])}")


def dtype_name(dtype: torch.dtype) -> str:
    """`float32` for torch.float32."""
    return str(dtype).removeprefix("torch.")


def wrong(path: Path, message: str, hint: str = "") -> RunError:
    """The error that says what is wrong with a file."""
    return RunError(message, at=Location(str(path)), hint=hint)
