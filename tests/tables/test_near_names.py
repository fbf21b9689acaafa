"""Columns of a table under names of its own: what they may be is proposed, never assumed."""

from __future__ import annotations

from pathlib import Path

import pytest

from analyzer import pipeline
from analyzer.project import load_project
from analyzer.tables.catalog import Catalog
from analyzer.tables.near_names import near_names


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return pipeline.open_catalog()


def test_names_are_proposed_with_the_line_to_write(catalog: Catalog) -> None:
    note = near_names(["mean_rewards", "policyEntropy", "foo"], (), catalog)
    assert note is not None
    assert note.kind == "names-like-known"
    assert note.detail.endswith("aliases: {task_reward: [mean_rewards], entropy: [policyEntropy]}")


def test_a_series_that_is_there_is_not_proposed(catalog: Catalog) -> None:
    assert near_names(["policyEntropy"], {"entropy"}, catalog) is None


@pytest.mark.parametrize("name", ["foo", "x", "", "disk_free", "temperature_gpu_3"])
def test_other_names_are_left_alone(catalog: Catalog, name: str) -> None:
    assert near_names([name], (), catalog) is None


def test_a_hand_made_table_says_so_and_reads_by_its_aliases(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = tmp_path / "run"
    run.mkdir()
    rows = "".join(f"{step},{0.5 - step / 1000},{step * step}\n" for step in range(20))
    (run / "metrics.csv").write_text("step,policyEntropy,foo\n" + rows, "utf-8")
    monkeypatch.chdir(tmp_path)
    found = pipeline.ingest_run(run, tmp_path / "store", pipeline.open_catalog())
    notes = [note.kind for note in found.state.manifest.notes]
    assert "names-like-known" in notes
    (tmp_path / "analyzer.yaml").write_text("aliases: {entropy: [policyEntropy]}\n", "utf-8")
    catalog = pipeline.open_catalog(load_project())
    again = pipeline.ingest_run(run, tmp_path / "other", catalog)
    assert "names-like-known" not in [note.kind for note in again.state.manifest.notes]
    tables = pipeline.open_run(run, tmp_path / "other", catalog)
    assert tables.sql("SELECT count(*) AS n FROM standing WHERE canonical = 'entropy'")[
        "n"
    ].to_pylist() == [20]
