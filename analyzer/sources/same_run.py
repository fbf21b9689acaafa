"""Which sources are of one run, whatever their formats.

A run is told by what it printed, by any number of trackers and by its configuration; these lie in
one folder or in several. So sources of different formats are of one run unless their own format
says that there are several: by the names that trackers give, by the marks of text logs, and where
neither says anything by folders that do not lie in one another.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from analyzer.sources.readers import FORMATS, reader_for
from analyzer.sources.records import Format, Kin, SourceFile


@dataclass
class Candidate:
    """A source that was found, and what it says of its run when that is asked for."""

    source: SourceFile

    @cached_property
    def reader(self) -> Format:
        """Who reads it."""
        return reader_for(self.source.format, self.source.run)

    @cached_property
    def kin(self) -> Kin:
        """What says of which run it is."""
        return self.reader.kin(self.source.path)

    @property
    def home(self) -> Path:
        """The folder that it lies in, or is."""
        path = self.source.path
        return path if path.is_dir() else path.parent

    def is_called(self, names: frozenset[str]) -> bool:
        """Is one of these a name of its run, with or without the project before it?"""
        own = self.kin.names
        return bool(names & (own | {name.rpartition("/")[2] for name in own}))


def runs_apart(root: Path, candidates: list[Candidate]) -> list[str]:
    """The runs that lie side by side, as places below the root; fewer than two: one run."""
    trackers = [c for c in candidates if c.reader.role == "tracker"]
    groups = [_own_logs(candidates, trackers)]
    for reader in FORMATS:
        if reader.role in ("config", "tracker"):
            groups.append([c for c in candidates if c.source.format == reader.format])
    for group in groups:
        runs = clusters(group)
        if len(runs) > 1:
            return [_place(root, run, runs) for run in runs]
    return []


def clusters(group: list[Candidate]) -> list[list[Candidate]]:
    """The candidates, of one format or all logs, run by run."""
    if len(group) < 2:
        return [group]
    named: list[list[Candidate]] = []
    unnamed: list[Candidate] = []
    for candidate in sorted(group, key=lambda c: c.source.relative):
        if not (candidate.reader.role == "tracker" and candidate.kin.names):
            unnamed.append(candidate)
            continue
        same = [run for run in named if any(c.kin.names & candidate.kin.names for c in run)]
        named = [run for run in named if run not in same]
        named.append([*(c for run in same for c in run), candidate])
    return named + _by_folder(unnamed)


def _by_folder(group: list[Candidate]) -> list[list[Candidate]]:
    """Folders that do not lie in one another, but for those of copies and of helping logs."""
    homes: list[Path] = []
    for home in sorted({candidate.home for candidate in group}):
        if not any(home.is_relative_to(other) for other in homes):
            homes.append(home)
    runs = [[c for c in group if c.home.is_relative_to(home)] for home in homes]
    if len(runs) < 2 or group[0].reader.role == "config":
        return runs
    seen: list[frozenset[bytes]] = []
    own: list[list[Candidate]] = []
    for run in runs:
        marks = frozenset[bytes]().union(*(candidate.kin.marks for candidate in run))
        if marks and any(marks <= other or other <= marks for other in seen):
            continue
        if marks or any(candidate.kin.begins_run for candidate in run):
            own.append(run)
            seen += [marks] if marks else []
    return own


def _own_logs(candidates: list[Candidate], trackers: list[Candidate]) -> list[Candidate]:
    """Text logs but those that a tracker kept with its run: `output.log` beside it."""
    kept = {c.home / folder for c in trackers if c.kin.names for folder in ("", "files")}
    return [c for c in candidates if c.reader.role == "log" and c.home not in kept]


def _place(root: Path, run: list[Candidate], runs: list[list[Candidate]]) -> str:
    """How a run is named in a message: by its folder, or by its file where it shares that."""
    first = run[0]
    others = {c.home for other in runs if other is not run for c in other}
    shared = first.home == root or bool(first.source.run) or any(c.home in others for c in run)
    return first.source.relative if shared else first.home.relative_to(root).as_posix()
