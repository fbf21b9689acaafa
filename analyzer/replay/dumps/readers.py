"""Which reader takes a dump."""

from __future__ import annotations

from pathlib import Path

from analyzer.replay.dumps import torch_file
from analyzer.replay.dumps.areal_tensors import ArealTensors
from analyzer.replay.dumps.dump import Dump, Reader, unreadable
from analyzer.replay.dumps.slime import SlimeRollout, SlimeTrain
from analyzer.replay.dumps.texts import ArealRollouts, TrlCompletions, VerlRollouts

READERS: tuple[Reader, ...] = (
    SlimeTrain(),
    SlimeRollout(),
    ArealTensors(),
    ArealRollouts(),
    VerlRollouts(),
    TrlCompletions(),
)
# What a value of another kind than expected gives, wherever it is used first.
_MISSHAPEN = (AttributeError, IndexError, KeyError, RuntimeError, TypeError, ValueError)


def is_dump(path: Path) -> bool:
    """Is it to be read as a dump, and not as the folder of a recorded batch?"""
    return path.is_file() or ArealRollouts().sniff(path)


def read_dump(path: Path) -> Dump:
    """What a trainer's dump holds.

    Raises RunError, in one line, for a file of no known format or one that cannot be read.
    """
    reader = next((reader for reader in READERS if reader.sniff(path)), None)
    if reader is not None:
        try:
            return reader.read(path)
        except _MISSHAPEN as cause:
            text = " ".join(str(cause).split())
            message = f"is not laid out as {reader.format}: {type(cause).__name__}: {text}"
            raise unreadable(path, message, "write it again") from cause
    if torch_file.is_torch_file(path):
        torch_file.load(path)  # says what it asks for, where that is more than data
    known = ", ".join(reader.format for reader in READERS)
    raise unreadable(path, "is no dump that is known here", f"known: {known}, recorded batches")
