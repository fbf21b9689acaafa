"""Weights & Biases run files: what a run logged, its configuration and its console text."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from analyzer.sources.block_log import BlockLog, without_header
from analyzer.sources.config_rows import config_chunks, flattened, framework_of
from analyzer.sources.console_text import ConsoleText
from analyzer.sources.opening import CutArchiveError, open_log
from analyzer.sources.records import Chunk, Facts, Kin, Note, Reading, Resume, Role
from analyzer.sources.series_rows import SeriesRows
from analyzer.sources.wandb_records import (
    CONFIG,
    EXIT,
    HISTORY,
    OUTPUT,
    OUTPUT_RAW,
    RUN,
    STATS,
    SUMMARY,
    Entry,
    History,
    RunInfo,
    config_of,
    exit_code_of,
    output_of,
    record_of,
    run_of,
)
from analyzer.sources.wire import WireError

_MAGIC = b":W&B\xe1\xbe"
_EARLY = 200  # records among which the run's own must be


class WandbFile:
    """The reader of `.wandb` files; numbers stand in them as JSON, with all their digits."""

    format = "wandb"
    describes = "Weights & Biases run file (run-….wandb, online or offline)"
    digits = 17
    appends = True
    role: Role = "tracker"
    reads = (
        "history, configuration, exit code; console text (metrics only where there is no history)"
    )
    leaves = "system statistics, summary, media and tables, artifacts"
    tested = "wandb 0.19, 0.31"

    def sniff(self, path: Path, head: bytes) -> bool:
        """Does the file begin with the magic bytes?"""
        return head.startswith(_MAGIC)

    def kin(self, path: Path) -> Kin:
        """The run's id and name; by the file's name where no record says them."""
        named = path.name.partition(".")[0].removeprefix("run-")
        run = _early_run(path)
        if run is None:
            return Kin(frozenset([named]))
        name = run.display_name or run.run_id
        full = f"{run.project}/{name}" if run.project else name
        names = {run.run_id or named, *([full] if run.display_name else [])}
        return Kin(frozenset(names), label=full or None)

    def read(self, path: Path, resume: Resume | None = None) -> Reading:
        """Metric rows of the history, the configuration, then what the console text says.

        Raises RunError when the file cannot be read.
        """
        reading = Reading(iter(()))
        reading.chunks = _chunks(path, resume, reading)
        return reading


def _early_run(path: Path) -> RunInfo | None:
    records = BlockLog().records(without_header(open_log(path).blocks(1 << 16)))
    try:
        for _, data in zip(range(_EARLY), records, strict=False):
            found = record_of(data)
            if found is not None and found[0] == RUN:
                return run_of(found[1])
    except (WireError, CutArchiveError):
        pass  # its reading will say so
    return None


@dataclass
class _Known:
    """What the file has said so far; all that a later reading must know."""

    run_id: str = ""
    started: float | None = None
    next_step: int = 0
    attempt: int = 0
    last: int | None = None
    history: int = 0
    unstepped: int = 0  # history records without a step
    odd_steps: int = 0
    odd_step: str = ""  # the first of them
    left_out: int = 0
    statistics: int = 0
    summary: bool = False
    console: bool = False
    exit_code: int | None = None
    config: dict[str, Any] = field(default_factory=dict)


class _Scan:
    """Feed it records; rows and what is known of the run gather in it."""

    def __init__(self, known: _Known) -> None:
        self.known = known
        self.rows = SeriesRows(known.attempt, known.last)
        self.history = History(self.rows)

    def take(self, data: bytes) -> None:
        """One record. Raises WireError for bytes that are none."""
        found = record_of(data)
        if found is None:
            return
        kind, body = found
        known = self.known
        if kind == HISTORY:
            self._log(self.history.entry(body))
        elif kind in (OUTPUT, OUTPUT_RAW):
            known.console = True
        elif kind == STATS:
            known.statistics += 1
        elif kind == SUMMARY:
            known.summary = True
        elif kind == CONFIG:
            config_of(body, known.config)
        elif kind == EXIT:
            known.exit_code = exit_code_of(body)
        elif kind == RUN:
            self._begin(run_of(body))

    def _begin(self, run: RunInfo) -> None:
        known = self.known
        known.run_id, known.started = run.run_id, run.start_time
        known.next_step = max(known.next_step, run.starting_step)
        if run.config is not None:
            config_of(run.config, known.config)

    def _log(self, entry: Entry) -> None:
        known = self.known
        if entry.step is None:
            entry.step = known.next_step
            known.unstepped += 1
            if entry.odd_step is not None:
                known.odd_steps += 1
                known.odd_step = known.odd_step or entry.odd_step
        known.next_step = entry.step + 1
        if entry.metrics:
            known.history += 1
            self.rows.add(entry.step, self._micros(entry), entry.metrics, entry.values)

    def _micros(self, entry: Entry) -> int | None:
        seconds = entry.timestamp
        if seconds is None and entry.runtime is not None and self.known.started is not None:
            seconds = self.known.started + entry.runtime
        return None if seconds is None else round(seconds * 1e6)

    def settled(self) -> _Known:
        """What is known, with the counts of its helpers."""
        known = self.known
        known.attempt, known.last = self.rows.attempt, self.rows.last
        known.left_out, self.history.left_out = known.left_out + self.history.left_out, 0
        return known


def _chunks(path: Path, resume: Resume | None, reading: Reading) -> Iterator[Chunk]:
    """The rows of a file; the reading's other fields are set at the end."""
    scan = _Scan(_Known(**json.loads(resume.state)) if resume else _Known())
    log = open_log(path, resume.offset if resume else 0)
    book = BlockLog(resume.offset, resume.line) if resume else BlockLog()
    blocks = log.blocks() if resume else without_header(log.blocks())
    try:
        for data in book.records(blocks):
            try:
                scan.take(data)
            except WireError as cause:
                detail = f"record {book.count} is no record of a run: {cause}"
                book.notes.append(Note("bad-record", detail, line=book.count))
            yield from scan.rows.full()
    except CutArchiveError as cause:
        book.notes.append(Note("cut-archive", f"the file breaks off: {cause}", line=book.count + 1))
    yield from scan.rows.rest()
    known = scan.settled()
    yield from config_chunks(flattened(known.config))
    reading.notes = book.notes + _notes(known, book.count + 1)
    reading.facts = _facts(known)
    console = ConsoleText("metrics" if not known.history else "events", book.count + 1)
    if known.console:
        yield from console.chunks(_console(path), reading)
    if not log.compressed and known.history:
        state = json.dumps(asdict(known))
        reading.resume = Resume(book.offset, book.count, state, 0, console.events)


