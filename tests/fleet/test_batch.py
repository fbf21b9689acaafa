"""`analyzer batch`: all runs below a folder, whatever is broken, killed or changed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, BinaryIO

import pytest
from runs_of import BAD_STEP, STARTED, STEPS, inodes, log, rows_on_disk, write_fleet, write_run

from analyzer.cli import run_command
from analyzer.errors import ExitCode
from analyzer.fleet.tables import write_tables
from sample_logs.areal_files import log_line

SICK = {0, 5, 10, 15, 20, 25}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("history") / "runs"
    write_fleet(folder)
    return folder


@pytest.fixture(autouse=True)
def _closed_to_root_too(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Root reads every file: for root, a file without permissions is refused here."""
    closed, opened = root / "exp0/closed/main.log", Path.open

    def refusing(path: Path, *arguments: Any, **options: Any) -> BinaryIO:
        if path == closed:
            raise PermissionError(13, "Permission denied", str(path))
        return opened(path, *arguments, **options)  # type: ignore[no-any-return]

    if os.geteuid() == 0:
        monkeypatch.setattr(Path, "open", refusing)


class Ran:
    """One `batch` and what it printed."""

    def __init__(self, capsys: pytest.CaptureFixture[str], store: Path, *arguments: object) -> None:
        words = ["batch", "--store", str(store), *map(str, arguments)]
        self.code = run_command(words)
        self.out, self.err = capsys.readouterr()

    @property
    def rows(self) -> dict[str, dict[str, Any]]:
        """Of --format json, by the last two parts of the path."""
        return {"/".join(row["path"].split("/")[-2:]): row for row in json.loads(self.out)}

    @property
    def summary(self) -> str:
        return self.err.splitlines()[-1]


@pytest.fixture(scope="module")
def whole_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("store")


