"""Recorded batches made of the golden ones, without the recorder."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import torch
from golden_cases import FOLDER, find
from ruamel.yaml import YAML
from safetensors.torch import load_file, save_file


def golden_tensors(case: str) -> dict[str, torch.Tensor]:
    """The tensors of a golden case."""
    found: dict[str, torch.Tensor] = load_file(FOLDER / find(case) / "batch.safetensors")
    return found


def golden_config(case: str) -> dict[str, Any]:
    """Its configuration, as plain data."""
    text = (FOLDER / find(case) / "config.yaml").read_text("utf-8")
    loaded: dict[str, Any] = YAML(typ="safe", pure=True).load(text)
    return loaded


def manifest_of(
    folder: Path, tensors: dict[str, torch.Tensor], config: dict[str, Any]
) -> dict[str, Any]:
    """The manifest of a batch that was recorded whole at step 12, as plain data."""
    content = (folder / "batch.safetensors").read_bytes()
    return {
        "kind": "recorded-batch",
        "schema_version": 1,
        "step": 12,
        "framework": "areal",
        "framework_version": "2.0.0",
        "conventions": "auto",
        "config": config,
        "sampling": {"temperature": 1.0, "top_p": 1.0, "top_k": None, "dtype": "bfloat16"},
        "trainer": {"dtype": "float32", "attention": "sdpa"},
        "rows": {"of": len(tensors["rewards"]), "kept": None},
        "tensors": {
            name: {"dtype": str(t.dtype).removeprefix("torch."), "shape": list(t.shape)}
            for name, t in tensors.items()
        },
        "files": {
            "batch.safetensors": {
                "bytes": len(content),
                "sha256": hashlib.sha256(content).hexdigest(),
            }
        },
        "checkpoints": {"12": "../../checkpoints/v12"},
        "text": None,
        "written": "2026-11-30T12:00:00Z",
    }


def write_recorded(folder: Path, case: str, **changed: torch.Tensor | None) -> dict[str, Any]:
    """Write a golden case as a recorded batch, tensors changed or (None) left out."""
    folder.mkdir(parents=True, exist_ok=True)
    merged = golden_tensors(case) | changed
    tensors = {name: tensor for name, tensor in merged.items() if tensor is not None}
    save_file(tensors, folder / "batch.safetensors")
    manifest = manifest_of(folder, tensors, golden_config(case))
    write_manifest(folder, manifest)
    return manifest


def write_manifest(folder: Path, manifest: dict[str, Any]) -> None:
    """Write a manifest, fitting or not."""
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=1), "utf-8")
