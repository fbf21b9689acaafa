"""Files of `torch.save`: read as data, never as the program that a pickle can be."""

from __future__ import annotations

import re
import warnings
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from analyzer.replay.bundle import LARGEST
from analyzer.replay.dumps.dump import unreadable

_PICKLE = b"\x80"
_ZIP = b"PK\x03\x04"
_PEEK = 8 * 2**20  # bytes of the pickle in which the keys are looked for
_FORBIDDEN = re.compile(r"GLOBAL ([\w.]+)")
_DEEPEST = 50


def is_torch_file(path: Path) -> bool:
    """Is it what torch.save writes, or a bare pickle?"""
    return _start(path, 4).startswith((_ZIP, _PICKLE))


def names(path: Path) -> bytes:
    """The bytes in which a file's dictionary keys stand in clear; empty for another file."""
    start = _start(path, 4)
    if start.startswith(_PICKLE):
        return _start(path, _PEEK)
    if not start.startswith(_ZIP):
        return b""
    try:
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                if name.endswith("/data.pkl"):
                    with archive.open(name) as file:
                        return file.read(_PEEK)
    except Exception:  # a damaged archive raises whatever its bytes lead to
        return b""
    return b""


def load(path: Path, largest: int = LARGEST) -> Any:
    """The tensors, numbers and text in a file of torch.save.

    Anything else in it, code above all, is refused unread. Raises RunError in one line.
    """
    _check_size(path, largest)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what torch thinks of a pickle's protocol
            content = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as cause:  # pickle, zip and torch each have errors of their own
        raise unreadable(path, *_why(str(cause))) from None
    try:
        size = _bytes(content)
    except RecursionError:
        raise unreadable(path, f"is nested more than {_DEEPEST} deep") from None
    if size > largest:
        raise unreadable(
            path, f"unfolds to {size:,} bytes of tensors, more than the {largest:,} that are read"
        )
    return content


def _start(path: Path, size: int) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(size)
    except OSError:
        return b""


def _check_size(path: Path, largest: int) -> None:
    size = path.stat().st_size
    if _start(path, 4) == _ZIP:
        try:
            with zipfile.ZipFile(path) as archive:
                size = max(size, sum(entry.file_size for entry in archive.infolist()))
        except Exception as cause:  # as above
            text = " ".join(str(cause).split())
            raise unreadable(path, f"cannot be read: {text}", "cut short?") from None
    if size > largest:
        raise unreadable(path, f"has {size:,} bytes, more than the {largest:,} that are read")


def _why(text: str) -> tuple[str, str]:
    """What is wrong, and what to do, by what torch says."""
    found = _FORBIDDEN.search(text)
    if found or "weights only" in text.lower():
        what = f"asks for {found[1]}" if found else "is no plain data"
        return (
            f"{what}: only tensors, numbers and text are read, nothing is run",
            "save plain tensors",
        )
    return f"cannot be read: {' '.join(text.split())[:200]}", "cut short, or not of torch.save"


def _bytes(content: Any, depth: int = 0) -> int:
    """The size of all tensors when laid out; one can be a small storage seen many times over."""
    if depth > _DEEPEST:
        raise RecursionError
    if isinstance(content, torch.Tensor):
        return int(content.numel() * content.element_size())
    if isinstance(content, Mapping):
        return sum(_bytes(value, depth + 1) for value in content.values())
    if isinstance(content, Sequence) and not isinstance(content, str | bytes):
        return sum(_bytes(value, depth + 1) for value in content)
    return 0
