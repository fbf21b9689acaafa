"""One recorded batch: a folder with `batch.safetensors`, and `manifest.json` or `config.yaml`."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from analyzer.errors import Location, RunError
from analyzer.replay import conventions, layout
from analyzer.replay.config import ReplayConfig, load_config
from analyzer.replay.folder import BATCH, MANIFEST
from analyzer.replay.layout import SPLIT, dtype_name, wrong
from analyzer.replay.manifest import BundleManifest, check_size, read_manifest

CONFIG = "config.yaml"
EXPECTED = "expected.safetensors"
LARGEST = 4 * 2**30  # bytes of tensors; a step's batch of a large run has some hundred million


@dataclass(frozen=True)
class Split:
    """Which minibatch and which micro-batch in it each row went to; -1 for none."""

    minibatch: tuple[int, ...]
    microbatch: tuple[int, ...]


@dataclass(frozen=True)
class Bundle:
    """A batch as it was recorded, right-padded, with the configuration it was trained under."""

    path: Path
    tensors: Mapping[str, torch.Tensor]
    config: ReplayConfig
    raw_config: Mapping[str, Any] = field(default_factory=dict)
    split: Split | None = None
    """As recorded; asked for only where rows of equal length leave the split open."""
    manifest: BundleManifest | None = None
    """What the recorder wrote of the batch; None where `config.yaml` is all there is."""
    dtypes: Mapping[str, str] = field(default_factory=dict)
    """The dtype each tensor had in the trainer: what its numbers are precise to."""
    notes: tuple[str, ...] = ()
    """What a reader has to know of the batch before they compare anything with it."""

    @property
    def rows(self) -> int:
        """The number of sequences."""
        return int(self.tensors["input_ids"].shape[0])

    @property
    def rows_of(self) -> int:
        """The number of sequences of the batch as it was trained on."""
        return self.rows if self.manifest is None else self.manifest.rows.of

    @property
    def complete(self) -> bool:
        """Is every row here? If not, statistics of the whole batch cannot be compared."""
        return self.rows == self.rows_of

    def conventions(self, asked: str = "auto") -> conventions.Conventions:
        """The conventions asked for; for `auto` those recorded, else those the configuration shows.

        Raises UsageError for an unknown name.
        """
        if asked == "auto" and self.manifest is not None:
            asked = self.manifest.conventions
        return conventions.resolve(asked, self.raw_config)

    def checkpoint(self, version: int) -> Path | None:
        """The folder of that policy version's weights; None where none was recorded."""
        if self.manifest is None or version not in self.manifest.checkpoints:
            return None
        return self.path / self.manifest.checkpoints[version]


def read_bundle(folder: Path, largest: int = LARGEST) -> Bundle:
    """The batch recorded in a folder, at most `largest` bytes of tensors.

    Raises RunError, in one line, for a folder or file that is missing, cut, too large, not the one
    that was recorded, or does not fit the others.
    """
    hint = f"a recorded batch is a folder with {BATCH} and {MANIFEST} or {CONFIG}"
    if not folder.is_dir():
        raise RunError("is no folder", at=Location(str(folder)), hint=hint)
    by_recorder = (folder / MANIFEST).is_file()
    for name in (BATCH, MANIFEST if by_recorder else CONFIG):
        if not (folder / name).is_file():
            raise RunError(f"holds no {name}", at=Location(str(folder)), hint=hint)
    return _by_recorder(folder, largest) if by_recorder else _with_config(folder, largest)


def _with_config(folder: Path, largest: int) -> Bundle:
    config, raw = load_config(folder / CONFIG)
    path = folder / BATCH
    tensors = layout.load(path, largest)
    layout.check(path, tensors, _logged(config), needed=("new_logprobs",))
    _check_groups(folder / CONFIG, config, tensors)
    dtypes = {name: dtype_name(tensor.dtype) for name, tensor in tensors.items()}
    split = _split(folder, tensors, largest)
    return Bundle(folder, _without_split(tensors), config, raw, split, dtypes=dtypes)


