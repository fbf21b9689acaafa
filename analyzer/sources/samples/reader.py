"""Reads a dump: a folder of many files, or one, from where the last reading ended."""

from __future__ import annotations

import hashlib
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from analyzer.errors import RunError
from analyzer.sources.opening import read_head
from analyzer.sources.records import Chunk, Facts, Kin, Note, Reading, Resume, Role
from analyzer.sources.samples.files import DumpFile, Known, KnownFiles, dump_files, listing
from analyzer.sources.samples.layout import Layout
from analyzer.sources.samples.rows import SampleRows, file_rows
from analyzer.sources.samples.sample import Sample


class DumpChanged(Exception):
    """Something but growth has happened to files that were read: all of them are to be read."""


@dataclass(eq=False)
class DumpReader:
    """Rollout or completion dumps of one layout."""

    layout: Layout
    digits: int = 17
    appends: bool = True
    role: Role = "samples"

    def __post_init__(self) -> None:
        self.format = self.layout.format
        self.describes = self.layout.describes
        self.reads = self.layout.reads
        self.leaves = self.layout.leaves
        self.tested = self.layout.tested

    def kin(self, path: Path) -> Kin:
        """Nothing: the folder says whose it is."""
        return Kin()

    def sniff_folder(self, folder: Path, names: frozenset[str]) -> bool:
        """Does the folder hold nothing but such a dump? By its names and its first file."""
        visible = [name for name in names if not name.startswith(".")]
        if not visible or not all(map(self.layout.entries.fullmatch, visible)):
            return False
        try:
            for _, files in dump_files(folder, self.layout.files):
                return self.sniff(files[0].path, read_head(files[0].path))
        except RunError:
            pass  # who looks at the files one by one will say so
        return False

    def sniff(self, path: Path, head: bytes) -> bool:
        """Is this file of such a dump?"""
        return self.layout.sniff(path, head)

    def read(self, path: Path, resume: Resume | None = None) -> Reading:
        """All of a dump; one that grew is read by `read_on`, as it needs the files it knows."""
        return self.read_on(path, KnownFiles())

    def read_on(self, path: Path, known: KnownFiles) -> Reading:
        """What is new since the files of `known` were read.

        The reading hands on rows of `samples`, and a row of `files` for each file of the dump.
        Raises DumpChanged, while it is iterated, where a known file is gone or was written anew.
        """
        reading = Reading(iter(()), facts=Facts(framework=self.layout.framework))
        reading.chunks = _Pass(self.layout, path, known, reading).chunks()
        return reading

    def sample_at(self, dump: Path, path: Path, offset: int) -> Sample | None:
        """The record at this place of a file of the dump; None where there is none."""
        shown = (
            path.name
            if path == dump
            else path.resolve().relative_to(dump.resolve().parent).as_posix()
        )
        start = offset if self.layout.resumes(path.name) else 0
        samples = self.layout.samples(path, shown, start, hashlib.sha256())
        found = next((sample for sample in samples if sample.offset >= offset), None)
        return found if found is not None and found.offset == offset else None

    def state(self, path: Path) -> tuple[str, int, int]:
        """A digest of what the dump holds, its number of files and their bytes."""
        found = listing(path, self.layout.files)
        return found.digest, found.files, found.bytes


@dataclass
class _Pass:
    layout: Layout
    path: Path
    known: KnownFiles
    reading: Reading
    rows: SampleRows = field(default_factory=SampleRows)
    whole: hashlib._Hash = field(default_factory=hashlib.sha256)
    bad: int = 0
    first_bad: str = ""
    unfinished: int = 0
    first_unfinished: str = ""
    met: int = 0  # known files that are still there

    def chunks(self) -> Iterator[Chunk]:
        files = size = 0
        for folder, listed in dump_files(self.path, self.layout.files):
            known = self.known.of(folder)
            taken = []
            for file in listed:
                before = known.get(file.name)
                self.met += before is not None
                offset, sha = yield from self._file(file, before)
                taken.append((file, offset, sha))
                self.whole.update(f"{folder}/{file.name}\0".encode() + sha)
                files += 1
                size += file.bytes
            yield file_rows(taken)
        if self.met < self.known.count:
            raise DumpChanged
        if (last := self.rows.take()) is not None:
            yield last
        self._note()
        self.reading.resume = Resume(size, files, self.whole.hexdigest())

    def _file(
        self, file: DumpFile, before: Known | None
    ) -> Generator[Chunk, None, tuple[int, bytes]]:
        """The new samples of a file; how much of it is taken now, and its digest."""
        shown = f"{file.folder}/{file.name}" if file.folder else file.name
        if before is not None and (before.size, before.mtime_ns) == (file.bytes, file.mtime_ns):
            self._see(file, before.taken, shown)
            return before.taken, before.sha256
        offset, digest = self._grown(file, before) if before is not None else (0, hashlib.sha256())
        relative = f"{self.path.resolve().name}/{shown}" if file.path != self.path else shown
        samples = self.layout.samples(file.path, relative, offset, digest)
        for sample in samples:
            self.rows.add(sample, "" if file.path == self.path else shown)
            if self.rows.full and (chunk := self.rows.take()) is not None:
                yield chunk
        taken = samples.taken
        if taken.bad and not self.bad:
            self.first_bad = f"{shown} at {taken.first_bad}"
        self.bad += taken.bad
        self._see(file, taken.offset, shown)
        return taken.offset, taken.sha256

    def _grown(self, file: DumpFile, before: Known) -> tuple[int, hashlib._Hash]:
        """Where to read on. Raises DumpChanged where the file's beginning is another one."""
        if not self.layout.resumes(file.name) or file.bytes < before.taken:
            raise DumpChanged
        digest = hashlib.sha256()
        left = before.taken
        with file.path.open("rb") as handle:
            while left and (block := handle.read(min(1 << 20, left))):
                digest.update(block)
                left -= len(block)
        if digest.digest() != before.sha256:
            raise DumpChanged
        return before.taken, digest

    def _see(self, file: DumpFile, taken: int, shown: str) -> None:
        if self.layout.resumes(file.name) and taken < file.bytes:
            self.first_unfinished = self.first_unfinished or shown
            self.unfinished += 1

    def _note(self) -> None:
        if self.bad == 1:
            detail = f"1 record is none of this format and is left out: {self.first_bad}"
            self.reading.notes.append(Note("bad-records", detail))
        elif self.bad:
            detail = f"{self.bad} records are none of this format and are left out, first "
            self.reading.notes.append(Note("bad-records", detail + self.first_bad))
        if self.unfinished == 1:
            detail = f"{self.first_unfinished} ends within a record"
            self.reading.notes.append(Note("cut-record", detail))
        elif self.unfinished:
            detail = f"{self.unfinished} files end within a record, first {self.first_unfinished}"
            self.reading.notes.append(Note("cut-record", detail))
