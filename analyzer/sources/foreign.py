"""What a run's directory holds beside logs of a known format, named as what it is."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from analyzer.errors import RunError
from analyzer.sources.opening import read_head

RECORDED = "recorded batches, read by the replay"
_LATER = "not read by this version"
_WANDB_FILES = "what Weights & Biases keeps beside its run file"
_SWANLAB_FILES = "what SwanLab keeps beside its run file"
_SWANLAB_CUT = "SwanLab run file without its header"
_AIM = f"Aim repository (RocksDB, which only Aim reads; export the run as CSV): {_LATER}"
_WEIGHTS = "model weights or checkpoints"

_NOT_A_RUN = {
    ".analyzer": "the store of this program",
    ".git": "not part of a run",
    ".venv": "not part of a run",
    "__pycache__": "not part of a run",
    "node_modules": "not part of a run",
    "checkpoint": _WEIGHTS,
    "checkpoints": _WEIGHTS,
    ".aim": _AIM,
    ".trash": "deleted MLflow runs",
}
_WEIGHT_SUFFIXES = (".safetensors", ".distcp", ".ckpt", ".pt", ".pth", ".gguf")
_WANDB_FOLDERS = ("files", "logs", "tmp")
_SWANLAB_FOLDERS = ("files", "logs", "console", "debug", "media")
_SQLITE = b"SQLite format 3\x00"
_RECORDED_KIND = re.compile(rb'"kind"\s*:\s*"recorded-batch"')


# Looked at although the folder around them is left aside.
_KEPT = {_WEIGHTS: frozenset(["trainer_state.json"]), _WANDB_FILES: frozenset(["output.log"])}


def kept_of(reason: str) -> frozenset[str]:
    """Names of files that are looked at in a folder which is left aside for this reason."""
    return _KEPT.get(reason, frozenset())


def foreign_folder(folder: Path, entries: Iterable[str]) -> str | None:
    """Why a whole folder is left aside; None when its files are to be looked at."""
    names = set(entries)
    if folder.name in _NOT_A_RUN:
        return _NOT_A_RUN[folder.name]
    if folder.name in _WANDB_FOLDERS and any(folder.parent.glob("*.wandb")):
        return _WANDB_FILES
    if folder.name in _SWANLAB_FOLDERS and any(folder.parent.glob("*.swanlab")):
        return _SWANLAB_FILES
    if "manifest.json" in names and _is_recorded(folder / "manifest.json"):
        return RECORDED
    if _any_ends(names, _WEIGHT_SUFFIXES):
        return _WEIGHTS
    return None


def foreign_file(path: Path, head: bytes) -> str | None:
    """What a file of no known format is, where that can be said."""
    if path.suffix == ".wandb" or head[:4] == b":W&B":
        return "Weights & Biases run file without its header"
    if head[:4] == b":SWL":
        return f"SwanLab run file of version {head[6]}: {_LATER}" if len(head) > 6 else _SWANLAB_CUT
    if path.suffix == ".swanlab":
        return _SWANLAB_CUT
    if head.startswith(_SQLITE):
        return f"SQLite database of another program: {_LATER}"
    if path.name == "meta.yaml" and b"experiment_id:" in head:
        return "the description of an MLflow experiment"
    return None


def _is_recorded(manifest: Path) -> bool:
    try:
        return _RECORDED_KIND.search(read_head(manifest)) is not None
    except RunError:
        return False


def _any_ends(names: set[str], suffixes: tuple[str, ...]) -> bool:
    return any(name.endswith(suffixes) for name in names)
