"""Workers that die or fail take nothing with them but their run."""

from __future__ import annotations

import os
import pickle
import signal
import sys
from datetime import date
from pathlib import Path

import pytest
from runs_of import write_run

from analyzer import __version__
from analyzer.cli import run_command
from analyzer.errors import ExitCode, RunError
from analyzer.fleet.engine import run_local
from analyzer.fleet.find import Found
from analyzer.fleet.judge import Judging, Work, failed
from analyzer.fleet.progress import Progress
from analyzer.fleet.ray_engine import node_is_ready
from analyzer.fleet.rows import exit_code, load, publish
from analyzer.pipeline import Settings


def found(name: str) -> Found:
    return Found(f"/runs/{name}", name, "as listed", 0.0)


class Dying(Judging):
    """Its worker publishes each run, but ends itself at the run `killer`."""

    def work(self) -> Work:
        def judge(run: Found) -> bool:
            if run.relative == "killer":
                os.kill(os.getpid(), signal.SIGKILL)
            if run.relative == "full":
                raise RunError("the store cannot be written: No space left on device")
            publish(self.settings.store, failed(run, "published by its worker"))
            return True

        return judge


def test_a_killed_worker_costs_only_its_run(tmp_path: Path) -> None:
    judging = Dying(Settings(store=tmp_path, today=date(2026, 11, 1)))
    ended: list[tuple[str, bool]] = []
    runs = [found(name) for name in ("a", "killer", "b", "c")]
    run_local(runs, judging, lambda run, ok: ended.append((run.relative, ok)), jobs=2)
    assert sorted(ended) == [("a", True), ("b", True), ("c", True), ("killer", False)]
    entry = load(tmp_path, "/runs/killer")
    assert entry is not None
    assert entry.row.error == "its worker ended (SIGKILL), perhaps for lack of memory"
    assert entry.listing == ""  # so that the next batch tries it again
    assert exit_code(entry.row, "error") == ExitCode.CANNOT_JUDGE


def test_a_store_that_is_full_ends_the_batch_in_one_line(tmp_path: Path) -> None:
    judging = Dying(Settings(store=tmp_path, today=date(2026, 11, 1)))
    with pytest.raises(RunError, match="No space left on device"):
        run_local([found("full"), found("a")], judging, lambda run, ok: None, jobs=1)


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


def test_without_ray_one_line_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_run(tmp_path / "runs" / "trial", 1)
    monkeypatch.setitem(sys.modules, "ray", None)
    words = ["batch", str(tmp_path / "runs"), "--store", str(tmp_path / "store"), "--quiet"]
    assert run_command([*words, "--engine", "ray"]) == ExitCode.CANNOT_JUDGE
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("--engine ray: Ray is not installed here (pip install 'rl-run-analyzer[")
    assert run_command([*words, "--address", "here:6379"]) == ExitCode.CANNOT_JUDGE
    assert "--address is the cluster's (give --engine ray with it)" in capsys.readouterr().err


def test_a_node_says_what_is_not_as_it_is_here(tmp_path: Path) -> None:
    judging = pickle.dumps(Judging(Settings(store=tmp_path)))
    other = node_is_ready("0.0.1", "key", str(tmp_path), judging, "")
    assert other == f"analyzer {__version__} there, 0.0.1 here; install the same"
    rules = node_is_ready(__version__, "key", str(Path.cwd()), judging, "")
    assert rules == "other rules there than here; install the same, and share rule folders"
