"""SwanLab runs: the run file, or the folder of columns where a version left no run file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from analyzer.errors import Location, RunError
from analyzer.sources.block_log import BlockLog, without_header
from analyzer.sources.config_rows import config_chunks, flattened, framework_of
from analyzer.sources.console_text import ConsoleText
from analyzer.sources.json_values import number_of
from analyzer.sources.opening import CutArchiveError, open_log
from analyzer.sources.records import Chunk, Facts, Kin, Note, Reading, Resume, Role
from analyzer.sources.series_rows import SeriesRows
from analyzer.sources.swanlab_records import (
    Ended,
    Line,
    Named,
    Scalar,
    SystemColumn,
    is_system,
    line_value,
    record_of,
)
from analyzer.sources.wire import WireError

_MAGIC = b":SWL\xd6\xe1"
_VERSIONS = (1, 2)
_EARLY = 20  # records among which those that name the run must be
_METADATA = "swanlab-metadata.json"


class SwanLabFile:
    """The reader of `.swanlab` files."""

    format = "swanlab"
    describes = "SwanLab run file (run-….swanlab, backup.swanlab)"
    digits = 17
    appends = False
    role: Role = "tracker"
    reads = (
        "scalars, how the run ended, configuration (files/config.yaml); console text (metrics only "
        "where there are no scalars)"
    )
    leaves = "system columns, media"
    tested = "SwanLab 0.6, 0.7, 0.10"

    def sniff(self, path: Path, head: bytes) -> bool:
        """Does the file begin with the magic bytes, and is its version known?"""
        return head.startswith(_MAGIC) and head[6:7] in map(bytes, ([v] for v in _VERSIONS))

    def kin(self, path: Path) -> Kin:
        """The run's id and name."""
        named = _early(path)
        full = f"{named.project}/{named.name}" if named.project else named.name
        names = [name for name in (named.run_id, full) if name]
        return Kin(frozenset(names or [path.parent.name]), label=full)

    def read(self, path: Path, resume: Resume | None = None) -> Reading:
        """Metric rows, the configuration, then what the console text says. Raises RunError."""
        reading = Reading(iter(()))
        reading.chunks = _chunks(path, reading)
        return reading


def _records(path: Path, book: BlockLog) -> Iterator[object]:
    """The records of a file; what cannot be read becomes a note of the book."""
    try:
        for data in book.records(without_header(open_log(path).blocks())):
            try:
                yield record_of(data)
            except WireError as cause:
                detail = f"record {book.count} is no record of a run: {cause}"
                book.notes.append(Note("bad-record", detail, line=book.count))
    except CutArchiveError as cause:
        book.notes.append(Note("cut-archive", f"the file breaks off: {cause}"))


def _early(path: Path) -> Named:
    project = name = run_id = None
    for _, record in zip(range(_EARLY), _records(path, BlockLog()), strict=False):
        if isinstance(record, Named):
            project = record.project or project
            name, run_id = record.name or name, record.run_id or run_id
    return Named(project, name, run_id)


def _chunks(path: Path, reading: Reading) -> Iterator[Chunk]:
    rows, book, system = SeriesRows(), BlockLog(), set[str]()
    finished, ended, console, left_out = None, False, False, 0
    for record in _records(path, book):
        if isinstance(record, Scalar):
            if record.key in system or is_system(record.key):
                continue
            if record.value is None:
                left_out += 1
                continue
            rows.add_one(record.step, record.micros, rows.number(record.key), record.value)
            yield from rows.full()
        elif isinstance(record, SystemColumn):
            system.add(record.key)
        elif isinstance(record, Ended):
            finished, ended = record.finished, True
        elif isinstance(record, Line):
            console = True
    yield from rows.rest()
    config = _config(path.parent)
    yield from config_chunks(flattened(config))
    run_id = _early(path).run_id
    reading.facts = Facts(
        framework=framework_of(config), finished=finished, tracker_run=run_id or None
    )
    reading.notes = book.notes
    _note(reading, left_out, bool(system), None if rows.names else "no scalars were logged", ended)
    if console:
        text = ConsoleText("events" if rows.names else "metrics", book.count + 1)
        yield from text.chunks(_console(path), reading)


