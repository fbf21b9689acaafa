"""What is printed of a dump."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from analyzer.replay.dumps.dump import PARTS, Dump
from analyzer.replay.dumps.summary import Groups, Rewards, Summary
from analyzer.replay.output import number, weight_lines


def document(dump: Dump, found: Summary) -> dict[str, Any]:
    """As plain data: what it is, what it allows and why not the rest, and what it says."""
    truncated = found.truncated
    return {
        "dump": {
            "format": dump.format,
            "step": dump.step,
            "sequences": dump.sequences,
            "allows": [part for part in PARTS if part in dump.allows],
            "lacks": {part: dump.lacks[part] for part in PARTS if part in dump.lacks},
            "notes": list(dump.notes),
            "rewards": None if found.rewards is None else _plain(asdict(found.rewards)),
            "groups": None if found.groups is None else _plain(asdict(found.groups)),
            "truncation": None if truncated is None else {"truncated": truncated},
            "weights": None if found.weights is None else _plain(asdict(found.weights)),
        }
    }


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    return number(value) if isinstance(value, float) else value


def lines(dump: Dump, found: Summary) -> Iterator[str]:
    """The same for a reader."""
    at = "" if dump.step is None else f", step {dump.step}"
    yield f"{dump.format}: {dump.sequences} sequences{at}"
    yield from (f"note: {note}" for note in dump.notes)
    yield "allows: " + ", ".join(part for part in PARTS if part in dump.allows)
    yield from (f"not {part}: {dump.lacks[part]}" for part in PARTS if part in dump.lacks)
    if found.rewards is not None:
        yield from _rewards(found.rewards)
    if found.groups is not None:
        yield _groups(found.groups)
    if found.truncated is not None:
        yield f"truncated: {_of(found.truncated, dump.sequences)}"
    if found.weights is not None:
        yield from weight_lines("trainer / rollout engine", found.weights)


def _rewards(rewards: Rewards) -> Iterator[str]:
    if rewards.mean is not None:
        spread = "" if rewards.std is None else f", standard deviation {rewards.std:.6g}"
        between = f"from {rewards.least:.6g} to {rewards.most:.6g}"
        yield f"reward: mean {rewards.mean:.6g}{spread}, {between}"
    if rewards.not_finite:
        yield f"rewards that are no number: {_of(rewards.not_finite, rewards.count)}"


def _groups(groups: Groups) -> str:
    same = "one reward for all" if groups.by == "rewards" else "advantage 0 for all"
    return f"groups with {same}: {_of(groups.zero_variance, groups.count)}"


def _of(part: int, whole: int) -> str:
    return f"{part} of {whole} ({part / whole:.1%})"
