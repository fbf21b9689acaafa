"""Runs that trackers tell: in several files, beside a log, one of many in a database."""

from __future__ import annotations

import lzma
import struct
import zlib
from pathlib import Path

import pytest

from analyzer.sources.discover import discover
from analyzer.tables.catalog import load_catalog
from analyzer.tables.ingest import ingest
from analyzer.tables.run import RunTables

FILES = Path(__file__).parents[1] / "sources" / "trackers"


def tables(run: Path, store: Path, rules: Path) -> RunTables:
    """The tables of a run."""
    catalog = load_catalog(rules, {})
    found = ingest(discover(run), store, catalog)
    return RunTables.open(found.path, found.state.manifest, catalog)


@pytest.mark.parametrize("version", ["0.31.0", "0.15.12"])
def test_a_resumed_wandb_run_is_one_run_of_two_attempts(
    tmp_path: Path, repository: Path, version: str
) -> None:
    run = tables(FILES / f"wandb-{version}", tmp_path, repository / "rules")
    first, second = run.manifest.attempts
    assert (first.first_step, first.last_step, first.superseded) == (0, 4, (3, 4))
    assert (second.first_step, second.last_step) == (3, 5)
    assert run.manifest.framework == "areal"
    answer = run.sql(
        "SELECT step, value FROM metrics WHERE metric = 'loss/avg' AND NOT superseded ORDER BY step"
    )
    values = {row["step"]: row["value"] for row in answer.to_pylist()}
    assert values == {0: 1.0, 1: 0.5, 2: 1 / 3, 3: 0.25, 4: 0.2, 5: 1 / 6}


def test_one_run_of_a_database_beside_its_log(tmp_path: Path, repository: Path) -> None:
    run = tmp_path / "run"
    (run / "trackio").mkdir(parents=True)
    packed = FILES / "trackio-0.43.0" / "exp.db.xz"
    (run / "trackio" / "exp.db").write_bytes(lzma.decompress(packed.read_bytes()))
    (run / "config.yaml").write_text(
        "experiment_name: exp\ntrial_name: two\nactor: {optimizer: {lr: 0.5}}\ngconfig: {}\n"
    )
    found = tables(run, tmp_path / "store", repository / "rules")
    assert found.manifest.run == "exp/two"
    assert (found.manifest.step_count, found.manifest.last_step) == (3, 2)
    (skipped,) = found.manifest.skipped
    assert (skipped.path, skipped.reason) == ("trackio/exp.db#one", "another run than exp/two")
    rate = found.config("actor.optimizer.lr")
    assert rate is not None
    assert (rate.value, rate.source) == (0.5, "config.yaml")  # not the tracker's copy


def test_events_of_a_tracked_console_count_where_no_log_is(
    tmp_path: Path, repository: Path
) -> None:
    said = "(AReaL) 20261129-14:58:07.185 A ERROR: gone\n"
    line = said.encode()
    console = b"\x6a" + bytes([len(line) + 4]) + b"\x08\x01\x1a" + bytes([len(line)]) + line
    logged = b"\x12\x0a\x0a\x08\x12\x01x\x82\x01\x011"  # x = 1
    run = tmp_path / "run"
    run.mkdir()
    data = bytearray(b":W&B\xe1\xbe\x00")
    for record in (logged, console):
        crc = zlib.crc32(b"\x01" + record)
        data += struct.pack("<IHB", crc, len(record), 1) + record
    (run / "run-a.wandb").write_bytes(data)
    alone = tables(run, tmp_path / "store", repository / "rules")
    assert [event.message for event in alone.events()] == ["gone"]
    assert alone.has_text_log
    (run / "main.log").write_text(said.replace("gone", "else"))
    beside = tables(run, tmp_path / "store", repository / "rules")
    assert [event.message for event in beside.events()] == ["else"]
