"""Writing one recorded batch: complete under its name, or not there at all."""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import os
import shutil
import socket
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from safetensors.torch import save_file

from analyzer.replay.folder import (
    BATCH,
    KIND,
    MANIFEST,
    SCHEMA_VERSION,
    UNFINISHED,
    step_folder,
)
from analyzer.replay.layout import dtype_name
from analyzer.replay.recording.job import Job

_PART = ".part-"
_NUMBER = itertools.count()  # several recorders of a process may write to one folder


def write(root: Path, job: Job) -> Path:
    """Write a batch below a folder and return its own.

    A process that is killed in the middle leaves a folder whose name begins with a dot, which no
    reader takes for a batch. Raises OSError; then nothing is left.
    """
    root.mkdir(parents=True, exist_ok=True)
    mine = f"{socket.gethostname()}-{os.getpid()}-{next(_NUMBER)}"
    part = root / f"{UNFINISHED}{step_folder(job.step)}{_PART}{mine}"
    try:
        part.mkdir()
        save_file(dict(job.tensors), part / BATCH)
        entry = _settled(part / BATCH)
        text = json.dumps(_manifest(job, entry), indent=1, ensure_ascii=False)
        (part / MANIFEST).write_text(text + "\n", "utf-8")
        _settled(part / MANIFEST)
        return _renamed(part, root, job.step)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise


def _manifest(job: Job, entry: Mapping[str, Any]) -> dict[str, Any]:
    tensors: dict[str, dict[str, Any]] = {}
    for name, tensor in job.tensors.items():
        tensors[name] = {"dtype": dtype_name(tensor.dtype), "shape": list(tensor.shape)}
        if name in job.captured.came_as:
            tensors[name]["came_as"] = job.captured.came_as[name]
    return {
        "kind": KIND,
        "schema_version": SCHEMA_VERSION,
        "step": job.step,
        **job.manifest,
        "tensors": tensors,
        "files": {BATCH: entry},
        "written": datetime.now(UTC).isoformat(timespec="milliseconds"),
    }


def _settled(path: Path) -> dict[str, Any]:
    """The size and hash of a file that has reached the disk."""
    with path.open("rb") as file:
        os.fsync(file.fileno())
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        return {"bytes": file.tell(), "sha256": digest}


def _renamed(part: Path, root: Path, step: int) -> Path:
    """A step that was recorded before, by a run that was restarted, keeps its folder."""
    again = 0
    while True:
        final = root / step_folder(step, again)
        with contextlib.suppress(FileExistsError):
            if not final.exists():
                part.rename(final)
                return final
        again += 1


def bytes_below(root: Path) -> int:
    """What a folder takes on disk; 0 where there is none."""
    total = 0
    for folder, _, names in os.walk(root):
        for name in names:
            with contextlib.suppress(OSError):
                total += os.lstat(os.path.join(folder, name)).st_size
    return total


def sweep(root: Path) -> None:
    """Remove what recorders of this machine left unfinished when they were killed."""
    mine = f"{_PART}{socket.gethostname()}-"
    for path in root.glob(f"{UNFINISHED}step_*{_PART}*"):
        _, found, rest = path.name.partition(mine)
        process = rest.partition("-")[0]
        if found and process.isdigit() and not _runs(int(process)):
            shutil.rmtree(path, ignore_errors=True)


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
