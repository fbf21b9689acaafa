"""The past runs of a store, and which of them are like a run that is judged now."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from analyzer.errors import Location, RuleErrors, RunError
from analyzer.findings.exports.document import document
from analyzer.findings.seen import PastNote, PastRun, SeenBefore
from analyzer.fleet.likeness import (
    Config,
    distance,
    rules_distance,
    settings_differ,
    settings_distance,
    shape_distance,
    shape_of,
    varying,
)
from analyzer.fleet.notes import note_about, read_notes
from analyzer.fleet.reports import report_file
from analyzer.fleet.rows import Entry, load_all
from analyzer.pipeline import Judged

NEAREST = 3  # past runs told of a finding
ALIKE = 0.5  # a run that is further away is not told


@dataclass(frozen=True)
class History:
    """The runs of a store that could be judged."""

    store: Path
    entries: tuple[Entry, ...]

    def beside(self, judged: Judged) -> Judged:
        """The judged run with the past runs that are like it, by finding."""
        seen = self.seen(judged)
        return replace(judged, verdicts=replace(judged.verdicts, seen=seen))

    def seen(self, judged: Judged) -> SeenBefore:
        """The past runs that are like this one."""
        told = document(judged.verdicts)
        config = dict(judged.tables.sql("SELECT key, value FROM config ORDER BY key").to_pydict())
        settings = dict(zip(config["key"], config["value"], strict=True))
        return seen_before(told, settings, self.entries, self.store)


def open_history(store: Path) -> History:
    """The history that a store holds. Raises RunError where it holds none."""
    entries = tuple(entry for entry in load_all(store) if entry.document is not None)
    if not entries:
        raise RunError(
            "no run in this store", at=Location(str(store)), hint="analyzer batch ROOT --store DIR"
        )
    return History(store, entries)


def seen_before(
    told: Mapping[str, Any], settings: Config, entries: Sequence[Entry], store: Path
) -> SeenBefore:
    """The past runs that are like the run of this findings document, nearest first.

    Past are those that began before it; where one of the two times is not known, a run counts as
    past. Of equally near ones the latest comes first. The run itself is left out.
    """
    past = [entry for entry in entries if _is_past(entry, told["run"])]
    keys = varying([c for c in (settings, *(entry.config for entry in past)) if c])
    nearest = []
    for finding in _counting(told):
        found = sorted(
            _alike(finding, told, settings, past, keys, store),
            key=lambda run: run.path,
        )
        found.sort(key=lambda run: run.started or "", reverse=True)
        found.sort(key=lambda run: run.distance)
        told_runs = tuple(_with_note(run, finding["rule"]) for run in found[:NEAREST])
        nearest.append((str(finding["id"]), told_runs))
    return SeenBefore(len(past), tuple(nearest))


def _is_past(entry: Entry, run: Mapping[str, Any]) -> bool:
    assert entry.document is not None
    if _contents(entry.document["run"]) == _contents(run):
        return False  # the run itself, or a copy of it
    began, now = entry.row.started, run["started"]
    return began is None or now is None or began < now


def _contents(run: Mapping[str, Any]) -> list[tuple[str, str]]:
    return sorted((source["path"], source["sha256"]) for source in run["sources"])


def _counting(told: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [finding for finding in told["findings"] if finding["suppressed"] is None]


def _alike(
    finding: Mapping[str, Any],
    told: Mapping[str, Any],
    settings: Config,
    past: Sequence[Entry],
    keys: Sequence[str],
    store: Path,
) -> Iterator[PastRun]:
    mine = frozenset(f["rule"] for f in _counting(told))
    steps = told["run"]["steps"]
    shape = shape_of(finding, steps["first"], steps["last"])
    for entry in past:
        assert entry.document is not None
        findings = {f["rule"]: f for f in _counting(entry.document)}
        other = findings.get(finding["rule"])
        if other is None:
            continue
        theirs = frozenset(findings)
        their_shape = shape_of(other, entry.row.first_step, entry.row.last_step)
        differ = settings_differ(settings, entry.config, keys)
        away = distance(
            rules_distance(mine, theirs),
            shape_distance(shape, their_shape),
            settings_distance(differ, keys),
        )
        if away > ALIKE:
            continue
        report = report_file(store, entry.row.path, entry.key).absolute()
        yield PastRun(
            run=entry.row.run,
            path=entry.row.path,
            started=entry.row.started,
            distance=away,
            both=tuple(sorted(mine & theirs)),
            here=tuple(sorted(mine - theirs)),
            there=tuple(sorted(theirs - mine)),
            shape_here=shape,
            shape_there=their_shape,
            keys=None if differ is None else len(keys),
            differ=differ or (),
            same_rules=entry.row.rules_sha256 == told["tool"]["rules_sha256"],
            note=None,
            note_error="",
            report=str(report) if report.is_file() else "",
        )


def _with_note(run: PastRun, rule: str) -> PastRun:
    """What was done then; a file that is at fault is told and ends nothing."""
    try:
        note = note_about(read_notes(Path(run.path.partition("#")[0])), rule)
    except RuleErrors as cause:
        return replace(run, note_error=str(cause.errors[0]))
    if note is None:
        return run
    return replace(run, note=PastNote(note.done, note.outcome, note.by, note.link))
