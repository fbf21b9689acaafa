"""SwanLab, trackio, MLflow and `add_scalars`, on files that the packages themselves wrote."""

from __future__ import annotations

import lzma
import shutil
import sqlite3
from datetime import UTC, datetime
from pathlib import Path

import pytest
from block_file import SWANLAB, block_file
from event_file import double, integer, message
from reading import Got, read
from tracker_truth import expected, told

from analyzer.errors import RunError
from analyzer.sources.discover import discover
from analyzer.sources.readers import reader_for
from analyzer.sources.records import SourceFile

FILES = Path(__file__).parent / "trackers"


def only(run: Path) -> tuple[SourceFile, Got]:
    """The one source of a run, and what it holds."""
    (source,) = discover(run).sources
    return source, read(reader_for(source.format, source.run), source.path)


def unpacked(name: str, folder: Path) -> Path:
    """A database that lies packed among the files."""
    path = folder / Path(name).name.removesuffix(".xz")
    path.write_bytes(lzma.decompress((FILES / name).read_bytes()))
    return path


@pytest.mark.parametrize("version", ["0.6.13", "0.7.20", "0.10.3"])
def test_a_swanlab_run_file(version: str) -> None:
    files = discover(FILES / f"swanlab-{version}")
    source, found = only(FILES / f"swanlab-{version}")
    assert (source.format, files.name) == ("swanlab", "exp/one")
    assert told(found.metrics) == expected(0, 5)
    assert {row[5].date() for row in found.metrics} == {datetime(2026, 11, 30, tzinfo=UTC).date()}
    assert found.config["actor.optimizer.lr"] == "1e-05"
    assert found.config["actor.api_key"] == '"***"'
    assert (found.facts.framework, found.facts.finished) == ("areal", True)
    assert found.facts.tracker_run is not None
    assert source.path.parent.name.endswith(found.facts.tracker_run)
    reasons = {file.reason for file in files.skipped}
    assert reasons == {"what SwanLab keeps beside its run file"}


def scalar(key: str, step: int, value: bytes, number: int = 0) -> bytes:
    """A scalar record; with a number as the client writes it, without as others might."""
    time = message(4, integer(1, 1500) + integer(2, 250_000_000))
    inner = message(1, key.encode()) + integer(2, step) + integer(3, 1) + time + message(5, value)
    begin = integer(1, number) + message(2, integer(1, 1500)) if number else b""
    return begin + message(13, inner)


@pytest.mark.parametrize("number", [0, 5, 300])
def test_swanlab_records_of_every_kind(tmp_path: Path, number: int) -> None:
    path = tmp_path / "run-x.swanlab"
    start = message(10, message(1, b"p") + message(4, b"n") + message(10, b"id7"))
    system = message(12, integer(1, 2) + message(3, b"gpu"))
    records = [
        start,
        system,
        scalar("loss", 0, double(1, 0.5), number),
        scalar("loss", 1, b"", number),
        scalar("gpu", 0, double(1, 99.0), number),
        scalar("__swanlab__.cpu", 0, double(1, 99.0), number),
        scalar("loss", 1, double(1, float("inf")), number),
        scalar("kl", 0, double(1, 2.0), number),
        scalar("loss", 0, double(1, 4.0), number),
        b"\x6a\x05ab",
        message(11, integer(1, 2)),
    ]
    path.write_bytes(block_file(records, SWANLAB))
    source, found = only(path)
    assert found.rows == [
        (0, 0, None, "loss", 0.5),
        (0, 1, None, "loss", 0.0),
        (0, 1, None, "loss", float("inf")),
        (0, 0, None, "kl", 2.0),
        (1, 0, None, "loss", 4.0),
    ]
    assert found.metrics[0][5] == datetime.fromtimestamp(1500.25, UTC)
    assert found.kinds() == ["bad-record", "system-statistics"]
    assert found.facts.finished is False
    assert reader_for(source.format).kin(path).names == {"id7", "p/n"}


def test_a_swanlab_file_without_scalars_or_of_an_unknown_version(tmp_path: Path) -> None:
    path = tmp_path / "backup.swanlab"
    path.write_bytes(block_file([], SWANLAB))
    assert only(path)[1].kinds() == ["no-history", "no-exit-record"]
    path.write_bytes(SWANLAB[:6] + b"\x09")
    with pytest.raises(RunError, match="SwanLab run file of version 9: not read by this version"):
        discover(path)
    path.write_bytes(b":SWL")
    with pytest.raises(RunError, match="SwanLab run file without its header"):
        discover(path)


def test_a_swanlab_folder_without_its_run_file(tmp_path: Path) -> None:
    (run,) = (FILES / "swanlab-0.10.3").iterdir()
    folder = tmp_path / run.name
    shutil.copytree(run, folder, ignore=shutil.ignore_patterns("*.swanlab"))
    with pytest.raises(RunError, match="its 3 columns are numbered"):
        only(folder)
    for number, name in ((1, "loss%2Favg"), (2, "kl"), (3, "eval%2Freward")):
        (folder / "logs" / str(number)).rename(folder / "logs" / name)
    with (folder / "logs" / "kl" / "1000.log").open("a") as log:
        log.write('{"index": 6, "da')
    source, found = only(folder)
    assert (source.format, source.relative) == ("swanlab-logs", ".")
    assert told(found.metrics) == expected(0, 5)
    assert found.kinds() == ["bad-line"]
    assert found.facts.framework == "areal"


