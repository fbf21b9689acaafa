"""Reading a batch that the recorder wrote."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import needs_torch  # noqa: F401
import pytest
import torch
from golden_cases import FOLDER, bundle_of, differences, find
from recorded_batches import golden_tensors, manifest_of, write_manifest, write_recorded
from safetensors.torch import save_file

from analyzer.errors import RunError, UsageError
from analyzer.replay.bundle import read_bundle
from analyzer.replay.conventions import AREAL_2026_05, AREAL_2026_08
from analyzer.replay.insights import insights
from analyzer.replay.stage0 import replay_batch

CASE = "areal-2026-05/case_28"
LATER = "areal-2026-08/case_10"


def fault(folder: Path, largest: int = 2**20) -> str:
    with pytest.raises(RunError) as caught:
        read_bundle(folder, largest)
    text = str(caught.value)
    assert "\n" not in text
    assert len(text) < 600
    return text


@pytest.mark.parametrize("case", [CASE, LATER])
def test_a_recorded_batch_replays_as_the_golden_it_is_made_of(tmp_path: Path, case: str) -> None:
    write_recorded(tmp_path, case)
    bundle = read_bundle(tmp_path)
    assert bundle.complete
    assert bundle.notes == ()
    assert bundle.dtypes["logprobs"] == "float32"
    expected = bundle_of(find(case))
    assert bundle.config == expected.config
    found = replay_batch(bundle, expected.conventions())
    assert differences(find(case), found) == []


def test_conventions_are_those_asked_for_then_recorded_then_shown(tmp_path: Path) -> None:
    manifest = write_recorded(tmp_path, LATER)
    assert read_bundle(tmp_path).conventions() is AREAL_2026_08  # by its configuration
    write_manifest(tmp_path, manifest | {"conventions": "areal-2026-05"})
    assert read_bundle(tmp_path).conventions() is AREAL_2026_05
    assert read_bundle(tmp_path).conventions("areal-2026-08") is AREAL_2026_08
    with pytest.raises(UsageError):
        read_bundle(tmp_path).conventions("areal-1999")


def test_checkpoints_are_relative_to_the_folder(tmp_path: Path) -> None:
    folder = tmp_path / "run" / "recorded" / "step"
    manifest = write_recorded(folder, CASE)
    write_manifest(folder, manifest | {"checkpoints": {"8": "/weights/v8", "12": "../../v12"}})
    bundle = read_bundle(folder)
    assert bundle.checkpoint(8) == Path("/weights/v8")
    found = bundle.checkpoint(12)
    assert found is not None
    assert found.resolve() == tmp_path / "run" / "v12"
    assert bundle.checkpoint(9) is None
    assert bundle_of(find(CASE)).checkpoint(12) is None


def test_rows_that_were_left_out_are_noted(tmp_path: Path) -> None:
    manifest = write_recorded(tmp_path, CASE)
    write_manifest(tmp_path, manifest | {"rows": {"of": 64, "kept": list(range(8, 16))}})
    bundle = read_bundle(tmp_path)
    assert not bundle.complete
    assert (bundle.rows, bundle.rows_of) == (8, 64)
    found = replay_batch(bundle, AREAL_2026_05)
    assert "8 of 64 rows were recorded" in found.notes[0]


def test_rounded_log_probs_are_widened_and_noted(tmp_path: Path) -> None:
    exact = golden_tensors(CASE)["logprobs"]
    write_recorded(tmp_path, CASE, logprobs=exact.bfloat16())
    bundle = read_bundle(tmp_path)
    assert bundle.tensors["logprobs"].dtype == torch.float32
    assert torch.equal(bundle.tensors["logprobs"], exact.bfloat16().float())
    assert bundle.dtypes["logprobs"] == "bfloat16"
    assert bundle.dtypes["new_logprobs"] == "float32"
    assert bundle.notes == ("rounded before they were recorded: logprobs bfloat16",)


def test_the_trainers_dtype_counts_where_a_wider_one_was_stored(tmp_path: Path) -> None:
    manifest = write_recorded(tmp_path, CASE)
    manifest["tensors"]["logprobs"]["came_as"] = "float16"
    write_manifest(tmp_path, manifest)
    bundle = read_bundle(tmp_path)
    assert bundle.dtypes["logprobs"] == "float16"
    assert bundle.notes == ("rounded before they were recorded: logprobs float16",)


def test_a_rounded_token_id_is_refused(tmp_path: Path) -> None:
    write_recorded(tmp_path, CASE, versions=golden_tensors(CASE)["versions"].bfloat16())
    assert "versions is bfloat16, not int32" in fault(tmp_path)


def test_without_the_current_policy_the_loss_step_is_left_out(tmp_path: Path) -> None:
    case = find(CASE)
    write_recorded(tmp_path, CASE, new_logprobs=None)
    bundle = read_bundle(tmp_path)
    found = replay_batch(bundle, AREAL_2026_05)
    assert found.error is None
    assert found.loss is None
    assert found.minibatches == ()
    assert "new_logprobs were not recorded: the loss step" in found.notes[0]
    expected = json.loads((FOLDER / case / "expected.json").read_text("utf-8"))["stats"]
    whole = {key for key in expected if not key.startswith("ppo_actor/update/")}
    assert len(whole) > 30
    assert found.stats.keys() == whole
    for key in whole:
        assert found.stats[key] == pytest.approx(expected[key], rel=1e-6, abs=1e-6)
    complete = replay_batch(bundle_of(case), AREAL_2026_05)
    assert torch.equal(found.tensors["advantages"], complete.tensors["advantages"])


def test_behaviour_weights_need_no_current_policy(tmp_path: Path) -> None:
    assert bundle_of(find(CASE)).config.actor.use_decoupled_loss
    write_recorded(tmp_path, CASE, new_logprobs=None)
    bundle = read_bundle(tmp_path)
    more = insights(bundle, replay_batch(bundle, AREAL_2026_05), AREAL_2026_05)
    complete = bundle_of(find(CASE))
    expected = insights(complete, replay_batch(complete, AREAL_2026_05), AREAL_2026_05)
    assert more.behave == expected.behave
    assert more.behave is not None
    assert more.policy is None
    assert more.behave_survivors is None


def damaged(tmp_path: Path, change: Any) -> str:
    manifest = write_recorded(tmp_path, CASE)
    change(tmp_path / "batch.safetensors", manifest)
    write_manifest(tmp_path, manifest)
    return fault(tmp_path)


def test_a_cut_and_a_longer_file(tmp_path: Path) -> None:
    def cut(path: Path, _: Any) -> None:
        path.write_bytes(path.read_bytes()[:-1])

    def longer(path: Path, _: Any) -> None:
        path.write_bytes(path.read_bytes() + b"\0")

    assert "batch.safetensors: is cut: " in damaged(tmp_path, cut)
    assert "batch.safetensors: is longer than recorded: " in damaged(tmp_path, longer)


def test_one_changed_byte_is_seen(tmp_path: Path) -> None:
    def flip(path: Path, _: Any) -> None:
        content = bytearray(path.read_bytes())
        content[-1] ^= 1
        path.write_bytes(content)

    assert "is not the file of manifest.json: sha256 differs" in damaged(tmp_path, flip)


def test_an_oversized_file_is_neither_hashed_nor_read(tmp_path: Path) -> None:
    manifest = write_recorded(tmp_path, CASE)
    manifest["files"]["batch.safetensors"]["bytes"] = 2**40
    write_manifest(tmp_path, manifest)
    with (tmp_path / "batch.safetensors").open("r+b") as file:
        file.truncate(2**40)
    assert "has 1,099,511,627,776 bytes, more than the 1,048,576 that are read" in fault(tmp_path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"shape": [8, 31]}, "logprobs is float32 [8, 32], but float32 [8, 31] in manifest.json"),
        ({"dtype": "float64"}, "logprobs is float32 [8, 32], but float64 [8, 32]"),
    ],
)
def test_a_tensor_that_is_not_as_described(
    tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    def describe(_: Path, manifest: dict[str, Any]) -> None:
        manifest["tensors"]["logprobs"] |= change

    assert message in damaged(tmp_path, describe)


def test_tensors_and_rows_that_are_not_as_described(tmp_path: Path) -> None:
    def forget(_: Path, manifest: dict[str, Any]) -> None:
        del manifest["tensors"]["entropy"]

    def more_rows(_: Path, manifest: dict[str, Any]) -> None:
        manifest["rows"]["of"] = 9

    assert "has other tensors than manifest.json: entropy" in damaged(tmp_path, forget)
    assert "has 8 rows, but 9 in manifest.json" in damaged(tmp_path, more_rows)


def test_groups_that_do_not_add_up(tmp_path: Path) -> None:
    def groups(_: Path, manifest: dict[str, Any]) -> None:
        manifest["config"]["traj_group_sizes"] = []

    assert "traj_group_sizes [] do not add up to the 8 rows" in damaged(tmp_path, groups)


def raw(folder: Path, content: bytes) -> str:
    """The fault of a batch whose file has these bytes, size and hash being right."""
    write_recorded(folder, CASE)
    (folder / "batch.safetensors").write_bytes(content)
    write_manifest(folder, manifest_of(folder, golden_tensors(CASE), {"actor": {}}))
    return fault(folder, 2**30)


def test_a_header_that_reaches_beyond_the_file(tmp_path: Path) -> None:
    assert "is cut: 16 bytes" in raw(tmp_path, struct.pack("<Q", 2**63) + b"{}      ")


def test_a_huge_header_is_not_parsed(tmp_path: Path) -> None:
    text = b"{" + b" " * 2**21 + b"}"
    message = raw(tmp_path, struct.pack("<Q", len(text)) + text)
    assert "has a header of 2,097,154 bytes, too many for a batch" in message


@pytest.mark.parametrize(
    "tensors",
    [
        {
            "a": {"dtype": "F32", "shape": [4], "data_offsets": [0, 16]},
            "b": {"dtype": "F32", "shape": [4], "data_offsets": [8, 24]},
        },
        {"a": {"dtype": "F32", "shape": [2**40, 2**40], "data_offsets": [0, 16]}},
        {"a": {"dtype": "F32", "shape": [4], "data_offsets": [16, 0]}},
        {"a": {"dtype": "F32", "shape": [4], "data_offsets": [0, 2**50]}},
        {"a": {"dtype": "PICKLE", "shape": [4], "data_offsets": [0, 16]}},
    ],
)
def test_offsets_that_overlap_or_lie(tmp_path: Path, tensors: dict[str, Any]) -> None:
    header = json.dumps(tensors).encode()
    message = raw(tmp_path, struct.pack("<Q", len(header)) + header + b"\0" * 24)
    assert "batch.safetensors: cannot be read: " in message


def test_a_link_to_itself_is_told(tmp_path: Path) -> None:
    write_recorded(tmp_path, CASE)
    path = tmp_path / "batch.safetensors"
    path.unlink()
    path.symlink_to(path.name)
    assert "holds no batch.safetensors" in fault(tmp_path)


def test_the_split_of_the_recorder_is_read(tmp_path: Path) -> None:
    index = torch.tensor([0, 0, 0, 1, 1, 1, 1, 1], dtype=torch.int32)
    tensors = golden_tensors(CASE) | {"minibatch_index": index, "microbatch_index": index * 0}
    save_file(tensors, tmp_path / "batch.safetensors")
    write_manifest(tmp_path, manifest_of(tmp_path, tensors, {"actor": {}}))
    bundle = read_bundle(tmp_path)
    assert bundle.split is not None
    assert bundle.split.minibatch == (0, 0, 0, 1, 1, 1, 1, 1)
    assert "minibatch_index" not in bundle.tensors
