"""The files of a dump, folder after folder, so that a million of them need no list of their own."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from analyzer.sources.opening import unreadable

_DEEPEST = 3


@dataclass(frozen=True, slots=True)
class DumpFile:
    """A file of a dump as it lies on disk."""

    folder: str  # below the dump, "" for the dump itself; POSIX
    name: str
    path: Path
    bytes: int
    mtime_ns: int


def dump_files(dump: Path, wanted: re.Pattern[str]) -> Iterator[tuple[str, list[DumpFile]]]:
    """The dump's files by folder, numbers in their order; a dump may be a single file.

    Raises RunError where a folder cannot be read.
    """
    if dump.is_file():
        stat = dump.stat()
        yield "", [DumpFile("", dump.name, dump, stat.st_size, stat.st_mtime_ns)]
        return
    yield from _below(dump, "", wanted, _DEEPEST)


def _below(
    folder: Path, relative: str, wanted: re.Pattern[str], depth: int
) -> Iterator[tuple[str, list[DumpFile]]]:
    try:
        with os.scandir(folder) as entries:
            listed = sorted(entries, key=lambda entry: natural(entry.name))
    except OSError as cause:
        raise unreadable(folder, cause) from cause
    prefix = f"{relative}/" if relative else ""
    files = []
    for entry in listed:
        if wanted.fullmatch(prefix + entry.name) and entry.is_file():
            stat = entry.stat()
            if stat.st_size:
                size, time = stat.st_size, stat.st_mtime_ns
                files.append(DumpFile(relative, entry.name, Path(entry.path), size, time))
    if files:
        yield relative, files
    for entry in listed:
        if depth and entry.is_dir(follow_symlinks=False):
            yield from _below(Path(entry.path), prefix + entry.name, wanted, depth - 1)


def natural(name: str) -> tuple[tuple[int, str], ...]:
    """A key by which `9` stands before `10`."""
    parts = re.split(r"(\d+)", name)
    return tuple((int(p), "") if p.isdecimal() else (-1, p) for p in parts)


@dataclass(frozen=True, slots=True)
class Listing:
    """A dump as a whole: equal digests mean that no file came, went or changed."""

    digest: str
    files: int
    bytes: int


def listing(dump: Path, wanted: re.Pattern[str]) -> Listing:
    """Names, sizes and times of all files, digested."""
    digest = hashlib.sha256()
    count = size = 0
    for folder, files in dump_files(dump, wanted):
        for file in files:
            digest.update(f"{folder}/{file.name}\0{file.bytes}\0{file.mtime_ns}\n".encode())
            count += 1
            size += file.bytes
    return Listing(digest.hexdigest(), count, size)


@dataclass(frozen=True, slots=True)
class Known:
    """A file as it was when it was read."""

    size: int
    mtime_ns: int
    taken: int
    sha256: bytes


class KnownFiles:
    """What was read before (DUMP_FILE_ROWS, in the order of the walk), looked up by folder."""

    def __init__(self, table: pa.Table | None = None) -> None:
        self._table = table
        self._spans: dict[str, tuple[int, int]] = {}
        self.count = 0 if table is None else len(table)
        if table is None or not len(table):
            return
        folders = table["folder"].combine_chunks()
        codes = np.asarray(folders.indices)
        starts = np.flatnonzero(np.r_[True, codes[1:] != codes[:-1]])
        ends = np.r_[starts[1:], len(codes)]
        names = folders.dictionary.to_pylist()
        for start, end in zip(starts, ends, strict=True):
            self._spans[names[codes[start]]] = (int(start), int(end))

    def of(self, folder: str) -> dict[str, Known]:
        """The known files of one folder, by name."""
        if self._table is None or folder not in self._spans:
            return {}
        start, end = self._spans[folder]
        rows = self._table.slice(start, end - start)
        columns = (rows[name].to_pylist() for name in ("bytes", "mtime_ns", "taken", "sha256"))
        known = (Known(*row) for row in zip(*columns, strict=True))
        return dict(zip(rows["name"].to_pylist(), known, strict=True))
