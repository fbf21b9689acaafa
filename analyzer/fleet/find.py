"""The runs below a folder: every place that `check` would take, and none within another.

A folder that `discover` takes as one run is one, with all that is in it. One that holds several is
walked. A folder where nothing can be read is told as broken if a file in it is called as a log is;
without such a file it is no run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from analyzer.errors import Location, RunError, SeveralRuns
from analyzer.fleet.rows import Entry, told
from analyzer.fleet.tree import Folder, file_state, listed
from analyzer.sources.discover import discover
from analyzer.sources.file_search import sources_in
from analyzer.sources.readers import reader_of
from analyzer.sources.records import RunFiles

_LOG_NAME = re.compile(r"\.log(\.(\d+|gz|xz|zst))*$|tfevents|\.wandb$|\.swanlab$")


@dataclass(frozen=True, slots=True)
class Found:
    """A run, or a place where one cannot be read."""

    path: str  # absolute; FILE#RUN for one run of a database
    relative: str  # to the root that it was found below
    listing: str
    newest: float  # seconds; when the last of its files was written
    error: str = ""


@dataclass
class Finder:
    """Walks roots; what is known of an unchanged place is not found out again."""

    known: Mapping[str, Entry]  # by path
    several: set[str] = field(default_factory=set)  # folders that hold several runs
    aside: Path | None = None  # a folder that is none of the runs': the store
    root: Path = Path()

    def below(self, root: Path) -> Iterator[Found]:
        """The runs below one root, which may be a run itself or a file. Raises RunError."""
        self.root = root.resolve()
        if not self.root.exists():
            raise RunError(
                "no such file or directory", at=Location(str(root)), hint="check the path"
            )
        if self.root.is_dir():
            yield from self._folder(listed(self.root, self.aside))
        else:
            yield from self._file(self.root)

    def _folder(self, folder: Folder) -> Iterator[Found]:
        place = str(folder.path)
        known = self.known.get(place)
        if folder.error:
            yield self._found(folder.path, folder, folder.error)
        elif known is not None and known.listing == folder.listing:
            yield self._found(folder.path, folder, known.row.error or "")
        elif place in self.several:
            yield from self._inside(folder)
        else:
            yield from self._looked_at(folder)

    def _looked_at(self, folder: Folder) -> Iterator[Found]:
        try:
            files = discover(folder.path)
        except SeveralRuns:
            self.several.add(str(folder.path))
            yield from self._inside(folder)
        except RunError:
            yield from self._broken(folder)
        else:
            if _has_broken_sibling(folder, files):
                yield from self._inside(folder)
            else:
                yield self._found(folder.path, folder)

    def _inside(self, folder: Folder) -> Iterator[Found]:
        """Runs of a folder that holds several: in its folders, and files that are runs."""
        for inner in folder.folders:
            yield from self._folder(inner)
        runs = [(path, list(self._file(path))) for path in folder.files if _may_be_run(path)]
        kinds = {path.suffix for path, found in runs if any(not run.error for run in found)}
        for path, found in runs:
            if path.suffix in kinds:
                yield from found

    def _file(self, path: Path) -> Iterator[Found]:
        state, newest = file_state(path)
        config = path.parent / "config.yaml"
        listing = f"{state} {file_state(config)[0]}"
        relative = path.relative_to(self.root).as_posix() if path != self.root else path.name
        found = Found(str(path), relative, listing, newest)
        try:
            discover(path)
            yield found
        except SeveralRuns:
            reader = reader_of(path)
            for source in sources_in(path, path.parent, reader) if reader else ():
                named = f"#{source.run}"
                yield replace(found, path=found.path + named, relative=relative + named)
        except RunError as cause:
            yield replace(found, error=told(cause))

    def _broken(self, folder: Folder) -> Iterator[Found]:
        """Folders below this one, itself first, with a log that cannot be read."""
        if folder.error:
            yield self._found(folder.path, folder, folder.error)
            return
        for path in folder.files:
            if _LOG_NAME.search(path.name):
                yield self._found(folder.path, folder, _why_not(path))
                return
        for inner in folder.folders:
            yield from self._broken(inner)

    def _found(self, path: Path, folder: Folder, error: str = "") -> Found:
        relative = path.relative_to(self.root).as_posix() if path != self.root else path.name
        return Found(str(path), relative, folder.listing, folder.newest, error)


def _has_broken_sibling(folder: Folder, files: RunFiles) -> bool:
    """Is all of this run in one folder, and beside that one with a log of the same name?"""
    homes = {source.relative.partition("/")[0] for source in files.sources}
    if len(homes) != 1 or homes <= {path.name for path in folder.files}:
        return False
    names = {Path(source.relative).name for source in files.sources}
    left = {file.relative for file in files.skipped}
    return any(
        inner.path.name not in homes and (inner.error or names & _skipped_in(inner, left))
        for inner in folder.folders
    )


def _skipped_in(folder: Folder, left: set[str]) -> set[str]:
    """Names of the logs of a folder that were left aside."""
    start = f"{folder.path.name}/"
    return {
        name
        for relative in left
        if relative.startswith(start) and _LOG_NAME.search(name := relative.rpartition("/")[2])
    }


def _may_be_run(path: Path) -> bool:
    """A log or a tracker's file, or one called so."""
    try:
        reader = reader_of(path)
    except RunError:
        reader = None
    if reader is None:
        return _LOG_NAME.search(path.name) is not None
    return reader.role in ("log", "tracker")


def _why_not(log: Path) -> str:
    try:
        discover(log)
    except RunError as cause:
        return told(cause)
    return f"{log}: nothing in it can be read"


def without_inner(found: list[Found]) -> list[Found]:
    """Each place once, and none that lies within a run, by path."""
    places = {run.path: run for run in reversed(found)}
    return [
        places[path]
        for path in sorted(places)
        if not any(str(parent) in places for parent in Path(path.partition("#")[0]).parents)
    ]
