"""Files of JSON lines, small enough to be held in memory."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from analyzer.errors import RunError
from analyzer.replay.dumps.dump import unreadable

LARGEST = 2**30  # bytes of text
_HEAD = 2**20


def first(path: Path) -> Mapping[str, Any]:
    """The first line's object; empty where it is none, or longer than a megabyte."""
    try:
        with path.open("rb") as file:
            found = json.loads(file.readline(_HEAD))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, Mapping) else {}


def read(path: Path, keys: Sequence[str]) -> tuple[list[Mapping[str, Any]], tuple[str, ...]]:
    """The objects of all lines, each with these keys, and a note where the last line is cut.

    Raises RunError with the line that is wrong.
    """
    size = path.stat().st_size
    if size > LARGEST:
        raise unreadable(path, f"has {size:,} bytes, more than the {LARGEST:,} that are read")
    rows, notes = [], []
    content = path.read_bytes()
    lines = content.split(b"\n")
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            rows.append(_row(path, number, line, keys))
        except RunError:
            if number < len(lines) or not rows:  # the last line, without its end
                raise
            notes.append("the last line is cut and was left out")
    if not rows:
        raise unreadable(path, "holds no sample")
    return rows, tuple(notes)


def _row(path: Path, number: int, line: bytes, keys: Sequence[str]) -> Mapping[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as cause:
        text = " ".join(str(cause).split())
        raise unreadable(path, f"is no JSON: {text}", line=number) from None
    missing = [key for key in keys if not isinstance(row, Mapping) or key not in row]
    if missing:
        raise unreadable(path, f"lacks {', '.join(missing)}", line=number)
    found: Mapping[str, Any] = row
    return found


def numbers(rows: Sequence[Mapping[str, Any]], key: str) -> list[float] | None:
    """One number a row; None where a row has none."""
    values = [row[key] for row in rows]
    if not all(isinstance(value, int | float) for value in values):
        return None
    return [float(value) for value in values]
