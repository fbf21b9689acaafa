"""A replay's result as JSON or text, and its tensors as a file."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from safetensors.torch import save

from analyzer.errors import Location, RunError
from analyzer.replay.conventions import Conventions
from analyzer.replay.insights import Insights, Weights
from analyzer.replay.results import StageZero


def as_json(found: StageZero) -> str:
    """`stats`, `loss` and `error`; numbers that are not finite are strings."""
    return to_json(document(found))


def to_json(plain: dict[str, Any]) -> str:
    """Plain data as text."""
    return json.dumps(plain, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def document(found: StageZero) -> dict[str, Any]:
    """The same as plain data."""
    error = found.error
    return {
        "stats": {key: number(value) for key, value in found.stats.items()},
        "loss": None if found.loss is None else number(found.loss),
        "error": None
        if error is None
        else {"stage": error.stage, "type": error.type, "message": error.message},
    }


def number(value: float) -> float | str:
    """JSON has no NaN and no infinities."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return value


def as_text(found: StageZero, more: Insights, conventions: Conventions) -> str:
    """The same for a reader, with what AReaL does not export."""
    return "\n".join(_lines(found, more, conventions)) + "\n"


def _lines(found: StageZero, more: Insights, conventions: Conventions) -> Iterator[str]:
    yield f"conventions: {conventions.name}"
    if found.error is not None:
        error = found.error
        yield f"AReaL raises in {error.stage}: {error.type}: {error.message}"
    if found.loss is not None:
        yield f"loss: {found.loss:.9g}"
    for note in found.notes:
        yield f"note: {note}"
    stats = found.stats or found.partial_stats
    width = max((len(key) for key in stats), default=0)
    for key, value in stats.items():
        yield f"{key:<{width}}  {value:.9g}"
    yield "beside what AReaL exports:"
    yield from _insights(more)


def _insights(more: Insights) -> Iterator[str]:
    for name, found in (
        ("proximal / behaviour", more.behave),
        ("proximal / behaviour, after rejection", more.behave_survivors),
        ("current / proximal", more.policy),
    ):
        if found is not None:
            yield from weight_lines(name, found)
    if more.sequences:
        rows = ", ".join(f"row {o.row} {o.share:.1%}" for o in more.sequences)
        yield f"  sequences that carry the deviation: {rows}"
        tokens = ", ".join(
            f"row {o.row} position {o.position} w={o.weight:.4g}" for o in more.tokens
        )
        yield f"  tokens that carry it: {tokens}"
    if more.truncation is not None:
        by_token, by_length = more.truncation.by_token, more.truncation.by_length
        yield (
            f"  truncated by the last token: {_count(by_token)}; "
            f"by AReaL's rule of length: {_count(by_length)}"
        )
    if more.groups is not None:
        same = more.groups.zero_variance
        yield f"  groups with one reward for all: {_count(same)} of {more.groups.groups}"


def weight_lines(name: str, found: Weights) -> Iterator[str]:
    """Importance weights, for a reader."""
    yield f"  weights {name}: {found.tokens} tokens, {found.not_finite} not finite"
    if found.effective is None or found.k1 is None or found.k2 is None or found.k3 is None:
        return
    shares = ", ".join(f"{share:.1%} beyond ±{band:.0%}" for band, share in found.beyond.items())
    yield f"    effective sample size {found.effective:.1%}, {shares}"
    yield f"    k1 {found.k1:.4g}, k2 {found.k2:.4g}, k3 {found.k3:.4g}"
    yield "    quantiles " + ", ".join(f"{q:g}: {w:.4g}" for q, w in found.quantiles.items())


def _count(rows: tuple[int, ...]) -> str:
    return f"{len(rows)} ({', '.join(map(str, rows))})" if rows else "0"


def write_tensors(found: StageZero, path: Path) -> None:
    """Write the tensors as safetensors, under a temporary name first.

    Raises RunError when the file cannot be written.
    """
    tensors = {name: tensor.cpu().contiguous().clone() for name, tensor in found.tensors.items()}
    temporary = path.with_name(path.name + ".part")
    try:
        temporary.write_bytes(save(tensors))
        temporary.replace(path)
    except OSError as cause:
        reason = cause.strerror or str(cause)
        raise RunError(f"cannot be written: {reason}", at=Location(str(path))) from cause