def _by_recorder(folder: Path, largest: int) -> Bundle:
    manifest = read_manifest(folder)
    path, entry = folder / BATCH, manifest.files[BATCH]
    check_size(path, entry)
    if entry.bytes <= largest and _sha256(path) != entry.sha256:
        raise wrong(path, f"is not the file of {MANIFEST}: sha256 differs", "record it again")
    tensors = layout.load(path, largest)
    _check_described(path, tensors, manifest)
    layout.check(path, tensors, _logged(manifest.config), rounded=True)
    _check_groups(folder / MANIFEST, manifest.config, tensors)
    dtypes = {name: entry.came_as or entry.dtype for name, entry in manifest.tensors.items()}
    tensors = {
        name: tensor.float() if tensor.dtype in layout.ROUNDED else tensor
        for name, tensor in tensors.items()
    }
    return Bundle(
        folder,
        _without_split(tensors),
        manifest.config,
        manifest.config.model_dump(exclude_unset=True),
        _split_in(tensors),
        manifest,
        dtypes,
        _notes(manifest, dtypes),
    )


def _check_described(
    path: Path, tensors: Mapping[str, torch.Tensor], manifest: BundleManifest
) -> None:
    """Raise RunError where the tensors are not those that the manifest describes."""
    if tensors.keys() != manifest.tensors.keys():
        names = ", ".join(sorted(tensors.keys() ^ manifest.tensors.keys()))
        raise wrong(path, f"has other tensors than {MANIFEST}: {names}")
    for name, entry in manifest.tensors.items():
        shape, dtype = tuple(tensors[name].shape), dtype_name(tensors[name].dtype)
        if shape != entry.shape or dtype != entry.dtype:
            raise wrong(
                path,
                f"{name} is {dtype} {list(shape)}, but {entry.dtype} {list(entry.shape)} "
                f"in {MANIFEST}",
            )
    rows = manifest.rows
    recorded = rows.of if rows.kept is None else len(rows.kept)
    found = tensors["input_ids"].shape[:1] if "input_ids" in tensors else ()
    if found and found[0] != recorded:
        raise wrong(path, f"has {found[0]} rows, but {recorded} in {MANIFEST}")


def _check_groups(path: Path, config: ReplayConfig, tensors: Mapping[str, torch.Tensor]) -> None:
    sizes = config.traj_group_sizes
    rows = int(tensors["input_ids"].shape[0])
    if sizes is not None and (sum(sizes) != rows or min(sizes, default=0) < 1):
        raise wrong(path, f"traj_group_sizes {list(sizes)} do not add up to the {rows} rows")


def _notes(manifest: BundleManifest, dtypes: Mapping[str, str]) -> tuple[str, ...]:
    notes = list(manifest.notes)
    rows = manifest.rows
    if rows.kept is not None and len(rows.kept) < rows.of:
        notes.append(
            f"{len(rows.kept)} of {rows.of} rows were recorded: what is computed over the whole "
            "batch (statistics, normalisation, minibatches) is not what the run computed"
        )
    rounded = [name for name, dtype in dtypes.items() if dtype in ("bfloat16", "float16")]
    if rounded:
        kinds = ", ".join(f"{name} {dtypes[name]}" for name in sorted(rounded))
        notes.append(f"rounded before they were recorded: {kinds}")
    return tuple(notes)


def _logged(config: ReplayConfig) -> tuple[str, ...]:
    actor = config.actor
    return actor.log_agent_stats_keys if actor.log_agent_stats else ()


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _without_split(tensors: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    return {name: tensor for name, tensor in tensors.items() if name not in SPLIT}


def _split(folder: Path, tensors: Mapping[str, torch.Tensor], largest: int) -> Split | None:
    """The split as it was recorded, with the batch or among the values expected of it."""
    if not all(name in tensors for name in SPLIT):
        if not (folder / EXPECTED).is_file():
            return None
        tensors = layout.load(folder / EXPECTED, largest)
    return _split_in(tensors)


def _split_in(tensors: Mapping[str, torch.Tensor]) -> Split | None:
    found = [tensors.get(name) for name in SPLIT]
    if any(tensor is None for tensor in found):
        return None
    mini, micro = (tuple(tensor.tolist()) for tensor in found if tensor is not None)
    return Split(mini, micro)
