"""run.json: the manifest that others read, and the store's own memory of what it has read."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from analyzer.sources.records import Facts, Note, Resume, RunFiles
from analyzer.tables.manifest import (
    AttemptRecord,
    Manifest,
    NoteRecord,
    SkippedRecord,
    SourceRecord,
)

SCHEMA_VERSION = 2
FILE = "run.json"
TABLE_FILES = ("metrics.parquet", "events.parquet", "config.parquet", "samples.parquet")


@dataclass(frozen=True, slots=True)
class SourceState:
    """A source as it was read: what tells a change, where its rows are, what it said."""

    path: str
    format: str
    digits: int
    bytes: int
    mtime_ns: int
    sha256: str
    parts: tuple[tuple[str, int, int], ...]  # name, metric rows or samples, events that count
    notes: tuple[Note, ...]
    facts: Facts
    resume: Resume | None


@dataclass(frozen=True, slots=True)
class StoreState:
    """Everything in run.json."""

    schema: int
    tool: str
    catalog_sha256: str
    tables: dict[str, int]  # bytes of each table file: a half-written store is noticed
    skipped: tuple[SkippedRecord, ...]
    sources: tuple[SourceState, ...]
    manifest: Manifest

    def fits(self, files: RunFiles, catalog_sha256: str, home: Path) -> bool:
        """Does the store still say what the files and the catalog say?"""
        skipped = tuple(SkippedRecord(s.relative, s.reason) for s in files.skipped)
        return (
            self.catalog_sha256 == catalog_sha256
            and self.skipped == skipped
            and self.tables == table_sizes(home)
        )


def joined(first: Facts, then: Facts) -> Facts:
    """What `then` says, filled up with what `first` said."""
    known = {name: value for name in Facts.__slots__ if (value := getattr(then, name)) is not None}
    return replace(first, **known)


def table_sizes(home: Path) -> dict[str, int]:
    """Bytes of the table files that are there."""
    return {name: (home / name).stat().st_size for name in TABLE_FILES if (home / name).exists()}


def save_state(home: Path, state: StoreState) -> None:
    """Write run.json atomically."""
    temporary = home / (FILE + ".tmp")
    temporary.write_text(json.dumps(asdict(state), indent=1, ensure_ascii=False) + "\n", "utf-8")
    temporary.replace(home / FILE)


def load_state(home: Path) -> StoreState | None:
    """Read run.json; None when there is none or it is another version's."""
    try:
        data = json.loads((home / FILE).read_text("utf-8"))
    except (OSError, ValueError):
        return None
    if data.get("schema") != SCHEMA_VERSION:
        return None
    return StoreState(
        data["schema"],
        data["tool"],
        data["catalog_sha256"],
        data["tables"],
        tuple(SkippedRecord(**s) for s in data["skipped"]),
        tuple(_source(s) for s in data["sources"]),
        manifest_from(data["manifest"]),
    )


def _source(data: dict[str, Any]) -> SourceState:
    return SourceState(
        data["path"],
        data["format"],
        data["digits"],
        data["bytes"],
        data["mtime_ns"],
        data["sha256"],
        tuple((name, metrics, events) for name, metrics, events in data["parts"]),
        tuple(Note(**note) for note in data["notes"]),
        Facts(**data["facts"]),
        Resume(**data["resume"]) if data["resume"] else None,
    )


def manifest_from(data: dict[str, Any]) -> Manifest:
    """A manifest from its JSON form."""
    plain = {k: v for k, v in data.items() if k not in ("attempts", "sources", "skipped", "notes")}
    return Manifest(
        **plain,
        attempts=tuple(
            AttemptRecord(**{**a, "superseded": _pair(a["superseded"])}) for a in data["attempts"]
        ),
        sources=tuple(SourceRecord(**s) for s in data["sources"]),
        skipped=tuple(SkippedRecord(**s) for s in data["skipped"]),
        notes=tuple(NoteRecord(**{**n, "steps": _pair(n["steps"])}) for n in data["notes"]),
    )


def _pair(value: list[int] | None) -> tuple[int, int] | None:
    return (value[0], value[1]) if value else None
