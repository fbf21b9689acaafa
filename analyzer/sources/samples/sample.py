"""One sampled response as a dump tells it, before it is measured."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, Protocol

Split = Literal["train", "eval"]


@dataclass(slots=True)
class Sample:
    """What a record says. None: it does not say."""

    prompt: str
    completion: str
    offset: int = 0  # of its record in the file: bytes, row or index
    bytes: int | None = None  # of the record, where it is a line
    step: int | None = None
    split: Split = "train"
    task_id: str | None = None
    sample_idx: int | None = None
    prompt_len: int | None = None  # tokens
    seq_len: int | None = None  # tokens
    reward: float | None = None
    correct: bool | None = None
    head_version: int | None = None
    tail_version: int | None = None
    truncated: bool | None = None


@dataclass(slots=True)
class Taken:
    """How far a file has been read."""

    offset: int  # bytes up to the last whole record
    sha256: bytes  # of them
    bad: int = 0  # records that are none of this format
    first_bad: int | None = None  # where the first of them begins


class Samples(Protocol):
    """The records of one file: iterate to the end, then look at `taken`."""

    def __iter__(self) -> Iterator[Sample]: ...

    @property
    def taken(self) -> Taken: ...


def whole(value: Any) -> int | None:
    """A whole number, however JSON spells it; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if abs(value) < 2**53 else None  # not of NaN either


def number(value: Any) -> float | None:
    """A number or a truth value as a float; None for anything else."""
    if not isinstance(value, int | float) or abs(value) > sys.float_info.max:
        return value if isinstance(value, float) else None
    return float(value)


def truth(value: Any) -> bool | None:
    """True, false, 1 or 0; None for anything else."""
    return bool(value) if isinstance(value, int | float) and value in (0, 1) else None


def conversation(value: Any) -> str | None:
    """A text, or the messages of a chat one after another; None for anything else."""
    if isinstance(value, str):
        return value
    if not isinstance(value, list) or not all(isinstance(m, dict) for m in value):
        return None
    return "\n".join(f"{m.get('role', '')}: {_content(m.get('content'))}" for m in value)


def reply(value: Any) -> str | None:
    """The same, but a single message is its text alone."""
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], dict):
        return _content(value[0].get("content"))
    return conversation(value)


def _content(value: Any) -> str:
    """A message's text; parts of other kinds (images, calls) are named only."""
    if isinstance(value, list):
        parts = (p.get("text", f"[{p.get('type', 'part')}]") for p in value if isinstance(p, dict))
        return " ".join(str(part) for part in parts)
    return value if isinstance(value, str) else ""
