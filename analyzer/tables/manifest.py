"""run.json: what was read of a run, from where, and what was left aside."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SourceRecord:
    """One file that was read."""

    path: str  # relative to the run's root
    format: str
    bytes: int
    sha256: str
    digits: int  # significant decimal digits of its values
    rows: int  # metric rows, or samples, read from it
    notes: int  # data-quality notes it gave


@dataclass(frozen=True, slots=True)
class SkippedRecord:
    """A file left aside."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class AttemptRecord:
    """One life of the process: from its first to its last logged step."""

    number: int
    first_step: int
    last_step: int
    started: str | None  # ISO 8601, UTC
    ended: str | None
    superseded: tuple[int, int] | None  # its steps that a later attempt wrote again


@dataclass(frozen=True, slots=True)
class NoteRecord:
    """A data-quality note."""

    kind: str
    detail: str
    steps: tuple[int, int] | None
    source: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Manifest:
    """Everything about a run that is not a row."""

    run: str  # id: "gsm8k-grpo/truncation-12", or the folder's name
    framework: str | None
    framework_version: str | None
    first_step: int | None
    last_step: int | None
    step_count: int
    total_steps: int | None  # what the run meant to do
    steps_per_epoch: int | None
    finished: bool | None  # the log says that training completed; None: no text log
    started: str | None  # ISO 8601, UTC
    ended: str | None
    metrics: int  # distinct metric names
    attempts: tuple[AttemptRecord, ...]
    sources: tuple[SourceRecord, ...]
    skipped: tuple[SkippedRecord, ...]
    notes: tuple[NoteRecord, ...]
    samples: int = 0  # responses in rollout and completion dumps
