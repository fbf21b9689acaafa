"""A reading as plain Python values, whole or in pieces, as whoever keeps the rows does it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analyzer.sources.records import Facts, Format, Note, Resume


@dataclass
class Got:
    """What a reader handed on."""

    metrics: list[tuple[int, int, int | None, str, float, Any]]
    events: list[dict[str, Any]]
    config: dict[str, str]
    notes: list[Note]
    facts: Facts
    resume: Resume | None

    @property
    def rows(self) -> list[tuple[int, int, int | None, str, float]]:
        """Metric rows without their time: attempt, step, log_step, metric, value."""
        return [row[:5] for row in self.metrics]

    def kinds(self) -> list[str]:
        """The kinds of the notes."""
        return [note.kind for note in self.notes]


def read(reader: Format, path: Path, resume: Resume | None = None) -> Got:
    """Everything in a file."""
    reading = reader.read(path, resume)
    got = Got([], [], {}, [], reading.facts, None)
    for chunk in reading:
        rows = chunk.rows.to_pylist()
        assert len(rows) <= 1 << 16
        if chunk.table == "metrics":
            keys = ("attempt", "step", "log_step", "metric", "value", "wall_time")
            got.metrics += [tuple(row[key] for key in keys) for row in rows]
        elif chunk.table == "events":
            got.events += rows
        else:
            got.config |= {row["key"]: row["value"] for row in rows}
    got.notes, got.facts, got.resume = reading.notes, reading.facts, reading.resume
    return got


def read_in_pieces(reader: Format, path: Path, data: bytes, cuts: list[int]) -> Got:
    """Read a file as it grows to each of the cuts and then to its whole length."""
    whole = Got([], [], {}, [], Facts(), None)
    for cut in [*cuts, len(data)]:
        path.write_bytes(data[:cut])
        resume = whole.resume
        got = read(reader, path, resume)
        if resume is not None:
            whole.metrics = whole.metrics[: len(whole.metrics) - resume.metrics_after]
            whole.events = whole.events[: len(whole.events) - resume.events_after]
            whole.notes = [n for n in whole.notes if n.line is None or n.line <= resume.line]
        whole.metrics += got.metrics
        whole.events += got.events
        whole.config |= got.config
        whole.notes += got.notes
        whole.facts, whole.resume = got.facts, got.resume
    return whole
