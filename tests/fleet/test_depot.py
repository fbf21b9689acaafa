"""The store in an object store: SeaweedFS, started and stopped here."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from runs_of import log, rows_on_disk, write_run
from s3_server import BUCKET, MISSING, SECRET, serving, weed

from analyzer.cli import run_command
from analyzer.errors import ExitCode, RunError, UsageError
from analyzer.fleet import depot as depot_module
from analyzer.fleet.depot import Depot, depot_at, without_secrets
from analyzer.fleet.rows import ROWS, load_all


@pytest.fixture(scope="module")
def bucket(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URI of a bucket, with {} for the prefix; its server ends with the tests."""
    if weed() is None:
        pytest.skip(MISSING)
    with serving(tmp_path_factory.mktemp("s3")) as uri:
        yield uri


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four runs, one of them sick, and one that cannot be read."""
    folder = tmp_path_factory.mktemp("history") / "runs"
    for number in range(4):
        write_run(folder / f"trial-{number}", number, sick=number == 2)
    (folder / "empty").mkdir()
    (folder / "empty" / "main.log").write_bytes(b"")
    return folder


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that has nothing of any store yet."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def objects(uri: str, prefix: str) -> dict[str, bytes]:
    """What is in the bucket below a prefix, read without the code under test."""
    from pyarrow.fs import FileSelector, FileSystem

    system, path = FileSystem.from_uri(uri.format(prefix))
    assert path == f"{BUCKET}/{prefix}"
    found = system.get_file_info(FileSelector(path, recursive=True, allow_not_found=True))
    return {
        info.path[len(path) + 1 :]: system.open_input_stream(info.path).read()
        for info in found
        if info.is_file
    }


def batch(store: str, root: Path, *words: str) -> int:
    return run_command(["batch", str(root), "--store", store, "--jobs", "2", *words])


def without_tables(rows: dict[str, bytes]) -> dict[str, Any]:
    return {name: {**json.loads(text), "tables": None} for name, text in rows.items()}


@pytest.mark.usefixtures("elsewhere")
def test_it_holds_what_a_folder_does(
    bucket: str, root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, store = tmp_path / "folder", bucket.format("a/b")
    asked = ("--format", "json", "--reports", "findings")
    assert batch(str(folder), root, *asked) == ExitCode.CANNOT_JUDGE
    ours = capsys.readouterr().out
    assert batch(store, root, *asked) == ExitCode.CANNOT_JUDGE
    out, err = capsys.readouterr()
    assert out == ours
    assert err.splitlines()[-1] == "5 runs: 4 judged, 0 unchanged, 1 could not be judged"

    there = objects(bucket, "a/b")
    rows = {n.rpartition("/")[2]: t for n, t in there.items() if n.startswith("fleet/rows/")}
    assert without_tables(rows) == without_tables(rows_on_disk(folder))
    for table in (folder / "fleet").glob("*.parquet"):
        assert there[f"fleet/{table.name}"] == table.read_bytes()
    (report,) = (folder / "fleet" / "reports").iterdir()
    assert there[f"fleet/reports/{report.name}"] == report.read_bytes()
    # Each row names the folder of its run's tables; there are no others.
    named = {json.loads(text)["tables"] for text in rows.values()} - {""}
    assert {n.rpartition("/")[0] for n in there if not n.startswith("fleet/")} == named
    assert len(named) == 4
    for tables in named:
        home = folder / tables.partition("/")[0]
        for name in ("metrics", "events", "config", "samples"):
            path = f"{tables}/{name}.parquet"
            assert there[path] == (home / f"{name}.parquet").read_bytes()


def test_another_machine_goes_on_where_the_first_ended(
    bucket: str,
    root: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    store = bucket.format("machines")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "one"))
    assert batch(store, root, "--include", "trial-[01]") == ExitCode.JUDGED
    capsys.readouterr()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "two"))
    assert batch(store, root) == ExitCode.CANNOT_JUDGE
    assert "5 runs: 2 judged, 2 unchanged, 1 could not" in capsys.readouterr().err

    query = "SELECT verdict, count(*) AS n FROM runs GROUP BY ALL ORDER BY ALL"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "three"))
    assert run_command(["sql", store, query, "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == [
        {"verdict": "cannot-judge", "n": 1},
        {"verdict": "error", "n": 1},
        {"verdict": "ok", "n": 3},
    ]


@pytest.mark.usefixtures("elsewhere")
def test_of_a_log_that_grew_only_the_new_tables_stay(bucket: str, tmp_path: Path) -> None:
    run = write_run(tmp_path / "runs" / "trial", 1)
    store = bucket.format("grown")
    assert batch(store, run.parent) == ExitCode.JUDGED
    before = set(objects(bucket, "grown"))
    (run / "main.log").write_text(log(1, steps=30), "utf-8")
    assert batch(store, run.parent) == ExitCode.JUDGED
    after = set(objects(bucket, "grown"))
    gone, new = before - after, after - before
    assert {n.rpartition("/")[2] for n in gone} == {n.rpartition("/")[2] for n in new}
    assert len(gone) == len(new) == 5  # four tables and run.json
    assert len({n.rpartition("/")[0] for n in gone | new}) == 2

    # A folder that holds several runs now is no run any more.
    (run / "a").mkdir()
    (run / "main.log").rename(run / "a" / "main.log")
    write_run(run / "b", 2)
    assert batch(store, run.parent) == ExitCode.JUDGED
    now = objects(bucket, "grown")
    named = [json.loads(text) for name, text in now.items() if name.startswith("fleet/rows/")]
    assert sorted(row["row"]["path"] for row in named) == [str(run / "a"), str(run / "b")]
    assert not new & set(now)


@pytest.mark.usefixtures("elsewhere")
def test_a_row_that_cannot_be_put_leaves_the_old_one_whole(
    bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = write_run(tmp_path / "trial", 1)
    store = bucket.format("whole")
    assert batch(store, run) == ExitCode.JUDGED
    before = objects(bucket, "whole")
    depot = depot_at(store)
    assert depot is not None
    (old,) = load_all(depot.mirror)
    home = depot.mirror / old.tables.partition("/")[0]
    (home / "run.json").write_text("another\n", "utf-8")

    def full(entry: object) -> bytes:
        raise OSError("the network is down")

    monkeypatch.setattr(depot_module, "encoded", full)
    with pytest.raises(RunError, match="the network is down") as caught:
        depot.publish(replace(old, tables=home.name), old)
    assert SECRET not in str(caught.value)
    after = objects(bucket, "whole")
    assert {name: after[name] for name in before} == before
    assert len(after) == len(before) + 5


def test_writers_on_two_machines_at_once(bucket: str, repository: Path, tmp_path: Path) -> None:
    store = bucket.format("both")
    writers = []
    for name in ("left", "right"):
        for number in range(2):
            write_run(tmp_path / name / f"trial-{number}", number)
        words = ["batch", str(tmp_path / name), "--store", store, "--jobs", "1"]
        writers.append(
            subprocess.Popen(
                [sys.executable, "-m", "analyzer.cli", *words],
                cwd=repository,
                env={"XDG_CACHE_HOME": str(tmp_path / f"cache-{name}"), "PATH": "/usr/bin:/bin"},
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
            )
        )
    for writer in writers:
        assert writer.wait() == ExitCode.JUDGED, writer.communicate()[1]
    depot = Depot(store, tmp_path / "third")
    depot.pull(ROWS)
    rows = [entry.row.path for entry in load_all(depot.mirror)]
    both = [str(tmp_path / n / f"trial-{i}") for n in ("left", "right") for i in range(2)]
    assert rows == both


@pytest.mark.usefixtures("elsewhere")
def test_a_store_that_is_closed_to_us_is_one_line(
    bucket: str, root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = bucket.format("x").replace(SECRET, "guessed")
    assert batch(store, root) == ExitCode.CANNOT_JUDGE
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"s3://{BUCKET}/x?")
    assert "the store cannot be reached" in line
    assert "guessed" not in line


def test_what_is_no_object_store() -> None:
    assert depot_at("some/folder") is None
    with pytest.raises(UsageError, match=r"^ftp://host/x: not an object store"):
        depot_at("ftp://me:secret@host/x")
    assert without_secrets("s3://key:secret@bucket/x?a=b") == "s3://bucket/x?a=b"


def test_other_commands_take_a_folder(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["check", str(root / "trial-0"), "--store", "s3://bucket/x"]) == 2
    assert "only commands on many runs" in capsys.readouterr().err
