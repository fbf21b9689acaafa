"""Every file below a directory: taken by a reader, or left aside for a reason."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from analyzer.errors import Location, RunError, SeveralRuns
from analyzer.sources.foreign import RECORDED, foreign_file, foreign_folder, kept_of
from analyzer.sources.opening import extent, read_head, unreadable
from analyzer.sources.readers import folder_reader_of, reader_of, shelf_for
from analyzer.sources.records import Format, SkippedFile, SourceFile

UNKNOWN = "no reader knows this format"
_MOST_FILES = 20_000
_MOST_NAMED = 4  # files of a folder, left aside for the same reason, that are named one by one
_GATHERED = {UNKNOWN: "files", RECORDED: "folders"}


@dataclass
class Search:
    """Walks a directory without leaving it."""

    root: Path
    sources: list[SourceFile] = field(default_factory=list)
    skipped: list[SkippedFile] = field(default_factory=list)
    files: int = 0

    def look(self) -> None:
        """Sort every file below the root into sources and skipped."""
        self._folder(self.root)
        self._gather()

    def _folder(self, folder: Path) -> None:
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError as cause:
            if folder == self.root:
                raise unreadable(folder, cause) from cause
            self._skip(folder, unreadable(folder, cause).message)
            return
        names = frozenset(entry.name for entry in entries)
        reader = folder_reader_of(folder, names)
        if reader is not None:
            self.sources.append(source_file(folder, self.root, reader.format))
            return
        reason = foreign_folder(folder, names)
        if reason:
            self._skip(folder, reason)
            entries = [entry for entry in entries if entry.name in kept_of(reason)]
        for entry in entries:
            path = Path(entry.path)
            if entry.is_symlink():
                self._link(path)
            elif entry.is_dir():
                self._folder(path)
            elif entry.is_file():
                self._file(path)

    def _link(self, path: Path) -> None:
        """A link within the run leads to what is found anyway; one out of it only to a file."""
        target = path.resolve()
        if target.exists() and target.is_relative_to(self.root.resolve()):
            return
        if target.is_file():
            self._file(path)
        else:
            self._skip(path, "a link out of the run, not followed")

    def _file(self, path: Path) -> None:
        self.files += 1
        if self.files > _MOST_FILES:
            raise SeveralRuns(
                f"more than {_MOST_FILES} files",
                at=Location(str(self.root)),
                hint="give the directory of one trial, or use `analyzer batch` for all",
            )
        try:
            if path.stat().st_size == 0:
                self._skip(path, "empty file")
                return
            reader = reader_of(path)
            if reader is not None:
                self.sources += sources_in(path, self.root, reader)
                return
            self._skip(path, foreign_file(path, read_head(path)) or UNKNOWN)
        except RunError as cause:
            self._skip(path, cause.message)

    def _skip(self, path: Path, reason: str) -> None:
        relative = path.relative_to(self.root).as_posix()
        if path.is_dir() and not path.is_symlink():
            relative += "/"
        self.skipped.append(SkippedFile(relative, reason))

    def _gather(self) -> None:
        """Many unknown files, or recorded batches, of a folder become one entry."""
        together = Counter(
            (_folder_of(file), file.reason) for file in self.skipped if file.reason in _GATHERED
        )
        many = {place: count for place, count in together.items() if count > _MOST_NAMED}
        self.skipped = [
            file for file in self.skipped if (_folder_of(file), file.reason) not in many
        ]
        for (folder, reason), count in many.items():
            self.skipped.append(SkippedFile(folder, f"{count} {_GATHERED[reason]}: {reason}"))


def _folder_of(file: SkippedFile) -> str:
    path = file.relative.rstrip("/")
    return f"{path.rpartition('/')[0]}/" if "/" in path else "./"


def sources_in(path: Path, root: Path, reader: Format) -> list[SourceFile]:
    """What a file holds for this reader: itself, or the runs in it. Raises RunError."""
    shelf = shelf_for(reader.format)
    if shelf is None:
        return [source_file(path, root, reader.format)]
    return [source_file(path, root, reader.format, run) for run in shelf.runs(path)]


def source_file(path: Path, root: Path, name: str, run: str = "") -> SourceFile:
    """A file or folder of the run below `root`, in the format of this name."""
    relative = path.relative_to(root).as_posix()
    if run:
        relative += f"#{run}"
    return SourceFile(path, relative, name, extent(path)[0], run)
