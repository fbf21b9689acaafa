"""The manifest of a recorded batch, and finding the batches of a run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import needs_torch  # noqa: F401
import pytest
from recorded_batches import write_manifest, write_recorded

from analyzer.errors import RunError
from analyzer.replay.manifest import find_recorded, read_manifest

CASE = "areal-2026-05/case_28"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A recorded batch of 8 rows at step 12."""
    write_recorded(tmp_path / "step", CASE)
    return tmp_path / "step"


def fault(folder: Path) -> str:
    with pytest.raises(RunError) as caught:
        read_manifest(folder)
    text = str(caught.value)
    assert "\n" not in text
    assert text.startswith(str(folder / "manifest.json"))
    return text


def changed(folder: Path, **values: Any) -> str:
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    write_manifest(folder, manifest | values)
    return fault(folder)


def test_a_manifest_is_read(folder: Path) -> None:
    manifest = read_manifest(folder)
    assert manifest.step == 12
    assert manifest.config.actor.rejection_sampling is not None
    assert manifest.checkpoints == {12: "../../checkpoints/v12"}
    assert manifest.tensors["logprobs"].shape == (8, 32)
    assert manifest.written.year == 2026


def test_a_later_version_is_told_before_anything_else(folder: Path) -> None:
    text = changed(folder, schema_version=2, novelty=True)
    assert "has schema version 2; this program reads 1 (install a newer analyzer)" in text


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"kind": "batch"}, "kind: input should be 'recorded-batch'"),
        ({"schema_version": 0}, "schema_version: input should be 1"),
        ({"step": -1}, "step: input should be greater than or equal to 0"),
        ({"novelty": 1}, "novelty: extra inputs are not permitted"),
        ({"conventions": "areal-1999"}, "conventions: is none of areal-2026-05, areal-2026-08"),
        ({"config": {"actor": {"eps_clp": 1}}}, "config.actor.eps_clp: extra inputs"),
        ({"rows": {"of": 8, "kept": [0, 8]}}, "rows.kept are not rising numbers below 8"),
        ({"rows": {"of": 8, "kept": [3, 3]}}, "rows.kept are not rising numbers below 8"),
        ({"rows": {"of": 8, "kept": []}}, "rows.kept are not rising numbers below 8"),
        ({"files": {}}, "names no file batch.safetensors"),
        (
            {"files": {"../../etc/passwd": {"bytes": 1, "sha256": "0" * 64}}},
            "is no plain file name",
        ),
        ({"checkpoints": {"12": "v\0"}}, "checkpoints.12: is no path"),
        ({"checkpoints": {"twelve": "v"}}, "checkpoints.twelve: "),
        ({"written": "yesterday"}, "written: input should be a valid datetime"),
        ({"step": "12", "written": 1.5}, ", and 1 more"),
    ],
)
def test_faults_are_one_line(folder: Path, values: dict[str, Any], message: str) -> None:
    assert message in changed(folder, **values)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b'{"kind": "recorded-batch", "schema_ver',
        b'{"kind": "recorded-batch", "framework": "\xff\xfe"}',
        b"[" * 100_000,
        b"[]",
        b"null",
    ],
)
def test_what_is_no_manifest(folder: Path, content: bytes) -> None:
    (folder / "manifest.json").write_bytes(content)
    assert "not valid: " in fault(folder)


def test_a_manifest_without_end_is_not_read(folder: Path) -> None:
    with (folder / "manifest.json").open("wb") as file:
        file.truncate(2**40)
    assert "has 1,099,511,627,776 bytes, too many for a manifest" in fault(folder)


def test_a_link_to_itself_is_told(folder: Path) -> None:
    path = folder / "manifest.json"
    path.unlink()
    path.symlink_to(path.name)
    assert "cannot be read: Too many levels of symbolic links" in fault(folder)


def test_the_batches_of_a_run_are_found_by_step(tmp_path: Path) -> None:
    for name, step in (("recorded/late", 20), ("recorded/early", 3), ("elsewhere/deep/x", 7)):
        manifest = write_recorded(tmp_path / name, CASE)
        write_manifest(tmp_path / name, manifest | {"step": step})
    found = find_recorded(tmp_path)
    assert [recorded.step for recorded in found] == [3, 7, 20]
    assert [recorded.rows for recorded in found] == [8, 8, 8]
    assert [recorded.fault for recorded in found] == ["", "", ""]
    assert found[0].path == tmp_path / "recorded/early"
    assert found[0].bytes == (tmp_path / "recorded/early/batch.safetensors").stat().st_size


def test_a_step_written_twice_comes_in_the_order_of_writing(tmp_path: Path) -> None:
    for name, written in (("a", "2026-11-30T13:00:00Z"), ("b", "2026-11-30T12:00:00Z")):
        manifest = write_recorded(tmp_path / name, CASE)
        write_manifest(tmp_path / name, manifest | {"written": written})
    assert [recorded.path.name for recorded in find_recorded(tmp_path)] == ["b", "a"]


def test_rows_that_were_kept_are_counted(tmp_path: Path) -> None:
    manifest = write_recorded(tmp_path / "step", CASE)
    write_manifest(tmp_path / "step", manifest | {"rows": {"of": 64, "kept": list(range(8))}})
    assert find_recorded(tmp_path)[0].rows == 8


def test_batches_that_cannot_be_read_come_last_with_the_reason(tmp_path: Path) -> None:
    good, cut, bare = (tmp_path / "recorded" / name for name in ("c", "a", "b"))
    for folder in (good, cut, bare):
        write_recorded(folder, CASE)
    path = cut / "batch.safetensors"
    path.write_bytes(path.read_bytes()[:1000])
    (bare / "manifest.json").write_bytes(b'{"kind": "recorded-batch", ')
    found = find_recorded(tmp_path)
    assert [recorded.path.name for recorded in found] == ["a", "c", "b"]
    assert "is cut: 1,000 bytes" in found[0].fault
    assert found[0].step == 12
    assert "not valid: " in found[2].fault
    assert found[2].step is None


def test_what_is_not_a_recorded_batch_is_passed_over(tmp_path: Path) -> None:
    write_recorded(tmp_path / "recorded" / ".step_00000012.part-77", CASE)
    (tmp_path / "web").mkdir()
    (tmp_path / "web" / "manifest.json").write_text('{"name": "application"}', "utf-8")
    (tmp_path / "loop").symlink_to(tmp_path)
    assert find_recorded(tmp_path) == ()
    assert find_recorded(tmp_path / "nowhere") == ()


def test_the_default_folder_may_be_a_link(tmp_path: Path) -> None:
    write_recorded(tmp_path / "store" / "step_00000012", CASE)
    run = tmp_path / "run"
    run.mkdir()
    (run / "recorded").symlink_to(tmp_path / "store")
    assert [recorded.step for recorded in find_recorded(run)] == [12]


def test_beside_a_single_log(tmp_path: Path) -> None:
    write_recorded(tmp_path / "recorded" / "step_00000012", CASE)
    (tmp_path / "main.log").write_text("a log\n", "utf-8")
    assert [recorded.step for recorded in find_recorded(tmp_path / "main.log")] == [12]
