"""A run's files into the store: parts a source, then one table of what stands.

The store of a run is a directory: run.json, metrics.parquet, events.parquet, config.parquet,
samples.parquet, and parts/, the rows as each source gave them. Nothing is read again while a file's
size and time stand; a log that grew is read on from where it grew. Files are written under a
temporary name and renamed, run.json last, so that a kill leaves the old state or the new one.
"""

from __future__ import annotations

import fcntl
import hashlib
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from analyzer import __version__
from analyzer.errors import Location, RunError
from analyzer.sources.opening import extent, parts_of
from analyzer.sources.readers import reader_for
from analyzer.sources.records import Note, Resume, RunFiles, SourceFile
from analyzer.sources.samples import DumpReader
from analyzer.tables.catalog import Catalog
from analyzer.tables.dumps import bring_up_dump
from analyzer.tables.part_files import PARTS, write_parts
from analyzer.tables.state import SCHEMA_VERSION, SourceState, StoreState, joined, load_state


@dataclass(frozen=True)
class Store:
    """The directory of one ingested run."""

    path: Path

    @property
    def state(self) -> StoreState:
        """What run.json says. Raises RunError where it cannot be read."""
        state = load_state(self.path)
        if state is None:
            raise RunError("not an ingested run", at=Location(str(self.path)))
        return state


def ingest(files: RunFiles, store_dir: Path, catalog: Catalog) -> Store:
    """Bring the store of this run up to date and return it.

    Raises RunError when no source can be read or the store cannot be written.
    """
    home = store_dir / _slug(files)
    try:
        home.mkdir(parents=True, exist_ok=True)
        with locked(home):
            _update(files, home, catalog)
    except OSError as cause:
        raise RunError(
            f"the store cannot be written: {cause.strerror or cause}",
            at=Location(str(home)),
            hint="give another place with --store",
        ) from cause
    return Store(home)


def _slug(files: RunFiles) -> str:
    """A directory name that a person recognises and that two runs never share."""
    place = str(files.root.resolve())
    if len(files.sources) == 1:
        (source,) = files.sources
        place = (
            f"{source.path.resolve()}#{source.run}" if source.run else str(source.path.resolve())
        )
    digest = hashlib.sha256(place.encode()).hexdigest()[:8]
    return f"{re.sub(r'[^A-Za-z0-9._-]+', '-', files.name).strip('-') or 'run'}-{digest}"


@contextmanager
def locked(home: Path) -> Iterator[None]:
    """One writer a run; a second one waits."""
    with (home / ".lock").open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _update(files: RunFiles, home: Path, catalog: Catalog) -> None:
    old = load_state(home)
    if old is not None and (old.schema != SCHEMA_VERSION or old.tool != __version__):
        old = None
    if old is None:
        shutil.rmtree(home / PARTS, ignore_errors=True)
    before = {source.path: source for source in old.sources} if old else {}
    sources = tuple(
        _bring_up(source, before.get(source.relative), home) for source in files.sources
    )
    if old is not None and sources == old.sources and old.fits(files, catalog.sha256, home):
        return
    # Writing Parquet is slow to import, and a run that did not change needs none of it.
    from analyzer.tables.publish import publish

    publish(files, sources, home, catalog)
    _drop_unused_parts(home, sources)


def _bring_up(source: SourceFile, old: SourceState | None, home: Path) -> SourceState:
    """The state of one source after reading what is new in it."""
    reader = reader_for(source.format, source.run)
    try:
        if isinstance(reader, DumpReader):
            return bring_up_dump(source, reader, old, home)
        now = extent(source.path)
        if old and (old.bytes, old.mtime_ns) == now:
            return old
        if old and old.resume and old.bytes < now[0] and _digest(source, old.bytes) == old.sha256:
            return _read(source, now, home, old)
        return _read(source, now, home, None)
    except PermissionError as cause:
        raise RunError(
            "cannot be read: permission denied",
            at=Location(str(source.path)),
            hint="make it readable or leave it out",
        ) from cause


def _digest(source: SourceFile, length: int) -> str:
    """Of a source's first bytes; of a folder, those of its files in the order of their names."""
    digest = hashlib.sha256()
    for path in parts_of(source.path):
        with path.open("rb") as handle:
            while length and (block := handle.read(min(1 << 20, length))):
                digest.update(block)
                length -= len(block)
    return digest.hexdigest()


def _read(
    source: SourceFile, now: tuple[int, int], home: Path, old: SourceState | None
) -> SourceState:
    """Read a source from the start, or from where `old` ended, into a new part."""
    resume = old.resume if old else None
    reader = reader_for(source.format, source.run)
    reading = reader.read(source.path, resume)
    part = _part_name(source, now)
    rows = write_parts(reading, home / PARTS, part)
    kept = old if old and resume else None
    settled = _settle(kept, resume)
    return SourceState(
        path=source.relative,
        format=source.format,
        digits=reading.digits or reader.digits,
        bytes=now[0],
        mtime_ns=now[1],
        sha256=_digest(source, now[0]),
        parts=(*settled, (part, rows["metrics"], rows["events"])),
        notes=tuple(reading.notes) if kept is None else (*_lasting(kept, resume), *reading.notes),
        facts=reading.facts if kept is None else joined(kept.facts, reading.facts),
        resume=reading.resume,
    )


def _settle(kept: SourceState | None, resume: Resume | None) -> tuple[tuple[str, int, int], ...]:
    """The earlier parts without the rows that the reader will hand on again."""
    if kept is None or resume is None:
        return ()
    *whole, (name, metrics, events) = kept.parts
    return (*whole, (name, metrics - resume.metrics_after, events - resume.events_after))


def _lasting(kept: SourceState, resume: Resume | None) -> tuple[Note, ...]:
    """Earlier notes but those about the part of the file that is read again."""
    line = resume.line if resume else 0
    return tuple(note for note in kept.notes if note.line is None or note.line <= line)


def _part_name(source: SourceFile, now: tuple[int, int]) -> str:
    text = f"{source.relative}\0{now[0]}\0{now[1]}"
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _drop_unused_parts(home: Path, sources: tuple[SourceState, ...]) -> None:
    used = {name for source in sources for name, _, _ in source.parts}
    for path in (home / PARTS).glob("*.parquet*"):
        if path.name.split(".")[0] not in used:
            path.unlink(missing_ok=True)
