"""The parts of a run's sources: which belong together, in which order, and whose word counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow.compute as pc
import pyarrow.parquet as pq

from analyzer.sources.readers import reader_for
from analyzer.tables.state import SourceState

_WEIGHTS = {"samples": 0, "tracker": 1, "config": 2, "log": 3}


def metric_parts(source: SourceState, home: Path) -> list[tuple[Path, int]]:
    """The files of a source's metric rows, and how many of each count."""
    return [
        (path, rows)
        for name, rows, _ in source.parts
        if rows and (path := home / "parts" / f"{name}.metrics.parquet").exists()
    ]


def in_order(sources: Sequence[SourceState], home: Path) -> Iterator[tuple[SourceState, str]]:
    """The sources that have metric rows, and the name under which each counts as one source.

    Files that go on one another count as one: the event files of a folder, and a tracker's files
    of one run. A tracker's names do not tell which was first, but its times do.
    """
    counting = [source for source in sources if metric_parts(source, home)]
    counting.sort(key=lambda s: (_began(s, home) if s.facts.tracker_run else "", s.path))
    first: dict[tuple[str, str], str] = {}
    for source in counting:
        if source.facts.tracker_run:
            run = (source.format, source.facts.tracker_run)
            yield source, first.setdefault(run, source.path)
        elif source.format == "tensorboard":
            folder, _, name = source.path.rpartition("/")
            stem = name.split(".tfevents.")[0]
            yield source, f"{folder}/{stem}.tfevents" if folder else "tfevents"
        else:
            yield source, source.path


def _began(source: SourceState, home: Path) -> str:
    times = pq.read_table(metric_parts(source, home)[0][0], columns=["wall_time"])["wall_time"]
    began = pc.min(times).as_py()
    return began.isoformat() if began else ""


def by_weight(sources: Sequence[SourceState]) -> list[SourceState]:
    """The sources, those whose word counts most last: text logs, and those near the root."""
    return sorted(
        sorted(sources, key=lambda s: s.path, reverse=True),
        key=lambda s: (_weight(s), -s.path.count("/")),
    )


def _weight(source: SourceState) -> int:
    return _WEIGHTS[reader_for(source.format).role]


def told_by_log(sources: Sequence[SourceState]) -> list[SourceState]:
    """The sources whose events count: where there is a text log, no tracker's copy of it."""
    logs = [s for s in sources if reader_for(s.format).role == "log"]
    return [s for s in sources if not logs or reader_for(s.format).role != "tracker"]


def quoted(path: Path) -> str:
    """A path for use between the quotes of a query."""
    return str(path).replace("'", "''")
