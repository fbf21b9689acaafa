"""The log formats that are read: the one place where a file's format is decided."""

from __future__ import annotations

from pathlib import Path

from analyzer.sources.areal_config import ArealConfig
from analyzer.sources.areal_text import ArealText
from analyzer.sources.opening import read_head
from analyzer.sources.records import Reader
from analyzer.sources.tensorboard import TensorBoard

READERS: tuple[Reader, ...] = (TensorBoard(), ArealConfig(), ArealText())


def reader_of(path: Path) -> Reader | None:
    """The reader that takes this file, by its content; None when none does.

    Raises RunError when the file cannot be read.
    """
    head = read_head(path)
    return next((reader for reader in READERS if head and reader.sniff(path, head)), None)


def reader_for(name: str) -> Reader:
    """The reader of a format that a run's file list names."""
    return next(reader for reader in READERS if reader.format == name)


def known_formats() -> str:
    """All formats in words, for messages."""
    return "; ".join(reader.describes for reader in READERS)
