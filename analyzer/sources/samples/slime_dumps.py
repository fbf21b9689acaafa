"""slime: `<any>_<rollout>.pt`, as `--save-debug-rollout-data` writes them.

A pickle in a zip archive, `{rollout_id, samples: [Sample.to_dict(), …]}` (slime/ray/rollout.py,
slime/utils/types.py). It is read without torch and without running anything of it: every class in
it but plain containers becomes an empty stand-in, and tensors are left out.
"""

from __future__ import annotations

import hashlib
import io
import pickle
import re
import zipfile
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analyzer.sources.samples.layout import number_in, split_of
from analyzer.sources.samples.sample import (
    Sample,
    Split,
    Taken,
    conversation,
    number,
    reply,
    whole,
)

_MOST_BYTES = 2 << 30  # of the pickle; a rollout of long texts has a few hundred million
_PLAIN = {("collections", "OrderedDict"): OrderedDict}
_DAMAGED = (
    OSError,
    zipfile.BadZipFile,
    pickle.UnpicklingError,
    EOFError,
    ValueError,
    KeyError,
    IndexError,
    AttributeError,
    TypeError,
)


class SlimeDumps:
    """Rollouts that slime saves for debugging."""

    format = "slime-rollouts"
    describes = "slime debug rollout data (<name>_<rollout>.pt)"
    framework = "slime"
    files = re.compile(r"[^/]*\d+\.pt")
    entries = re.compile(r"[^/]*\d+\.pt")
    reads = "one row a sample: reward, status, lengths, measures of its text"
    leaves = "tensors, log-probabilities, rewards that are dictionaries"
    tested = "the layout of slime 0.1 to 0.2, from its source"

    def sniff(self, path: Path, head: bytes) -> bool:
        """A zip archive whose pickle begins with the rollout's id or its samples."""
        if not head.startswith(b"PK\x03\x04") or b"data.pkl" not in head:
            return False
        return b"rollout_id" in head and b"samples" in head

    def resumes(self, relative: str) -> bool:
        """An archive is written at once."""
        return False

    def samples(self, path: Path, relative: str, offset: int, digest: hashlib._Hash) -> Pickled:
        """One sample an entry of the list."""
        return Pickled(path, number_in(relative.rpartition("/")[2]), split_of(relative), digest)


@dataclass
class Pickled:
    """The samples of one archive."""

    path: Path
    step: int | None
    split: Split
    digest: hashlib._Hash

    def __iter__(self) -> Iterator[Sample]:
        self._bad = self._size = 0
        try:
            with self.path.open("rb") as handle:
                while block := handle.read(1 << 20):
                    self.digest.update(block)
                    self._size += len(block)
            records = pickled_samples(self.path)
        except _DAMAGED:
            self._bad = 1
            return
        for place, record in enumerate(records):
            sample = self._sample(record)
            if sample is None:
                self._bad += 1
                continue
            sample.offset = place
            yield sample

    @property
    def taken(self) -> Taken:
        """The whole file."""
        return Taken(self._size, self.digest.digest(), self._bad, 0 if self._bad else None)

    def _sample(self, record: dict[str, Any]) -> Sample | None:
        prompt, completion = conversation(record.get("prompt")), reply(record.get("response"))
        if prompt is None or completion is None:
            return None
        tokens, response = record.get("tokens"), whole(record.get("response_length"))
        length = len(tokens) if isinstance(tokens, list) and tokens else None
        group, status = whole(record.get("group_index")), record.get("status")
        return Sample(
            prompt,
            completion,
            step=self.step,
            split=self.split,
            task_id=None if group is None else str(group),
            sample_idx=whole(record.get("index")),
            prompt_len=None if length is None or response is None else length - response,
            seq_len=length,
            reward=number(record.get("reward")),
            truncated=status == "truncated" if isinstance(status, str) else None,
        )


def pickled_samples(path: Path) -> list[dict[str, Any]]:
    """The records of an archive. Raises one of many errors where it is damaged."""
    with zipfile.ZipFile(path) as archive:
        name = next(n for n in archive.namelist() if n.endswith("/data.pkl") or n == "data.pkl")
        if archive.getinfo(name).file_size > _MOST_BYTES:
            raise ValueError("the pickle is too large")
        data = _Inert(io.BytesIO(archive.read(name))).load()
    return [record for record in data["samples"] if isinstance(record, dict)]


class _Stand:
    """In the place of anything but plain data."""

    def __init__(self, *_: object, **__: object) -> None: ...

    def __setstate__(self, _: object) -> None: ...


class _Inert(pickle.Unpickler):
    """Builds plain containers; runs nothing that the file names."""

    def find_class(self, module: str, name: str) -> Any:
        return _PLAIN.get((module, name), _Stand)

    def persistent_load(self, _: Any) -> Any:
        return _Stand()
