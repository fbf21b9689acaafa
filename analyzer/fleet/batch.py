"""All runs below some folders: found, judged where something is new, told as one table."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from fnmatch import fnmatchcase
from pathlib import Path

from analyzer.errors import ExitCode, Location, RunError
from analyzer.findings.model import Severity
from analyzer.fleet.engine import Engine
from analyzer.fleet.find import Finder, Found, without_inner
from analyzer.fleet.judge import Judging, rules_key
from analyzer.fleet.progress import Progress
from analyzer.fleet.reports import REPORTS, wants_report
from analyzer.fleet.rows import FLEET, ROWS, Row, exit_code, load_all, remove, written
from analyzer.fleet.tables import TABLES, write_tables
from analyzer.pipeline import open_rules

_SEVERAL = "several.json"


@dataclass(frozen=True)
class Selection:
    """Which of the runs that are found."""

    since: date | None = None  # written to on this day or later, by the local clock
    include: tuple[str, ...] = ()  # globs over the path below the root; none: all
    exclude: tuple[str, ...] = ()

    def takes(self, run: Found) -> bool:
        """Is this run wanted?"""
        if self.since and run.newest < datetime.combine(self.since, time()).timestamp():
            return False
        wanted = not self.include or any(fnmatchcase(run.relative, g) for g in self.include)
        return wanted and not any(fnmatchcase(run.relative, glob) for glob in self.exclude)


@dataclass(frozen=True)
class Batch:
    """What a batch ended with."""

    rows: tuple[Row, ...]  # of the runs asked for, by path
    judged: int
    left_out: int  # found, but not asked for

    def summary(self) -> str:
        """One line for a person."""
        errors = sum(row.error is not None for row in self.rows)
        unchanged = len(self.rows) - self.judged - errors
        runs = "1 run" if len(self.rows) == 1 else f"{len(self.rows)} runs"
        line = f"{runs}: {self.judged} judged, {unchanged} unchanged, "
        line += f"{errors} could not be judged"
        return line + (f"; {self.left_out} found but not asked for" if self.left_out else "")

    def exit_code(self, fail_on: Severity) -> ExitCode:
        """That of the worst run."""
        return max(exit_code(row, fail_on) for row in self.rows)


def run_batch(
    roots: Sequence[Path],
    judging: Judging,
    selection: Selection,
    engine: Engine,
    progress: Progress,
) -> Batch:
    """Judge what is new below the roots, and bring the tables of the fleet up to date.

    Raises RunError when a root is not there, no run is found, the store cannot be written, or the
    engine cannot work; RuleErrors when the rules are wrong. A run that cannot be judged raises
    nothing.
    """
    store, depot = judging.settings.store, judging.depot
    judged_by = rules_key(open_rules(judging.settings), judging.settings)
    folders = (ROWS,) if judging.reports == "none" else (ROWS, REPORTS)
    if depot:
        depot.pull(*folders)
    entries = {entry.row.path: entry for entry in load_all(store)}
    known = {p: e for p, e in entries.items() if e.listing and e.rules == judged_by}
    finder = Finder(known, _known_several(store), aside=store.resolve())
    found = without_inner([run for root in roots for run in finder.below(root)])
    wanted = [run for run in found if selection.takes(run)]
    if not wanted:
        raise _nothing(roots, found)
    new = [
        run
        for run in wanted
        if (entry := known.get(run.path)) is None
        or entry.listing != run.listing
        or wants_report(entry, store, judging.reports)
    ]
    judged = 0

    def done(run: Found, was_judged: bool) -> None:
        nonlocal judged
        judged += was_judged
        progress.advance()

    with progress.of(len(wanted), len(wanted) - len(new)):
        if new:
            engine(new, judging, done)
    for path in _superseded(entries, found):
        depot.remove(path) if depot else remove(store, path)
    if depot:
        depot.pull(*folders)
    _keep_several(store, finder.several, found)
    write_tables(store)
    if depot:
        depot.push(_SEVERAL, *(f"{name}.parquet" for name in TABLES))
    paths = {run.path for run in wanted}
    rows = tuple(entry.row for entry in load_all(store) if entry.row.path in paths)
    return Batch(rows, judged, len(found) - len(wanted))


def _nothing(roots: Sequence[Path], found: Sequence[Found]) -> RunError:
    at = Location(", ".join(str(root) for root in roots))
    if found:
        hint = "see --since, --include and --exclude"
        return RunError(f"{len(found)} runs, but none that was asked for", at=at, hint=hint)
    return RunError("no run below it", at=at, hint="give a folder with runs in it")


def _superseded(paths: Iterable[str], found: Sequence[Found]) -> list[str]:
    """Rows from when a folder was found to hold more runs, or fewer, than now.

    The row of a run whose files are gone stays: it was judged.
    """
    now = {run.path for run in found}
    above = {str(parent) for path in now for parent in _file_of(path).parents}
    return [
        path
        for path in paths
        if path not in now
        and (path in above or any(str(parent) in now for parent in _file_of(path).parents))
    ]


def _file_of(path: str) -> Path:
    return Path(path.partition("#")[0])


def _known_several(store: Path) -> set[str]:
    """Folders found to hold several runs, as long as two of these are still there.

    Logs grow, and so to look again would be to read all of them for a change in one.
    """
    try:
        data = json.loads((store / FLEET / _SEVERAL).read_text("utf-8"))
        return {f for f, runs in data.items() if all(_file_of(run).exists() for run in runs)}
    except (OSError, ValueError, AttributeError, TypeError):
        return set()


def _keep_several(store: Path, several: set[str], found: Sequence[Found]) -> None:
    kept: dict[str, list[str]] = {}
    for run in found:
        for parent in map(str, _file_of(run.path).parents):
            if parent in several and len(kept.setdefault(parent, [])) < 2:
                kept[parent].append(run.path)
    data = {folder: runs for folder, runs in sorted(kept.items()) if len(runs) == 2}
    written(store / FLEET / _SEVERAL, f"{json.dumps(data, indent=1)}\n".encode())