def test_thirty_runs_three_of_them_broken(
    root: Path, whole_store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ran = Ran(capsys, whole_store, root, "--jobs", 2, "--format", "json")
    assert ran.summary == "30 runs: 27 judged, 0 unchanged, 3 could not be judged"
    assert ran.code == ExitCode.CANNOT_JUDGE
    rows = ran.rows
    assert len(rows) == 30
    errors = {name: row["error"] for name, row in rows.items() if row["error"]}
    assert errors == {
        "exp0/empty": f"{root}/exp0/empty/main.log: empty file",
        "exp0/garbage": f"{root}/exp0/garbage/main.log: no reader knows this format",
        "exp0/closed": f"{root}/exp0/closed/main.log: cannot be read: permission denied",
    }
    for number in range(27):
        row = rows[f"exp{number % 3}/trial-{number:02d}"]
        expected = ("error", "grad-nonfinite", BAD_STEP) if number in SICK else ("ok", None, None)
        assert (row["verdict"], row["first_finding"], row["onset"]) == expected
        assert row["steps"] == STEPS

    # Nothing is new: no row is written, no run judged.
    before = inodes(whole_store)
    again = Ran(capsys, whole_store, root, "--jobs", 2, "--format", "json")
    assert again.summary == "30 runs: 0 judged, 27 unchanged, 3 could not be judged"
    assert (again.out, again.code) == (ran.out, ran.code)
    assert inodes(whole_store) == before

    query = "SELECT first_finding AS f, count(*) AS n FROM runs WHERE error IS NULL GROUP BY f"
    assert run_command(["sql", str(whole_store / "fleet"), query, "--format", "json"]) == 0
    answer = {row["f"]: row["n"] for row in json.loads(capsys.readouterr().out)}
    assert answer == {None: 21, "grad-nonfinite": 6}
    query = "SELECT DISTINCT onset FROM findings JOIN runs USING (path) WHERE NOT suppressed"
    assert run_command(["sql", str(whole_store / "fleet"), query]) == ExitCode.CANNOT_JUDGE
    assert "mbiguous" in capsys.readouterr().err
    query = "SELECT count(*) AS n, min(onset) AS o FROM findings WHERE rule = 'grad-nonfinite'"
    assert run_command(["sql", str(whole_store / "fleet"), query, "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == [{"n": 6, "o": BAD_STEP}]


def test_one_worker_or_two_give_the_same_bytes(
    root: Path, whole_store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = (root, "--include", "exp0/*", "--format", "csv")
    two = Ran(capsys, whole_store, *asked, "--jobs", 2)
    one = Ran(capsys, tmp_path / "one", *asked, "--jobs", 1)
    assert one.summary.startswith("12 runs: 9 judged, 0 unchanged, 3 could not be judged")
    assert (one.out, one.code) == (two.out, two.code)
    rows = rows_on_disk(tmp_path / "one")
    assert len(rows) == 12
    theirs = rows_on_disk(whole_store)
    assert rows == {name: theirs[name] for name in rows}
    # And so are the tables made from the rows of two workers.
    (tmp_path / "two/fleet/rows").mkdir(parents=True)
    for name in rows:
        (tmp_path / "two/fleet/rows" / name).write_bytes(theirs[name])
    write_tables(tmp_path / "two")
    for table in ("runs.parquet", "findings.parquet"):
        first, second = ((tmp_path / s / "fleet" / table).read_bytes() for s in ("one", "two"))
        assert first == second


def test_after_a_kill_only_what_is_missing_is_judged(
    root: Path, tmp_path: Path, repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = [str(root / "exp1"), "--exclude", "*-2*", "--jobs", "2"]
    words = ["batch", *asked, "--store", str(tmp_path)]
    process = subprocess.Popen(
        [sys.executable, "-m", "analyzer.cli", *words],
        cwd=repository,
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    while len(rows_on_disk(tmp_path)) < 2:
        assert process.poll() is None
        time.sleep(0.002)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    before, kept = rows_on_disk(tmp_path), inodes(tmp_path)
    assert 2 <= len(before) < 7
    assert all(json.loads(text)["row"]["verdict"] in ("ok", "error") for text in before.values())

    ran = Ran(capsys, tmp_path, *asked)
    counts = f"{7 - len(before)} judged, {len(before)} unchanged, 0 could not be judged"
    assert ran.summary.startswith(f"7 runs: {counts}; 2 found but not asked for")
    assert len(rows_on_disk(tmp_path)) == 7
    assert {name: inode for name, inode in inodes(tmp_path).items() if name in kept} == kept


def test_what_changed_is_judged_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root, store = tmp_path / "runs", tmp_path / "store"
    for number in range(3):
        write_run(root / f"trial-{number}", number)
    asked = (root, "--jobs", 1, "--format", "json")
    assert Ran(capsys, store, *asked).code == ExitCode.JUDGED

    # A log that grew, and one that was only touched.
    (root / "trial-1" / "main.log").write_text(log(1, sick=True, steps=STEPS + 1), "utf-8")
    os.utime(root / "trial-2" / "main.log", (1_800_000_000, 1_800_000_000))
    ran = Ran(capsys, store, *asked)
    assert ran.summary == "3 runs: 1 judged, 2 unchanged, 0 could not be judged"
    assert [row["verdict"] for row in ran.rows.values()] == ["ok", "error", "ok"]
    assert ran.code == ExitCode.FINDINGS

    # A rule's parameter, and the same once more.
    for summary in ("3 judged, 0 unchanged", "0 judged, 3 unchanged"):
        ran = Ran(capsys, store, *asked, "--set", "truncation.limit=0.07")
        assert ran.summary == f"3 runs: {summary}, 0 could not be judged"

    # A day, globs, and a selection that is empty.
    ran = Ran(capsys, store, *asked, "--since", "2027-01-01", "--set", "truncation.limit=0.07")
    assert list(ran.rows) == ["runs/trial-2"]
    ran = Ran(capsys, store, *asked, "--exclude", "*-1", "--set", "truncation.limit=0.07")
    assert list(ran.rows) == ["runs/trial-0", "runs/trial-2"]
    assert ran.code == ExitCode.JUDGED
    ran = Ran(capsys, store, *asked, "--include", "nothing*")
    assert (ran.code, ran.out) == (ExitCode.CANNOT_JUDGE, "")
    assert "3 runs, but none that was asked for" in ran.err


@pytest.mark.parametrize("made", [False, True])
def test_nothing_to_judge_is_one_line(
    made: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if made:
        (tmp_path / "runs" / "code").mkdir(parents=True)
        (tmp_path / "runs" / "code" / "train.py").write_text("print()\n", "utf-8")
    ran = Ran(capsys, tmp_path / "store", tmp_path / "runs")
    assert (ran.code, ran.out) == (ExitCode.CANNOT_JUDGE, "")
    assert ("no run below it" if made else "no such file or directory") in ran.err
    assert len(ran.err.splitlines()) == 1


def test_a_log_without_a_step_is_one_that_cannot_be_judged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "runs" / "trial"
    folder.mkdir(parents=True)
    line = log_line(STARTED, "Launcher", "INFO", "experiment_name=a, trial_name=b", 92)
    (folder / "main.log").write_text(f"{line}\n", "utf-8")
    for _ in range(2):
        ran = Ran(capsys, tmp_path / "store", tmp_path / "runs", "--format", "json")
        assert ran.summary == "1 run: 0 judged, 0 unchanged, 1 could not be judged"
        (row,) = ran.rows.values()
        assert (row["verdict"], row["error"]) == ("cannot-judge", "no series recognised in it")
        assert ran.code == ExitCode.CANNOT_JUDGE
