"""The recorded batches with AReaL's own values, and what a replay has other than they."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file

from analyzer.replay.bundle import Bundle, read_bundle
from analyzer.replay.conventions import Conventions, resolve
from analyzer.replay.results import Minibatch, StageZero

FOLDER = Path(__file__).resolve().parent.parent / "golden"
CASES = tuple(
    str(path.parent.relative_to(FOLDER)) for path in sorted(FOLDER.glob("areal-*/**/expected.json"))
)
TOLERANCE = 1e-6


@cache
def bundle_of(case: str) -> Bundle:
    """The batch of a case."""
    return read_bundle(FOLDER / case)


def conventions_of(case: str) -> Conventions:
    """The conventions of the version that made the case's values."""
    return resolve(case.partition("/")[0], {})


def find(start: str) -> str:
    """The one case whose path starts so."""
    (case,) = [case for case in CASES if case.startswith(start)]
    return case


def differences(case: str, found: StageZero) -> list[str]:
    """Everything that is not as AReaL has it, one line each."""
    expected = json.loads((FOLDER / case / "expected.json").read_text("utf-8"))
    return [
        *_numbers("stats", expected["stats"], found.stats),
        *_numbers("partial_stats", expected.get("partial_stats", {}), found.partial_stats),
        *_numbers("loss", {"loss": expected["loss"]}, {"loss": found.loss}),
        *_numbers("critic", {"l": expected.get("critic_loss")}, {"l": found.critic_loss}),
        *_error(expected["error"], found),
        *_minibatches(expected["minibatches"], found.minibatches),
        *_minibatches(expected.get("critic_minibatches", []), found.critic_minibatches),
        *_tensors(load_file(FOLDER / case / "expected.safetensors"), found.tensors),
    ]


def _numbers(what: str, expected: dict[str, Any], found: dict[str, Any]) -> Iterator[str]:
    for key in sorted(expected.keys() | found.keys()):
        if key not in found or key not in expected:
            yield f"{what}: {key} is only {'expected' if key in expected else 'found'}"
        elif not same(expected[key], found[key]):
            yield f"{what}: {key} is {found[key]}, not {expected[key]}"


def same(expected: float | str | None, found: float | None) -> bool:
    """Whether a number is within the tolerance of the recorded one."""
    if expected is None or found is None:
        return expected is found
    wanted = float(expected)
    if math.isnan(wanted) or math.isnan(found):
        return math.isnan(wanted) and math.isnan(found)
    if math.isinf(wanted) or math.isinf(found):
        return wanted == found
    return abs(found - wanted) <= TOLERANCE * (1 + abs(wanted))


def _error(expected: dict[str, str] | None, found: StageZero) -> Iterator[str]:
    error = found.error
    shown = error and {"stage": error.stage, "type": error.type, "message": error.message}
    if shown != expected:
        yield f"error: {shown}, not {expected}"


def _minibatches(expected: list[dict[str, Any]], found: tuple[Minibatch, ...]) -> Iterator[str]:
    if len(expected) != len(found):
        yield f"{len(found)} minibatches, not {len(expected)}"
        return
    for number, (wanted, minibatch) in enumerate(zip(expected, found, strict=True)):
        if not same(wanted["loss"], minibatch.loss):
            yield f"minibatch {number}: loss {minibatch.loss}, not {wanted['loss']}"
        parts = [(tuple(p["rows"]), p["loss_weight"]) for p in wanted["microbatches"]]
        if parts != [(part.rows, part.loss_weight) for part in minibatch.parts]:
            yield f"minibatch {number}: other rows or weights than {parts}"
            continue
        for wanted_part, part in zip(wanted["microbatches"], minibatch.parts, strict=True):
            if not same(wanted_part["loss"], part.loss):
                yield f"minibatch {number}: micro-batch {part}, not {wanted_part}"


def _tensors(expected: dict[str, torch.Tensor], found: dict[str, torch.Tensor]) -> Iterator[str]:
    for name in sorted(expected.keys() ^ found.keys()):
        yield f"tensor {name} is only {'expected' if name in expected else 'found'}"
    for name in sorted(expected.keys() & found.keys()):
        wanted, tensor = expected[name].double(), found[name].double()
        if wanted.shape != tensor.shape:
            yield f"tensor {name} has shape {tuple(tensor.shape)}, not {tuple(wanted.shape)}"
            continue
        agree = (wanted == tensor) | (wanted.isnan() & tensor.isnan())
        if expected[name].is_floating_point():
            agree |= (wanted - tensor).abs() <= TOLERANCE * (1 + wanted.abs())
        if not bool(agree.all()):
            yield f"tensor {name} differs at {torch.nonzero(~agree)[0].tolist()}"
