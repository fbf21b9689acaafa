"""One recorded batch: a folder with `batch.safetensors` and `config.yaml`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open

from analyzer.errors import Location, RunError
from analyzer.replay.config import ReplayConfig, load_config

BATCH = "batch.safetensors"
CONFIG = "config.yaml"
EXPECTED = "expected.safetensors"
LARGEST = 4 * 2**30  # bytes of tensors; a step's batch of a large run has some hundred million

_TOKENS = ("[B,T]", 2)
_ROWS = ("[B]", 1)
_FLOATS = (torch.float32, torch.float64)
_INTEGERS = (torch.int32, torch.int64, torch.int16, torch.uint8)
_MASKS = (torch.bool, *_INTEGERS)
# name → shape, dtypes, whether every batch has it
_TENSORS: dict[str, tuple[tuple[str, int], tuple[torch.dtype, ...], bool]] = {
    "input_ids": (_TOKENS, _INTEGERS, True),
    "attention_mask": (_TOKENS, _MASKS, True),
    "loss_mask": (_TOKENS, _MASKS, True),
    "logprobs": (_TOKENS, _FLOATS, True),
    "rewards": (_ROWS, _FLOATS, True),
    "new_logprobs": (_TOKENS, _FLOATS, True),
    "entropy": (_TOKENS, _FLOATS, False),
    "versions": (_TOKENS, _INTEGERS, False),
    "prox_logp": (_TOKENS, _FLOATS, False),
    "ref_logp": (_TOKENS, _FLOATS, False),
    "teacher_logp": (_TOKENS, _FLOATS, False),
    "values": (_TOKENS, _FLOATS, False),
    "new_values": (_TOKENS, _FLOATS, False),
    "vocab_min_logits": (_TOKENS, _FLOATS, False),
    "vocab_max_logits": (_TOKENS, _FLOATS, False),
    "turn_ids": (_TOKENS, _INTEGERS, False),
    "original_rewards": (_ROWS, _FLOATS, False),
    "begin_of_trajectory": (_ROWS, (*_MASKS, *_FLOATS), False),
    "minibatch_index": (_ROWS, _INTEGERS, False),
    "microbatch_index": (_ROWS, _INTEGERS, False),
}
_SPLIT = ("minibatch_index", "microbatch_index")


@dataclass(frozen=True)
class Split:
    """Which minibatch and which micro-batch in it each row went to; -1 for none."""

    minibatch: tuple[int, ...]
    microbatch: tuple[int, ...]


@dataclass(frozen=True)
class Bundle:
    """A batch as it was recorded, right-padded, with the configuration it was trained under."""

    path: Path
    tensors: Mapping[str, torch.Tensor]
    config: ReplayConfig
    raw_config: Mapping[str, Any] = field(default_factory=dict)
    split: Split | None = None
    """As recorded; asked for only where rows of equal length leave the split open."""

    @property
    def rows(self) -> int:
        """The number of sequences."""
        return int(self.tensors["input_ids"].shape[0])


def read_bundle(folder: Path, largest: int = LARGEST) -> Bundle:
    """The batch recorded in a folder, at most `largest` bytes of tensors.

    Raises RunError, in one line, for a folder or file that is missing, cut, too large, or does not
    fit the others.
    """
    for name in (BATCH, CONFIG):
        if not (folder / name).is_file():
            raise RunError(
                f"holds no {name}" if folder.is_dir() else "is no folder",
                at=Location(str(folder)),
                hint=f"a recorded batch is a folder with {BATCH} and {CONFIG}",
            )
    config, raw = load_config(folder / CONFIG)
    path = folder / BATCH
    tensors = _load(path, largest)
    _check(path, tensors, config.actor.log_agent_stats_keys if config.actor.log_agent_stats else ())
    sizes = config.traj_group_sizes
    rows = int(tensors["input_ids"].shape[0])
    if sizes is not None and (sum(sizes) != rows or min(sizes) < 1):
        raise _wrong(
            folder / CONFIG, f"traj_group_sizes {list(sizes)} do not add up to the {rows} rows"
        )
    kept = {name: tensor for name, tensor in tensors.items() if name not in _SPLIT}
    return Bundle(folder, kept, config, raw, _split(folder, tensors, largest))


def _load(path: Path, largest: int) -> dict[str, torch.Tensor]:
    size = path.stat().st_size
    if size > largest:
        raise _wrong(
            path,
            f"has {size:,} bytes, more than the {largest:,} that are read",
            "record fewer rows",
        )
    if size == 0 or size < 8 + _header_length(path):
        raise _wrong(path, f"is cut: {size:,} bytes", "record the batch again")
    try:
        with safe_open(path, framework="pt") as file:
            return {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError, ValueError) as cause:
        reason = " ".join(str(cause).split())
        raise _wrong(path, f"cannot be read: {reason}", "cut short, or not safetensors") from cause


def _header_length(path: Path) -> int:
    with path.open("rb") as file:
        return int.from_bytes(file.read(8), "little")


def _check(path: Path, tensors: Mapping[str, torch.Tensor], logged: Sequence[str]) -> None:
    known = _TENSORS | dict.fromkeys(logged, (_ROWS, (*_FLOATS, *_MASKS), True))
    missing = [name for name, (_, _, always) in known.items() if always and name not in tensors]
    if missing:
        raise _wrong(path, f"lacks {', '.join(missing)}")
    shape = tuple(tensors["input_ids"].shape)
    if len(shape) != 2 or 0 in shape:
        raise _wrong(path, f"input_ids has shape {list(shape)}, not [rows, tokens]")
    for name, tensor in tensors.items():
        if name not in known:
            raise _wrong(path, f"holds {name!r}, which no replay knows", "leave it out")
        (shown, dimensions), dtypes, _ = known[name]
        if tuple(tensor.shape) != shape[:dimensions]:
            raise _wrong(
                path,
                f"{name} has shape {list(tensor.shape)}, not {shown} = {list(shape[:dimensions])}",
            )
        if tensor.dtype not in dtypes:
            raise _wrong(path, f"{name} is {_short(tensor.dtype)}, not {_short(dtypes[0])}")
    attention = tensors["attention_mask"].bool()
    if bool((attention[:, 1:] & ~attention[:, :-1]).any()) or not bool(attention[:, 0].all()):
        raise _wrong(path, "attention_mask is not padded on the right alone")


def _split(folder: Path, tensors: Mapping[str, torch.Tensor], largest: int) -> Split | None:
    if not all(name in tensors for name in _SPLIT):
        if not (folder / EXPECTED).is_file():
            return None
        tensors = _load(folder / EXPECTED, largest)
    found = [tensors.get(name) for name in _SPLIT]
    if any(tensor is None for tensor in found):
        return None
    mini, micro = (tuple(tensor.tolist()) for tensor in found if tensor is not None)
    return Split(mini, micro)


def _short(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _wrong(path: Path, message: str, hint: str = "") -> RunError:
    return RunError(message, at=Location(str(path)), hint=hint)