def _note(reading: Reading, left_out: int, system: bool, nothing: str | None, ended: bool) -> None:
    if nothing:
        reading.notes.append(Note("no-history", nothing))
    if left_out:
        reading.notes.append(Note("not-a-scalar", f"{left_out} values are no numbers and left out"))
    if system:
        detail = "columns of system statistics, which have no training step, are left out"
        reading.notes.append(Note("system-statistics", detail))
    if not ended:
        detail = "no record of the end: the run was killed, or is still being written"
        reading.notes.append(Note("no-exit-record", detail))


def _console(path: Path) -> Iterator[tuple[int, bytes]]:
    for record in _records(path, BlockLog()):
        if isinstance(record, Line):
            yield 1, record.text.encode() + b"\n"


def _config(folder: Path) -> dict[str, Any]:
    """`files/config.yaml`, in which each key holds `desc`, `sort` and `value`."""
    path = folder / "files" / "config.yaml"
    if not path.is_file():
        return {}
    try:
        found = YAML(typ="safe").load(path.read_bytes())
    except (OSError, YAMLError):
        return {}  # a tracker's copy; the run's own configuration is read with its errors
    if not isinstance(found, dict):
        return {}
    return {
        key: entry["value"] if isinstance(entry, dict) and "value" in entry else entry
        for key, entry in found.items()
    }


class SwanLabFolder:
    """The reader of a run's folder without a run file: `logs/<column>/*.log`."""

    format = "swanlab-logs"
    describes = "SwanLab run folder without its run file (run-…/logs/<column>/*.log)"
    digits = 17
    appends = False
    role: Role = "tracker"
    reads = "scalars of columns whose folders are named after them, configuration"
    leaves = "columns that are only numbered: their names stand in the run file alone"
    tested = "folders of SwanLab 0.10, renamed"

    def sniff_folder(self, folder: Path, names: frozenset[str]) -> bool:
        """Is it a run's folder, without a run file that can be read in its place?"""
        if (
            "logs" not in names
            or "files" not in names
            or any(n.endswith(".swanlab") for n in names)
        ):
            return False
        return (folder / "files" / _METADATA).is_file()

    def kin(self, path: Path) -> Kin:
        """The folder's own name, which ends in the run's id."""
        return Kin(frozenset([path.name, path.name.rpartition("-")[2]]), label=path.name)

    def read(self, path: Path, resume: Resume | None = None) -> Reading:
        """Metric rows in the order of their times, then the configuration.

        Raises RunError where no column has a name.
        """
        columns = sorted(p for p in (path / "logs").iterdir() if p.is_dir())
        named = [p for p in columns if not p.name.isdigit()]
        if columns and not named:
            raise RunError(
                f"its {len(columns)} columns are numbered, their names are in the run file alone",
                at=Location(str(path)),
                hint="give the folder with its .swanlab file",
            )
        config = _config(path)
        reading = Reading(iter(()), facts=Facts(framework=framework_of(config)))
        reading.chunks = _folder_chunks(named, config, reading)
        return reading


def _folder_chunks(
    columns: list[Path], config: dict[str, Any], reading: Reading
) -> Iterator[Chunk]:
    rows = SeriesRows()
    found: list[tuple[int, int, int, float]] = []  # microseconds, step, metric, value
    bad = 0
    for column in columns:
        metric = unquote(column.name)
        if is_system(metric):
            continue
        for file in sorted(column.glob("*.log")):
            for line in open_log(file).handle:
                try:
                    step, value, micros = line_value(line)
                except ValueError:
                    bad += 1
                    continue
                if (number := number_of(value)) is not None:
                    found.append((micros, step, rows.number(metric), number))
    found.sort(key=lambda row: row[0])
    for micros, step, metric_number, number in found:
        rows.add_one(step, micros, metric_number, number)
        yield from rows.full()
    yield from rows.rest()
    yield from config_chunks(flattened(config))
    if bad:
        reading.notes.append(Note("bad-line", f"{bad} lines of columns cannot be read"))
