"""The files below a folder as the file system lists them: what tells that something changed."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, field
from pathlib import Path

from analyzer.sources.opening import unreadable


@dataclass
class Folder:
    """A folder; links to folders are not followed, as in the reading of a run."""

    path: Path
    folders: list[Folder] = field(default_factory=list)
    files: list[Path] = field(default_factory=list)
    error: str = ""  # why it cannot be listed
    listing: str = ""  # digest of names, sizes, times and permissions of all that is below
    newest: float = 0.0  # seconds; when the last of its files was written


def listed(path: Path, aside: Path | None = None) -> Folder:
    """Everything below a folder, but for one that is left aside."""
    folder = Folder(path)
    digest = hashlib.sha256()
    try:
        digest.update(f"{path.stat().st_mode}".encode())
        entries = sorted(os.scandir(path), key=lambda entry: entry.name)
    except OSError as cause:
        folder.error = f"{path}: {unreadable(path, cause).message}"
        entries = []
    for entry in entries:
        inside = Path(entry.path)
        if inside == aside:
            continue
        if entry.is_dir(follow_symlinks=False):
            below = listed(inside, aside)
            folder.folders.append(below)
            state, newest = below.listing, below.newest
        elif inside.is_dir():
            continue
        else:
            folder.files.append(inside)
            state, newest = file_state(inside)
        digest.update(f"\0{entry.name}\0{state}".encode())
        folder.newest = max(folder.newest, newest)
    folder.listing = digest.hexdigest()
    return folder


def file_state(path: Path) -> tuple[str, float]:
    """What changes when a file is written or its permissions are, and when it was written."""
    try:
        status = path.stat()
    except OSError as cause:
        return str(cause.errno), 0.0
    return (
        f"{status.st_size} {status.st_mtime_ns} {status.st_mode} {status.st_uid}",
        status.st_mtime,
    )
