"""One file a run: its row, and the findings as `check` prints them.

A file is written under a temporary name and renamed, so that a kill leaves the old one or the new
one. Nothing in it says when or by which worker it was made: equal runs give equal bytes.
"""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from analyzer.errors import AnalyzerError, ExitCode, Location, RunError
from analyzer.findings.model import SEVERITIES, Severity, Verdict

SCHEMA_VERSION = 3
FLEET = "fleet"  # the folder below the store
ROWS = "rows"


@dataclass(frozen=True, slots=True)
class Row:
    """A run of the fleet. A broken one has `error`, and of the rest only path, run and verdict."""

    path: str  # what `check` takes: a folder, a file or FILE#RUN; absolute
    run: str
    verdict: Verdict
    framework: str | None = None
    framework_version: str | None = None
    model: str | None = None  # as configured
    task: str | None = None  # the training data, as configured
    gpus: int | None = None
    steps: int | None = None  # how many were logged
    first_step: int | None = None
    last_step: int | None = None
    started: str | None = None  # ISO 8601, UTC
    ended: str | None = None
    hours: float | None = None  # as the report tells them, of the whole run
    findings: int | None = None  # that count
    first_finding: str | None = None  # the rule: causes first
    onset: int | None = None  # of the first finding, a step
    hours_after_onset: float | None = None  # from it to the end; of the whole run where it has none
    checks: int | None = None  # rules
    not_checked: int | None = None
    tool_version: str | None = None
    rules_sha256: str | None = None
    error: str | None = None  # one line
    defect: bool = False  # the error is the program's


@dataclass(frozen=True, slots=True)
class Entry:
    """What is kept of a run: the row, and what tells that it still holds."""

    row: Row
    listing: str  # the files as listed; "" where it is to be tried again
    rules: str  # digest of rules, parameters and version
    key: str  # digest of the sources' contents and of `rules`; "" where nothing was read
    document: dict[str, Any] | None  # the findings document
    config: dict[str, str] = field(default_factory=dict)  # key → JSON text
    metrics: dict[str, list[Any]] = field(default_factory=dict)  # columns of summaries.SUMMARY
    reward: list[list[float]] = field(default_factory=list)  # step and value of the drawn line
    tables: str = ""  # folder of the run's tables, below the store; "" where nothing was read


def exit_code(row: Row, fail_on: Severity) -> ExitCode:
    """How `check` would end for this run."""
    if row.defect:
        return ExitCode.DEFECT
    if row.verdict == "cannot-judge":
        return ExitCode.CANNOT_JUDGE
    grave = row.verdict in SEVERITIES[SEVERITIES.index(fail_on) :]
    return ExitCode.FINDINGS if grave else ExitCode.JUDGED


def broken(path: str, error: str, *, defect: bool = False) -> Row:
    """The row of a run that could not be judged."""
    line = " ".join(error.split())
    return Row(path, Path(path).name, "cannot-judge", error=line, defect=defect)


def told(cause: AnalyzerError) -> str:
    """An error as a row tells it: where and what; `check` on the path adds what to do."""
    return f"{cause.at}: {cause.message}" if cause.at else cause.message


def publish(store: Path, entry: Entry) -> None:
    """Write a run's file. Raises RunError when the store cannot be written."""
    written(store / row_file(entry.row.path), encoded(entry))


def encoded(entry: Entry) -> bytes:
    """What a run's file holds."""
    data = {"schema_version": SCHEMA_VERSION, **asdict(entry)}
    text = json.dumps(data, indent=1, ensure_ascii=False) + "\n"
    return text.encode("utf-8", "surrogateescape")


def written(path: Path, content: bytes) -> None:
    """A file of the fleet, whole or not at all. Raises RunError when it cannot be written."""
    temporary = temporary_beside(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_bytes(content)
        temporary.replace(path)
    except OSError as cause:
        raise store_error(path.parent, cause) from cause


def temporary_beside(path: Path) -> Path:
    """A name that no other writer has, on this machine or another that shares the folder."""
    return path.with_name(f"{path.name}.{uuid.uuid4().hex}.tmp")


def store_error(place: Path, cause: OSError) -> RunError:
    """The error for a store that cannot be written."""
    return RunError(
        f"the store cannot be written: {cause.strerror or cause}",
        at=Location(str(place)),
        hint="give another place with --store",
    )


def load(store: Path, path: str) -> Entry | None:
    """What is kept of a run; None where there is nothing, or nothing that can be read."""
    return _load(store / row_file(path))


def load_all(store: Path) -> Iterator[Entry]:
    """Every run in the store, by path."""
    files = (store / FLEET / ROWS).glob("*.json")
    entries = [entry for file in files if (entry := _load(file)) is not None]
    yield from sorted(entries, key=lambda entry: entry.row.path)


def remove(store: Path, path: str) -> None:
    """Forget a run."""
    (store / row_file(path)).unlink(missing_ok=True)


def row_name(path: str) -> str:
    """What the files of the run at that path are called."""
    return hashlib.sha256(path.encode()).hexdigest()[:24]


def row_file(path: str) -> str:
    """Where below the store what is kept of a run lies."""
    return f"{FLEET}/{ROWS}/{row_name(path)}.json"


def decoded(content: bytes) -> Entry | None:
    """What a run's file says; None where that cannot be read."""
    try:
        data = json.loads(content.decode("utf-8", "surrogateescape"))
        if data.pop("schema_version") != SCHEMA_VERSION:
            return None
        return Entry(Row(**data.pop("row")), **data)
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def _load(file: Path) -> Entry | None:
    try:
        return decoded(file.read_bytes())
    except OSError:
        return None
