"""SQLite databases as trackers leave them, opened so that nothing is written beside them."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote

from analyzer.errors import Location, RunError

MAGIC = b"SQLite format 3\x00"


@contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection for reading.

    A database that is being written keeps its last changes in a log beside it; then a copy of both
    is read. Raises RunError when it is none or cannot be read.
    """
    log = path.with_name(path.name + "-wal")
    try:
        if log.is_file() and log.stat().st_size:
            with tempfile.TemporaryDirectory() as folder:
                copy = Path(shutil.copy(path, folder))
                shutil.copy(log, folder)
                with closing(sqlite3.connect(copy)) as con:
                    yield con
        else:
            uri = f"file:{quote(str(path.resolve()))}?mode=ro&immutable=1"
            with closing(sqlite3.connect(uri, uri=True)) as con:
                yield con
    except sqlite3.Error as cause:
        raise RunError(f"not a readable database: {cause}", at=Location(str(path))) from cause


def tables_of(path: Path) -> dict[str, frozenset[str]]:
    """Table → its columns; empty where the file is no database that can be read."""
    try:
        with opened(path) as con:
            names = [name for (name,) in con.execute("SELECT name FROM sqlite_master")]
            return {
                name: frozenset(row[1] for row in con.execute(f'PRAGMA table_info("{name}")'))
                for name in names
            }
    except RunError:
        return {}
