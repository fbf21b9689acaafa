"""A rollout dump into the store: only files that came or grew are read again."""

from __future__ import annotations

import hashlib
from pathlib import Path

from analyzer.sources.records import Resume, SourceFile
from analyzer.sources.samples import DumpChanged, DumpReader
from analyzer.sources.samples.files import KnownFiles
from analyzer.tables.part_files import PARTS, write_parts
from analyzer.tables.state import SourceState


def bring_up_dump(
    source: SourceFile, reader: DumpReader, old: SourceState | None, home: Path
) -> SourceState:
    """The state of a dump after reading what is new in it.

    Where a file that was read has been written anew or is gone, all files are read again.
    """
    digest, files, size = reader.state(source.path)
    now = Resume(size, files, digest)
    if old is not None and old.resume == now:
        return old
    if old is not None:
        try:
            return _read(source, reader, old, now, home)
        except DumpChanged:
            pass
    return _read(source, reader, None, now, home)


def _read(
    source: SourceFile, reader: DumpReader, old: SourceState | None, now: Resume, home: Path
) -> SourceState:
    folder = home / PARTS
    reading = reader.read_on(source.path, _known(old, folder))
    part = hashlib.sha256(f"{source.relative}\0{now.state}".encode()).hexdigest()[:16]
    rows = write_parts(reading, folder, part)
    assert reading.resume is not None, "a dump that was read to its end says so"
    lasting = [note for note in old.notes if note.kind == "bad-records"] if old else []
    return SourceState(
        path=source.relative,
        format=source.format,
        digits=reader.digits,
        bytes=now.offset,
        mtime_ns=0,
        sha256=reading.resume.state,
        parts=(*(old.parts if old else ()), (part, rows["samples"], 0)),
        notes=(*lasting, *reading.notes),
        facts=reading.facts,
        resume=now,
    )


def _known(old: SourceState | None, folder: Path) -> KnownFiles:
    """The files as they were at the last reading; its part names all of them."""
    if old is None or not old.parts:
        return KnownFiles()
    import pyarrow.parquet as pq  # slow to import; see ingest

    path = folder / f"{old.parts[-1][0]}.files.parquet"
    return KnownFiles(pq.read_table(path).unify_dictionaries()) if path.exists() else KnownFiles()
