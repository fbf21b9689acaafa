"""What `make` hands to the command, seen by a stand-in for the command."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

FROM_OUTSIDE = {
    *("MAKEFLAGS", "MAKELEVEL", "MFLAGS"),  # of the make that runs the tests
    *("RUN", "RUNS", "RUNS_ROOT", "OUT", "AGAINST", "RULES", "REPORT_LANG"),
}


@pytest.fixture
def checkout(tmp_path: Path, repository: Path) -> Path:
    """A folder with our Makefile, nothing to install, and a command that prints its arguments."""
    shutil.copy(repository / "Makefile", tmp_path)
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "bootstrap.sh").write_text("echo ready: $1 >&2\n", "utf-8")
    command = tmp_path / ".venv" / "bin" / "analyzer"
    command.parent.mkdir(parents=True)
    command.write_text("#!/bin/sh\nprintf '%s\\n' \"$@\"\n", "utf-8")
    command.chmod(0o755)
    return tmp_path


def make(checkout: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {k: v for k, v in os.environ.items() if k not in FROM_OUTSIDE}
    return subprocess.run(
        ["make", *words], cwd=checkout, env=environment, capture_output=True, text=True, check=False
    )


def test_report_passes_every_option_on(checkout: Path) -> None:
    (checkout / "my run").mkdir()
    done = make(
        checkout,
        "report",
        "RUN=my run",
        "OUT=to here",
        "AGAINST=sync=a testset=b",
        "REPORT_LANG=zh",
        "RULES=mine ours",
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == "ready: report\n"
    assert done.stdout.splitlines() == [
        *("report", "my run", "--out", "to here", "--lang", "zh"),
        *("--against", "sync=a", "--against", "testset=b", "--rules", "mine", "--rules", "ours"),
    ]


def test_a_name_below_runs_root(checkout: Path) -> None:
    (checkout / "here").mkdir()
    below = make(checkout, "check", "RUN=trial-7", "RUNS_ROOT=/somewhere/runs")
    assert below.stdout.splitlines() == ["check", "/somewhere/runs/trial-7"]
    path = make(checkout, "check", "RUN=here", "RUNS_ROOT=/somewhere/runs")
    assert path.stdout.splitlines() == ["check", "here"]


@pytest.mark.parametrize("words", [(), ("report",), ("check",)])
def test_without_a_run_one_line_says_so(checkout: Path, words: tuple[str, ...]) -> None:
    done = make(checkout, *words)
    assert done.returncode == 2
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert f"say which run: make {words[0] if words else 'report'} RUN=path/to/run" in line


def test_batch_takes_folders(checkout: Path) -> None:
    done = make(checkout, "batch", "RUNS=spring summer", "RULES=mine")
    assert done.returncode == 0, done.stderr
    assert done.stderr == "ready: report\n"
    assert done.stdout.splitlines() == ["batch", "spring", "summer", "--rules", "mine"]


def test_batch_without_folders_is_one_line(checkout: Path) -> None:
    done = make(checkout, "batch")
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert "make batch RUNS=path/to/runs" in line
