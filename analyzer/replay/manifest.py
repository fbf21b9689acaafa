"""What a recorded batch says of itself, and where a run has such batches. Needs no torch."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from analyzer.errors import Location, RunError
from analyzer.replay.config import ReplayConfig
from analyzer.replay.conventions import VERSIONS
from analyzer.replay.folder import BATCH, DEFAULT_FOLDER, MANIFEST, SCHEMA_VERSION, UNFINISHED

LARGEST_MANIFEST = 16 * 2**20  # bytes; the longest part is a number for each row kept

_KIND = re.compile(rb'"kind"\s*:\s*"recorded-batch"')
_VERSION = re.compile(rb'"schema_version"\s*:\s*(\d{1,9})\b')
_HEAD = 4096  # bytes in which the kind and the version stand


def _conventions(name: str) -> str:
    if name not in (*VERSIONS, "auto"):
        raise ValueError(f"is none of {', '.join((*VERSIONS, 'auto'))}")
    return name


def _file_name(name: str) -> str:
    if name in ("", ".", "..") or any(c in name for c in '/\\:\0"'):
        raise ValueError("is no plain file name")
    return name


def _path(text: str) -> str:
    if not text or "\0" in text:
        raise ValueError("is no path")
    return text


FileName = Annotated[str, AfterValidator(_file_name)]
PathText = Annotated[str, AfterValidator(_path)]
Conventions = Annotated[str, AfterValidator(_conventions)]
Count = Annotated[int, Field(ge=0)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Sampling(_Strict):
    """How the rollout engine drew the tokens; None where that is not known."""

    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    dtype: str | None = None


class Trainer(_Strict):
    """In what the trainer computes log-probs."""

    dtype: str | None = None
    attention: str | None = None


class Rows(_Strict):
    """Which rows of the batch as trained on were recorded; `kept` None: all of them."""

    of: Annotated[int, Field(ge=1)]
    kept: tuple[Count, ...] | None = None


class TensorEntry(_Strict):
    """A tensor as it is stored."""

    dtype: str
    shape: tuple[Count, ...]
    came_as: str | None = None
    """The dtype in which the trainer had it, where it was stored in a wider one."""


class FileEntry(_Strict):
    """A file beside the manifest."""

    bytes: Count
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


class Text(_Strict):
    """What turns token ids into text: a folder with a tokenizer."""

    tokenizer: PathText


class BundleManifest(_Strict):
    """`manifest.json` of a recorded batch; paths in it are relative to its folder, or absolute."""

    kind: Literal["recorded-batch"]
    schema_version: Literal[1]
    step: Count
    """Training step, from 0."""
    framework: str
    framework_version: str | None = None
    conventions: Conventions = "auto"
    config: ReplayConfig
    sampling: Sampling = Sampling()
    trainer: Trainer = Trainer()
    rows: Rows
    tensors: dict[str, TensorEntry]
    files: dict[FileName, FileEntry]
    checkpoints: dict[Count, PathText] = {}
    """Policy version → folder of a Hugging Face checkpoint."""
    text: Text | None = None
    notes: tuple[str, ...] = ()
    """What the recorder could not keep as it was, in words."""
    written: AwareDatetime


@dataclass(frozen=True, slots=True)
class RecordedStep:
    """A recorded batch of a run: what it is, or why it cannot be read."""

    path: Path
    bytes: int
    """Of all its files; 0 where they cannot be told."""
    manifest: BundleManifest | None
    fault: str = ""
    """In one line; empty where the batch can be read as far as its manifest and sizes say."""

    @property
    def step(self) -> int | None:
        """The training step, from 0; None where the manifest cannot be read."""
        return None if self.manifest is None else self.manifest.step

    @property
    def rows(self) -> int | None:
        """Sequences recorded; None where the manifest cannot be read."""
        if self.manifest is None:
            return None
        rows = self.manifest.rows
        return rows.of if rows.kept is None else len(rows.kept)


def is_recorded(folder: Path) -> bool:
    """Does the folder hold a recorded batch, or what is left of one?"""
    try:
        with (folder / MANIFEST).open("rb") as file:
            head = file.read(_HEAD)
    except OSError:
        return False
    return _KIND.search(head) is not None or (folder / BATCH).is_file()


def read_manifest(folder: Path) -> BundleManifest:
    """The manifest of a recorded batch.

    Raises RunError, in one line, where it is missing, cut, of a later version, or not as described
    here.
    """
    path = folder / MANIFEST
    at = Location(str(path))
    try:
        size = path.stat().st_size
        if size > LARGEST_MANIFEST:
            raise RunError(f"has {size:,} bytes, too many for a manifest", at=at)
        content = path.read_bytes()
    except OSError as cause:
        raise RunError(f"cannot be read: {cause.strerror or cause}", at=at) from cause
    found = _VERSION.search(content[:_HEAD])
    if found and int(found[1]) > SCHEMA_VERSION:
        raise RunError(
            f"has schema version {int(found[1])}; this program reads {SCHEMA_VERSION}",
            at=at,
            hint="install a newer analyzer",
        )
    try:
        return _checked(BundleManifest.model_validate_json(content), at)
    except ValidationError as cause:
        raise RunError(_faults(cause), at=at, hint="record the batch again") from None


def _checked(manifest: BundleManifest, at: Location) -> BundleManifest:
    rows = manifest.rows
    if BATCH not in manifest.files:
        raise RunError(f"names no file {BATCH}", at=at, hint="record the batch again")
    kept = rows.kept
    if kept is not None and (not kept or list(kept) != sorted(set(kept)) or kept[-1] >= rows.of):
        message = f"rows.kept are not rising numbers below {rows.of}, of at least one row"
        raise RunError(message, at=at, hint="record the batch again")
    return manifest


def _faults(cause: ValidationError) -> str:
    """The first fault in words, and how many more there are."""
    faults = cause.errors(include_url=False, include_context=False)
    first = faults[0]
    where = ".".join(str(part) for part in first["loc"] if part != "[key]")
    words = " ".join(first["msg"].removeprefix("Value error, ").split())
    shown = "not valid: " if not where else f"{where}: "
    more = f", and {len(faults) - 1} more" if len(faults) > 1 else ""
    return f"{shown}{words[:1].lower()}{words[1:]}{more}"


def find_recorded(run: Path) -> tuple[RecordedStep, ...]:
    """The recorded batches below a run's directory, by step, then by when they were written.

    Those that cannot be read come last, with the reason. Of a single log, the batches recorded
    beside it. Nothing is hashed: `read_bundle` does that.
    """
    found = [_recorded_step(folder) for folder in _folders(run)]
    return tuple(sorted(found, key=_order))


def _order(recorded: RecordedStep) -> tuple[bool, int, float, str]:
    manifest = recorded.manifest
    if manifest is None:
        return True, 0, 0.0, str(recorded.path)
    return False, manifest.step, manifest.written.timestamp(), str(recorded.path)


def _folders(run: Path) -> Iterator[Path]:
    """Folders of recorded batches; links are not followed, but for the default folder itself."""
    beside = (run if run.is_dir() else run.parent) / DEFAULT_FOLDER
    roots = [run] if run.is_dir() else []
    if beside.is_symlink() or not roots:
        roots.append(beside)
    for root in roots:
        for name, folders, files in os.walk(root):
            folders[:] = sorted(f for f in folders if not f.startswith(UNFINISHED))
            if MANIFEST in files and is_recorded(Path(name)):
                folders.clear()
                yield Path(name)


def _recorded_step(folder: Path) -> RecordedStep:
    try:
        manifest = read_manifest(folder)
    except RunError as error:
        return RecordedStep(folder, 0, None, str(error))
    size = 0
    for name, entry in manifest.files.items():
        try:
            check_size(folder / name, entry)
        except RunError as error:
            return RecordedStep(folder, 0, manifest, str(error))
        size += entry.bytes
    return RecordedStep(folder, size, manifest)


def check_size(path: Path, entry: FileEntry) -> None:
    """Raise RunError where a file is missing or not as long as its manifest says."""
    at = Location(str(path))
    try:
        size = path.stat().st_size
    except OSError as cause:
        raise RunError(f"cannot be read: {cause.strerror or cause}", at=at) from cause
    if size != entry.bytes:
        word = "is cut" if size < entry.bytes else "is longer than recorded"
        raise RunError(
            f"{word}: {size:,} bytes, {entry.bytes:,} in {MANIFEST}",
            at=at,
            hint="record the batch again",
        )
