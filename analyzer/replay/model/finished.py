"""Finished micro-batches kept in a folder, so that an interrupted replay goes on where it was."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, fields
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save

from analyzer.errors import Location, RunError
from analyzer.replay.model.checkpoint import Checkpoint, fingerprint
from analyzer.replay.model.logprobs import TokenValues
from analyzer.replay.model.rows import MicroBatch
from analyzer.replay.model.settings import Settings


@dataclass(frozen=True)
class Finished:
    """A folder of results, each named by all that it follows from."""

    folder: Path
    origin: bytes
    """What is the same for every micro-batch: weights, settings, versions, kind of device."""

    @staticmethod
    def of(folder: Path, checkpoint: Checkpoint, settings: Settings) -> Finished:
        """The results of this checkpoint and these settings. Reads the whole checkpoint once."""
        import transformers

        origin = (
            fingerprint(checkpoint.path),
            repr(settings),
            checkpoint.device.type,
            torch.__version__,
            transformers.__version__,
        )
        return Finished(folder, "\n".join(origin).encode())

    def read(self, part: MicroBatch) -> TokenValues | None:
        """The result for this micro-batch; None where there is none, or a damaged one."""
        path = self._path(part)
        if not path.is_file():
            return None
        try:
            with safe_open(path, framework="pt") as file:
                kept = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            return TokenValues(
                kept["logprobs"], kept.get("entropy"), kept.get("smallest"), kept.get("largest")
            )
        except (SafetensorError, OSError, ValueError, KeyError):
            return None

    def write(self, part: MicroBatch, values: TokenValues) -> None:
        """Keep a result, under a temporary name first. Raises RunError where it cannot be."""
        tensors = {
            field.name: tensor.cpu().contiguous()
            for field in fields(TokenValues)
            if (tensor := getattr(values, field.name)) is not None
        }
        path = self._path(part)
        temporary = path.with_name(path.name + ".part")
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            temporary.write_bytes(save(tensors))
            temporary.replace(path)
        except OSError as cause:
            reason = cause.strerror or str(cause)
            raise RunError(f"cannot be written: {reason}", at=Location(str(path))) from cause

    def _path(self, part: MicroBatch) -> Path:
        digest = hashlib.blake2b(self.origin, digest_size=16)
        digest.update(repr(tuple(part.ids.shape)).encode())
        digest.update(part.ids.numpy().tobytes())
        digest.update(part.wanted.numpy().tobytes())
        return self.folder / f"{digest.hexdigest()}.safetensors"
