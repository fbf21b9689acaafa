"""The samples table: what was cut off, which texts, and a dump that grows."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from analyzer.errors import UsageError
from analyzer.resources import rules_dir
from analyzer.sources.discover import discover
from analyzer.sources.samples.rows import SampleRows
from analyzer.tables.catalog import load_catalog
from analyzer.tables.evidence import Absent, Series
from analyzer.tables.ingest import Store, ingest
from analyzer.tables.run import RunTables
from analyzer.tables.schema import SAMPLES

CATALOG = load_catalog(rules_dir())
CONFIG = (
    "experiment_name: a\ntrial_name: b\nactor: {}\nrollout: {}\ngconfig:\n  max_new_tokens: 8\n"
)


def areal(task: int, idx: int, version: int, **more: Any) -> dict[str, Any]:
    """A record as AReaL writes it: a response of eight tokens that came to its end."""
    return {
        "task_id": task,
        "sample_idx": idx,
        "seqlen": 12,
        "prompt_len": 4,
        "head_version": version - 1,
        "tail_version": version,
        "reward": 1.0,
        "prompt": "<|im_start|>user\n2+2?<|im_end|>\n",
        "completion": f"It is {idx}.<|im_end|>",
        **more,
    }


def write_lines(path: Path, records: Sequence[Mapping[str, Any]]) -> None:
    """A file of JSON lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records))


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A configuration with a limit of 8 tokens, and three samples, one of them cut off."""
    folder = tmp_path / "run"
    write_lines(
        folder / "rollout" / "5" / "1.jsonl",
        [
            areal(1, 0, 5),
            areal(1, 1, 5, completion="and so on"),
            areal(1, 2, 5, completion="It stops at a stop string", seqlen=7),
        ],
    )
    (folder / "config.yaml").write_text(CONFIG)
    return folder


def bring(run: Path, store: Path) -> Store:
    return ingest(discover(run), store, CATALOG)


def rows(store: Store) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = pq.read_table(store.path / "samples.parquet").to_pylist()
    return sorted(found, key=lambda row: (row["step"], row["text_path"], row["text_offset"]))


def tables(store: Store, run: Path) -> RunTables:
    return RunTables.open(store.path, store.state.manifest, CATALOG, run)


def cut(store: Store) -> list[bool | None]:
    return [row["truncated"] for row in rows(store)]


def test_the_rows_of_a_dump(run: Path, tmp_path: Path) -> None:
    store = bring(run, tmp_path / "store")
    found = rows(store)
    assert pq.read_schema(store.path / "samples.parquet").names == SAMPLES.names
    assert [row["text_path"] for row in found] == ["rollout/5/1.jsonl"] * 3
    first = found[0]
    assert (first["run"], first["attempt"], first["step"], first["source"]) == (
        "a/b",
        0,
        5,
        "rollout",
    )
    assert (first["response_len"], first["staleness"], first["reward"]) == (8, 1, 1.0)
    manifest = store.state.manifest
    assert (manifest.samples, manifest.first_step, manifest.step_count) == (3, 5, 1)
    (source,) = (s for s in manifest.sources if s.format == "areal-rollouts")
    assert (source.path, source.rows) == ("rollout", 3)


def test_cut_off_is_what_reaches_the_limit_without_an_end(run: Path, tmp_path: Path) -> None:
    assert cut(bring(run, tmp_path / "store")) == [False, True, False]


def test_without_a_limit_a_missing_mark_tells_it(run: Path, tmp_path: Path) -> None:
    (run / "config.yaml").write_text(CONFIG.partition("gconfig")[0])
    assert cut(bring(run, tmp_path / "store")) == [False, True, True]


def test_without_a_limit_and_marks_nothing_tells_it(run: Path, tmp_path: Path) -> None:
    (run / "config.yaml").unlink()
    write_lines(run / "rollout" / "5" / "1.jsonl", [areal(1, 0, 5, completion="4.")])
    assert cut(bring(run, tmp_path / "store")) == [None]


def test_a_dump_that_grows_gives_the_table_of_one_reading(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured: list[str] = []
    original = SampleRows.add

    def add(self: SampleRows, sample: Any, path: str) -> None:
        measured.append(path)
        original(self, sample, path)

    monkeypatch.setattr(SampleRows, "add", add)
    store = bring(run, tmp_path / "store")
    stamp = (store.path / "samples.parquet").stat().st_mtime_ns
    bring(run, tmp_path / "store")
    assert (store.path / "samples.parquet").stat().st_mtime_ns == stamp
    assert len(measured) == 3
    with (run / "rollout" / "5" / "1.jsonl").open("a") as file:
        file.write(CUT_OFF)
    write_lines(run / "rollout" / "4" / "9.jsonl", [areal(9, 0, 4)])
    bring(run, tmp_path / "store")
    assert measured[3:] == ["4/9.jsonl", "5/1.jsonl"]
    assert rows(store) == rows(bring(run, tmp_path / "other"))
    write_lines(run / "rollout" / "5" / "1.jsonl", [areal(1, 0, 5, reward=0.25)])
    bring(run, tmp_path / "store")
    assert [row["reward"] for row in rows(store)] == [1.0, 0.25]
    assert store.state.sources[-1].sha256 == bring(run, tmp_path / "new").state.sources[-1].sha256


CUT_OFF = (
    '{"task_id": 1, "sample_idx": 3, "seqlen": 12, "prompt_len": 4, "head_version": 5, '
    '"tail_version": 5, "reward": 0.0, "prompt": "p", "completion": "and"}\n'
)


def test_a_run_without_dumps_has_an_empty_table(run: Path, tmp_path: Path) -> None:
    for path in (run / "rollout" / "5" / "1.jsonl",):
        path.unlink()
    (run / "rollout" / "5").rmdir()
    (run / "rollout").rmdir()
    store = bring(run, tmp_path / "store")
    assert rows(store) == []
    opened = tables(store, run)
    assert opened.sql("SELECT * FROM samples").column_names == SAMPLES.names
    absent = opened.series("truncated_loops")
    assert isinstance(absent, Absent)
    assert absent.reason == (
        "truncated_loops needs rollout or completion dumps, which this run does not have"
    )


def test_responses_are_chosen_and_their_texts_found(run: Path, tmp_path: Path) -> None:
    opened = tables(bring(run, tmp_path / "store"), run)
    (found,) = opened.responses("truncated", "chars", "prompt_hash", None)
    assert (found.path, found.step, found.tokens, found.truncated) == (
        "rollout/5/1.jsonl",
        5,
        8,
        True,
    )
    prompt = "<|im_start|>user\n2+2?<|im_end|>\n"
    assert opened.response_text(found.path, found.offset) == (prompt, "and so on")
    assert len(opened.responses("true", "chars DESC", "completion_hash", None)) == 3
    assert len(opened.responses("true", "copies, prompt_count", "prompt_hash", None)) == 1
    assert opened.responses("true", "chars", "prompt_hash", (6, 9)) == ()
    with pytest.raises(UsageError, match=r"trajectories: .*nonsense"):
        opened.responses("nonsense", "chars", "prompt_hash", None)


def test_a_text_that_is_gone_or_another_one_now(run: Path, tmp_path: Path) -> None:
    opened = tables(bring(run, tmp_path / "store"), run)
    first = opened.responses("sample_idx = 1", "chars", "prompt_hash", None)[0]
    assert opened.response_text("main.log", 0) is None
    assert opened.response_text("rollout/6/1.jsonl", 0) is None
    (run / "rollout" / "5" / "1.jsonl").unlink()
    assert opened.response_text(first.path, first.offset) is None


def test_a_dump_alone_is_a_run(run: Path, tmp_path: Path) -> None:
    for place in (run / "rollout", run / "rollout" / "5", run / "rollout" / "5" / "1.jsonl"):
        store = bring(place, tmp_path / f"store-{place.name}")
        assert len(rows(store)) == 3
        opened = tables(store, place if place.is_dir() else place.parent)
        found = opened.responses("sample_idx = 1", "chars", "prompt_hash", None)[0]
        text = opened.response_text(found.path, found.offset)
        assert text is not None
        assert text[1] == "and so on"


def test_series_over_samples_are_series(run: Path, tmp_path: Path) -> None:
    records = [areal(t, i, 5, reward=float(i % 2)) for t in range(8) for i in range(4)]
    write_lines(run / "rollout" / "5" / "1.jsonl", records)
    opened = tables(bring(run, tmp_path / "store"), run)
    found = opened.series("sampled_truncation")
    assert isinstance(found, Series)
    assert (found.kind, found.steps.tolist(), found.values.tolist()) == ("queried", [5], [0.0])
