"""The store: nothing read twice, a grown log read on, a kill that loses nothing."""

from __future__ import annotations

import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from analyzer.errors import RunError
from analyzer.resources import rules_dir
from analyzer.sources import readers
from analyzer.sources.areal_text import ArealText
from analyzer.sources.discover import discover
from analyzer.sources.records import Reading, Resume
from analyzer.tables.catalog import load_catalog
from analyzer.tables.ingest import Store, ingest

CATALOG = load_catalog(rules_dir())


@pytest.fixture
def run(tmp_path: Path, sample_logs: Path) -> Path:
    """A copy of the truncation sample's first tenth of text, alone in a folder."""
    folder = tmp_path / "run"
    folder.mkdir()
    (log,) = (sample_logs / "length_truncation").rglob("main.log")
    (folder / "main.log").write_bytes(log.read_bytes()[:300_000])
    return folder


@pytest.fixture
def whole(sample_logs: Path) -> bytes:
    (log,) = (sample_logs / "length_truncation").rglob("main.log")
    return log.read_bytes()


def bring(run: Path, store: Path) -> Store:
    return ingest(discover(run), store, CATALOG)


def rows(store: Store, table: str) -> list[dict[str, object]]:
    found: list[dict[str, object]] = pq.read_table(store.path / f"{table}.parquet").to_pylist()
    return found


class Counted:
    """Counts the bytes' worth of readings: where each one started."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.starts: list[int] = []
        original = ArealText.read

        def read(reader: ArealText, path: Path, resume: Resume | None = None) -> Reading:
            self.starts.append(resume.offset if resume else 0)
            return original(reader, path, resume)

        monkeypatch.setattr(ArealText, "read", read)


def test_an_unchanged_run_is_not_read_again(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = Counted(monkeypatch)
    first = bring(run, tmp_path / "store")
    stamps = {p: p.stat().st_mtime_ns for p in first.path.rglob("*") if p.name != ".lock"}
    bring(run, tmp_path / "store")
    assert counted.starts == [0]
    assert {p: p.stat().st_mtime_ns for p in first.path.rglob("*") if p.name != ".lock"} == stamps


@pytest.mark.parametrize("cuts", [(300_000,), (300_001, 300_002), (123_457, 299_999, 300_500)])
def test_a_log_that_grows_gives_the_tables_of_one_reading(
    run: Path, tmp_path: Path, whole: bytes, cuts: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = Counted(monkeypatch)
    end = 420_000
    for cut in (*cuts, end):
        (run / "main.log").write_bytes(whole[:cut])
        grown = bring(run, tmp_path / "store")
    assert all(start > 0 for start in counted.starts[1:])
    once = bring(run, tmp_path / "other")
    for table in ("metrics", "events", "config"):
        assert rows(grown, table) == rows(once, table)
    assert grown.state.manifest == once.state.manifest


def test_a_log_that_was_rewritten_is_read_from_the_start(
    run: Path, tmp_path: Path, whole: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    bring(run, tmp_path / "store")
    counted = Counted(monkeypatch)
    (run / "main.log").write_bytes(b"\n" + whole[:310_000])
    again = bring(run, tmp_path / "store")
    assert counted.starts == [0]
    assert rows(again, "metrics") == rows(bring(run, tmp_path / "other"), "metrics")


def test_a_half_written_store_is_made_good(run: Path, tmp_path: Path) -> None:
    store = bring(run, tmp_path / "store")
    before = rows(store, "metrics")
    (store.path / "metrics.parquet").write_bytes(b"PAR1 half")
    assert rows(bring(run, tmp_path / "store"), "metrics") == before
    (store.path / "run.json").write_text('{"schema": 1, "tool"')
    assert rows(bring(run, tmp_path / "store"), "metrics") == before


def test_the_tables_have_the_columns_and_encodings_of_the_contract(
    run: Path, tmp_path: Path
) -> None:
    store = bring(run, tmp_path / "store")
    file = pq.ParquetFile(store.path / "metrics.parquet")
    assert file.schema_arrow.names == [
        "run",
        "attempt",
        "step",
        "log_step",
        "metric",
        "canonical",
        "value",
        "wall_time",
        "source",
        "superseded",
    ]
    columns = {
        file.metadata.row_group(0).column(i).path_in_schema: file.metadata.row_group(0).column(i)
        for i in range(10)
    }
    assert columns["value"].compression == "ZSTD"
    assert "BYTE_STREAM_SPLIT" in columns["value"].encodings
    assert "DELTA_BINARY_PACKED" in columns["step"].encodings
    assert "RLE_DICTIONARY" in columns["metric"].encodings
    keys = [(r["metric"], r["step"]) for r in rows(store, "metrics")]
    assert keys == sorted(keys)


def test_text_and_tracker_are_one_run_with_the_tracker_s_digits(
    sample_logs: Path, tmp_path: Path
) -> None:
    store = bring(sample_logs / "length_truncation", tmp_path / "store")
    metrics = rows(store, "metrics")
    assert len({(r["step"], r["metric"], r["attempt"]) for r in metrics}) == len(metrics)
    assert all("tfevents" in str(r["source"]) for r in metrics)
    assert {n.kind for n in store.state.manifest.notes} == {"sources-agree"}


def test_event_files_that_grow_and_restart_give_the_tables_of_one_reading(
    sample_logs: Path, tmp_path: Path
) -> None:
    """The tracker's first file grows in three pieces, then a restart writes a second one."""
    (events,) = (sample_logs / "length_truncation").rglob("events.out.tfevents.*")
    whole = events.read_bytes()
    run = tmp_path / "run"
    run.mkdir()
    first = run / "events.out.tfevents.1772651100.host"
    for cut in (100_000, 200_001, 300_000):
        first.write_bytes(whole[:cut])
        grown = bring(run, tmp_path / "store")
    assert len(grown.state.manifest.attempts) == 1
    (run / "events.out.tfevents.1772659999.host").write_bytes(whole[:150_000])
    grown = bring(run, tmp_path / "store")
    once = bring(run, tmp_path / "other")
    assert rows(grown, "metrics") == rows(once, "metrics")
    before, after = grown.state.manifest.attempts
    assert (before.first_step, after.first_step) == (0, 0)
    assert before.superseded == (0, after.last_step)


def test_two_runs_of_one_name_do_not_share_a_store(run: Path, tmp_path: Path) -> None:
    shutil.copytree(run, tmp_path / "elsewhere" / "run")
    first = bring(run, tmp_path / "store")
    second = bring(tmp_path / "elsewhere" / "run", tmp_path / "store")
    assert first.path != second.path


def test_a_store_is_opened_only_where_there_is_one(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="not an ingested run"):
        _ = Store(tmp_path).state


def test_every_format_has_a_reader() -> None:
    assert [readers.reader_for(r.format) for r in readers.READERS] == list(readers.READERS)
