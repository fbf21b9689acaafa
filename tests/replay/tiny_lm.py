"""The small model of tests/golden/tiny_lm: its batch, its checkpoints, and its values."""

from __future__ import annotations

import json
import shutil
from functools import cache
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from analyzer.replay.model.settings import Settings
from analyzer.replay.model.stage1 import StageOne, recompute

FOLDER = Path(__file__).resolve().parent.parent / "golden" / "tiny_lm"
DTYPES = {"fp32": "float32", "bf16": "bfloat16", "fp64": "float64"}
BATCH: dict[str, Tensor] = load_file(FOLDER / "batch.safetensors")
VALUES: dict[str, Tensor] = load_file(FOLDER / "logprobs.safetensors")
EXPECTED: dict[str, Any] = json.loads((FOLDER / "expected.json").read_text("utf-8"))
RESPONSE = BATCH["response_aligned"].bool()
VALID = BATCH["valid_aligned"].bool()
# With a GPU the same tests run there.
DEVICE = "auto"


def checkpoint(name: str, folder: Path) -> Path:
    """The folder of `current` or `stale`; `half`, the mean of both, is made in `folder`."""
    if name != "half":
        return FOLDER / f"ckpt_{name}"
    made = folder / "half"
    if not made.is_dir():
        shutil.copytree(checkpoint("current", folder), made)
        one, other = (
            load_file(checkpoint(of, folder) / "model.safetensors") for of in ("current", "stale")
        )
        mean = {key: (one[key] + other[key]) / 2 for key in one}
        save_file(mean, made / "model.safetensors", metadata={"format": "pt"})
    return made


@cache
def recomputed(key: str, folder: Path) -> StageOne:
    """What stage 1 gives for `current.fp32.T0.7` and the like."""
    name, dtype, temperature = key.split(".", 2)
    settings = Settings(
        temperature=float(temperature.removeprefix("T")),
        dtype=DTYPES[dtype],  # type: ignore[arg-type]
        device=DEVICE,
        tokens=96,
        chunk=4096,
    )
    return recompute(BATCH, checkpoint(name, folder), settings)


def largest(difference: Tensor) -> float:
    """The largest absolute difference."""
    return float(torch.as_tensor(difference).abs().max())