@pytest.mark.parametrize(("version", "has_utc"), [("0.15.0", False), ("0.43.0", True)])
def test_a_trackio_database(tmp_path: Path, version: str, has_utc: bool) -> None:
    path = unpacked(f"trackio-{version}/exp.db.xz", tmp_path)
    before = path.read_bytes()
    for place in (path, tmp_path):
        with pytest.raises(RunError, match=r"holds 2 runs: exp\.db#one, exp\.db#two"):
            discover(place)
    source, found = only(Path(f"{path}#one"))
    assert (source.format, source.relative, source.run) == ("trackio", "exp.db#one", "one")
    assert discover(Path(f"{path}#one")).name == "exp/one"
    assert told(found.metrics) == expected(0, 5)
    assert found.config["actor.optimizer.lr"] == "1e-05"
    assert not any(key.startswith("_") for key in found.config)
    assert (found.facts.framework, found.facts.has_utc) == ("areal", has_utc)
    assert told(only(Path(f"{path}#two"))[1].metrics) == expected(0, 2)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["exp.db"]
    with pytest.raises(RunError, match="no run named three in it: one, two"):
        discover(Path(f"{path}#three"))


def test_what_a_running_database_has_not_yet_written_through(tmp_path: Path) -> None:
    path = unpacked("trackio-0.43.0/exp.db.xz", tmp_path)
    with sqlite3.connect(path) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute(
            "INSERT INTO metrics (run_id, timestamp, run_name, step, metrics) "
            "VALUES (?, ?, ?, ?, ?)",
            ["r", "2026-11-30T09:00:00+00:00", "one", 6, '{"loss/avg": 9.5, "t": "x"}'],
        )
        writer.commit()
        assert path.with_name("exp.db-wal").stat().st_size > 0
        _, found = only(Path(f"{path}#one"))
    assert (6, "loss/avg", "9.5") in told(found.metrics)
    assert found.kinds() == ["not-a-scalar"]


def test_mlflow_in_folders_and_in_a_database(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="holds 2 runs: mlruns/"):
        discover(FILES / "mlflow-3.17.2")
    runs = {
        discover(run.parent).name: run.parent
        for run in (FILES / "mlflow-3.17.2").glob("mlruns/*/*/meta.yaml")
    }
    assert set(runs) == {"exp/one", "exp/two"}
    database = unpacked("mlflow-3.17.2/mlflow.db.xz", tmp_path)
    for place, form in ((runs["exp/one"], "mlflow"), (Path(f"{database}#one"), "mlflow-sqlite")):
        source, found = only(place)
        assert source.format == form
        assert told(found.metrics) == expected(0, 5)
        assert found.config == {"actor.optimizer.lr": "1e-05", "gconfig.max_new_tokens": "64"}
        assert found.facts.finished is True
        assert {row[5].year for row in found.metrics} == {2026}
    with pytest.raises(RunError, match=r"holds 2 runs: mlflow\.db#one, mlflow\.db#two"):
        discover(database)


def test_an_mlflow_run_that_was_resumed_and_cut(tmp_path: Path) -> None:
    run = tmp_path / "r"
    (run / "metrics" / "a").mkdir(parents=True)
    (run / "params").mkdir()
    (run / "meta.yaml").write_text("run_id: r\nrun_name: n\nstatus: 4\n")
    (run / "metrics" / "a" / "b").write_text("1000 1.5 0\n2000 2.5 1\n3000 3.5 0\n4000 x")
    (run / "metrics" / "c").write_text("1000 -inf 0\n3000 nan 0\n")
    _, found = only(run)
    assert [(row[0], row[1], row[3], repr(row[4])) for row in found.metrics] == [
        (0, 0, "a/b", "1.5"),
        (0, 0, "c", "-inf"),
        (0, 1, "a/b", "2.5"),
        (1, 0, "a/b", "3.5"),
        (1, 0, "c", "nan"),
    ]
    assert (found.kinds(), found.facts.finished) == (["bad-line"], False)


@pytest.mark.parametrize("name", ["tensorboardX-2.6.5", "tensorboard-torch-2.13.0"])
def test_the_folders_of_add_scalars_are_one_run(name: str) -> None:
    files = discover(FILES / name)
    rows = [row for s in files.sources for row in read(reader_for(s.format), s.path).rows]
    assert len(files.sources) == 3
    values = {(row[1], row[3]): row[4] for row in rows}
    assert len(values) == len(rows) == 9
    for step in range(3):
        assert values[step, "loss/avg"] == pytest.approx(1 / (step + 1))
        assert values[step, "loss/parts/policy"] == 0.5 * step
        assert values[step, "loss/parts/value"] == 0.25 * step


def test_other_databases_and_an_aim_repository_are_named(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "other.db") as base:
        base.execute("CREATE TABLE t (x)")
    (tmp_path / "broken.db").write_bytes(b"SQLite format 3\x00" + bytes(200))
    (tmp_path / ".aim" / "meta").mkdir(parents=True)
    with pytest.raises(RunError) as error:
        discover(tmp_path)
    assert "nothing that this version reads (.aim/: Aim repository (RocksDB" in str(error.value)
    assert "other.db: SQLite database of another program" in str(error.value)