def _facts(known: _Known) -> Facts:
    code = known.exit_code
    return Facts(
        framework=framework_of(known.config),
        finished=None if code is None else code == 0,
        tracker_run=known.run_id or None,
    )


def _notes(known: _Known, line: int) -> list[Note]:
    """What a reader of the report should know of the file as a whole."""
    found = []
    if not known.history:
        what = "no history: nothing was logged under a step"
        rest = "; its summary, which has no step, is left out" if known.summary else ""
        found.append(("no-history", what + rest))
    if known.odd_steps:
        what = f"{known.odd_steps} records whose _step is no whole number (first {known.odd_step})"
        found.append(("bad-step", f"{what} are counted on from the record before"))
    if implicit := known.unstepped - known.odd_steps:
        what = f"{implicit} records say no step and are counted on from the record before"
        found.append(("implicit-steps", what))
    if known.left_out:
        what = "values are no numbers (texts, media, tables …) and left out"
        found.append(("not-a-scalar", f"{known.left_out} {what}"))
    if known.statistics:
        what = "records of system statistics, which have no step, are left out"
        found.append(("system-statistics", f"{known.statistics} {what}"))
    if known.exit_code is None:
        what = "no exit record: the run was killed, or is still being written"
        found.append(("no-exit-record", what))
    elif known.exit_code:
        found.append(("exit-code", f"the run ended with exit code {known.exit_code}"))
    return [Note(kind, detail, line=line) for kind, detail in found]


def _console(path: Path) -> Iterator[tuple[int, bytes]]:
    """Stream and text of each console record, in the order of the file."""
    raw = False
    for data in BlockLog().records(without_header(open_log(path).blocks())):
        try:
            found = record_of(data)
            if found is None or found[0] not in (OUTPUT, OUTPUT_RAW):
                continue
            raw = raw or found[0] == OUTPUT_RAW
            if not (raw and found[0] == OUTPUT):  # the same text in lines
                yield output_of(found[1])
        except WireError:
            continue  # noted when the history was read
