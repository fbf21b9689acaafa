"""A store in an object store.

What lies below URI has the layout of a store that is a folder, but for the tables of a run: these
are in a folder of their own for each content, RUN/VERSION/, and the run's row says which. Rows are
put last and one object at a time, so a reader finds the old tables or the new ones. Nothing there
is ever changed in part, and nothing has to be locked: one worker writes a run, and `runs` and
`findings` are made anew from the rows that are there.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from analyzer.errors import Location, RunError, UsageError
from analyzer.fleet.reports import report_file
from analyzer.fleet.rows import FLEET, Entry, decoded, encoded, row_file, written
from analyzer.tables.ingest import locked

SCHEMES = ("s3", "gs", "abfs")
_STREAMS = 16  # objects fetched at a time
_BLOCK = 1 << 20  # bytes


def depot_at(store: str) -> Depot | None:
    """The object store that --store names; None where it names a folder. Raises UsageError."""
    scheme, is_uri, _ = store.partition("://")
    if not is_uri:
        return None
    if scheme not in SCHEMES:
        schemes = ", ".join(f"{name}://" for name in SCHEMES)
        raise UsageError(
            f"{without_secrets(store)}: not an object store",
            hint=f"give a folder, or one of {schemes}",
        )
    return Depot(store, _mirror(store))


def _mirror(uri: str) -> Path:
    """A folder of this user on this machine, whoever's credentials are in the URI."""
    shown = without_secrets(uri)
    last = shown.partition("?")[0].rstrip("/").rpartition("/")[2]
    cache_home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    digest = hashlib.sha256(shown.encode()).hexdigest()[:8]
    return cache_home / "rl-run-analyzer" / "stores" / f"{last}-{digest}"


def without_secrets(uri: str) -> str:
    """The URI as it may be shown."""
    parts = urlsplit(uri)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


@dataclass(frozen=True)
class Depot:
    """An object store, and the folder on this machine that holds a copy of its fleet."""

    uri: str
    mirror: Path

    def here(self) -> Depot:
        """The same store as it is known to another machine: this one."""
        return replace(self, mirror=_mirror(self.uri))

    def pull(self, *folders: str) -> None:
        """Make the fleet's tables and these folders here what they are there. Raises RunError."""
        with self._reached() as (system, root):
            theirs: dict[str, Any] = {}
            for folder in (FLEET, *(f"{FLEET}/{name}" for name in folders)):
                infos = _files(system, f"{root}/{folder}")
                theirs |= {info.path[len(root) + 1 :]: info for info in infos}
                for path in (self.mirror / folder).glob("*.*"):
                    gone = f"{folder}/{path.name}" not in theirs
                    if gone and path.suffix != ".tmp":
                        path.unlink(missing_ok=True)
            new = [(name, i) for name, i in theirs.items() if not _same(self.mirror / name, i)]
            with ThreadPoolExecutor(_STREAMS) as pool:
                list(pool.map(lambda one: self._fetch(system, *one), new))

    def push(self, *names: str) -> None:
        """Put files of the fleet there as they are here. Raises RunError."""
        with self._reached() as (system, root):
            for name in names:
                _put(system, self.mirror / FLEET / name, f"{root}/{FLEET}/{name}")

    def load(self, path: str) -> Entry | None:
        """What is kept of a run. Raises RunError."""
        with self._reached() as (system, root):
            try:
                with system.open_input_stream(f"{root}/{row_file(path)}") as stream:
                    return decoded(stream.read())
            except FileNotFoundError:
                return None

    def publish(self, entry: Entry, old: Entry | None) -> None:
        """Put there what was made of a run here: tables, postmortem, then its row.

        `old` is what was kept of it; what only that names is deleted. Raises RunError.
        """
        before = old.tables if old else ""
        with self._reached() as (system, root):
            if entry.tables:
                entry = self._with_tables(entry, before, system, root)
            report = _report(entry)
            if (self.mirror / report).is_file():
                _put(system, self.mirror / report, f"{root}/{report}")
            content = encoded(entry)  # not in the stream: an error there would put what it has
            with system.open_output_stream(f"{root}/{row_file(entry.row.path)}") as stream:
                stream.write(content)
            if before != entry.tables:
                _drop_folder(system, root, before)
            if old and _report(old) != report:
                _drop(system, f"{root}/{_report(old)}")

    def remove(self, path: str) -> None:
        """Forget a run. Raises RunError."""
        old = self.load(path)
        with self._reached() as (system, root):
            _drop(system, f"{root}/{row_file(path)}")
            if old:
                _drop_folder(system, root, old.tables)
                _drop(system, f"{root}/{_report(old)}")

    def _with_tables(self, entry: Entry, before: str, system: Any, root: str) -> Entry:
        """Put the tables there, in the folder of their version, which the row is to name."""
        home = self.mirror / entry.tables
        with locked(home):
            version = hashlib.sha256((home / "run.json").read_bytes()).hexdigest()[:16]
            entry = replace(entry, tables=f"{entry.tables}/{version}")
            if entry.tables != before:
                for file in (*sorted(home.glob("*.parquet")), home / "run.json"):
                    _put(system, file, f"{root}/{entry.tables}/{file.name}")
        return entry

    def _fetch(self, system: Any, name: str, info: Any) -> None:
        """Copy one object here, with the time that it has there."""
        here = self.mirror / name
        try:
            with system.open_input_stream(info.path) as stream:
                written(here, stream.read())
            os.utime(here, ns=(info.mtime_ns, info.mtime_ns))
        except FileNotFoundError:  # gone since it was listed
            here.unlink(missing_ok=True)

    @contextmanager
    def _reached(self) -> Iterator[tuple[Any, str]]:
        """The file system and the path in it; what it refuses is an error of one line."""
        try:
            yield _opened(self.uri)
        except (OSError, ValueError) as cause:
            raise RunError(
                f"the store cannot be reached: {' '.join(str(cause).split())}",
                at=Location(without_secrets(self.uri)),
                hint="check URI and credentials",
            ) from cause


@cache
def _opened(uri: str) -> tuple[Any, str]:
    """A connection of this process."""
    from pyarrow.fs import FileSystem

    system, root = FileSystem.from_uri(uri)
    return system, root.rstrip("/")


def _report(entry: Entry) -> str:
    return report_file(Path(), entry.row.path, entry.key).as_posix()


def _files(system: Any, folder: str) -> list[Any]:
    """The objects right below a folder."""
    from pyarrow.fs import FileSelector

    selected = FileSelector(folder, allow_not_found=True)
    return [info for info in system.get_file_info(selected) if info.is_file]


def _same(here: Path, info: Any) -> bool:
    try:
        status = here.stat()
    except OSError:
        return False
    return (status.st_size, status.st_mtime_ns) == (info.size, info.mtime_ns)


def _put(system: Any, file: Path, target: str) -> None:
    with file.open("rb") as source, system.open_output_stream(target) as stream:
        while block := source.read(_BLOCK):
            stream.write(block)


def _drop(system: Any, path: str) -> None:
    with suppress(FileNotFoundError):
        system.delete_file(path)


def _drop_folder(system: Any, root: str, folder: str) -> None:
    """Delete the objects of a folder below the root; "" is none."""
    for info in _files(system, f"{root}/{folder}") if folder else ():
        _drop(system, info.path)
