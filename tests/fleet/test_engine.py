"""Workers that die or fail take nothing with them but their run."""

from __future__ import annotations

import os
import signal
from datetime import date
from pathlib import Path

import pytest

from analyzer.errors import ExitCode, RunError
from analyzer.fleet.engine import Work, run_local
from analyzer.fleet.find import Found
from analyzer.fleet.judge import failed
from analyzer.fleet.progress import Progress
from analyzer.fleet.rows import exit_code, load, publish
from analyzer.pipeline import Settings


def found(name: str) -> Found:
    return Found(f"/runs/{name}", name, "as listed", 0.0)


def dying(settings: Settings) -> Work:
    """A worker that publishes each run, but ends itself at the run `killer`."""

    def work(run: Found) -> bool:
        if run.relative == "killer":
            os.kill(os.getpid(), signal.SIGKILL)
        if run.relative == "full":
            raise RunError("the store cannot be written: No space left on device")
        publish(settings.store, failed(run, "published by its worker"))
        return True

    return work


def test_a_killed_worker_costs_only_its_run(tmp_path: Path) -> None:
    settings = Settings(store=tmp_path, today=date(2026, 11, 1))
    ended: list[tuple[str, bool]] = []
    runs = [found(name) for name in ("a", "killer", "b", "c")]
    run_local(runs, 2, settings, lambda run, ok: ended.append((run.relative, ok)), dying)
    assert sorted(ended) == [("a", True), ("b", True), ("c", True), ("killer", False)]
    entry = load(tmp_path, "/runs/killer")
    assert entry is not None
    assert entry.row.error == "its worker ended (SIGKILL), perhaps for lack of memory"
    assert entry.listing == ""  # so that the next batch tries it again
    assert exit_code(entry.row, "error") == ExitCode.CANNOT_JUDGE


def test_a_store_that_is_full_ends_the_batch_in_one_line(tmp_path: Path) -> None:
    settings = Settings(store=tmp_path, today=date(2026, 11, 1))
    with pytest.raises(RunError, match="No space left on device"):
        run_local([found("full"), found("a")], 1, settings, lambda run, ok: None, dying)


def test_lines_tell_rate_and_remaining_time() -> None:
    told: list[str] = []
    times = iter([0.0, 2.0, 6.0, 8.0])
    progress = Progress(told.append, bar=False, clock=lambda: next(times))
    with progress.of(13, 3):
        for _ in range(3):
            progress.advance()
    # Two of ten in six seconds: eight more take 24.
    assert told == [
        "13 runs, 3 of them unchanged",
        "5 of 13 runs, 0.3 a second, 24 s left",
    ]
