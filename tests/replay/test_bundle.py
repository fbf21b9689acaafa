"""Reading a recorded batch: what is wrong with one is told in one line."""

from __future__ import annotations

import shutil
from pathlib import Path

import needs_torch  # noqa: F401
import pytest
import torch
from golden_cases import FOLDER, find
from safetensors.torch import load_file, save_file

from analyzer.errors import RunError
from analyzer.replay.bundle import read_bundle
from analyzer.replay.conventions import AREAL_2026_05
from analyzer.replay.stage0 import replay_batch


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of a recorded batch of 8 rows, without its expected values."""
    copy = tmp_path / "batch"
    copy.mkdir()
    for name in ("batch.safetensors", "config.yaml"):
        shutil.copy(FOLDER / find("areal-2026-05/case_28") / name, copy / name)
    return copy


def fault(folder: Path, largest: int = 2**20) -> str:
    with pytest.raises(RunError) as caught:
        read_bundle(folder, largest)
    text = str(caught.value)
    assert "\n" not in text
    return text


def change(folder: Path, **tensors: torch.Tensor | None) -> None:
    path = folder / "batch.safetensors"
    merged = load_file(path) | tensors
    save_file({name: t for name, t in merged.items() if t is not None}, path)


def configure(folder: Path, text: str) -> None:
    (folder / "config.yaml").write_text(text, "utf-8")


def test_a_batch_is_read(folder: Path) -> None:
    bundle = read_bundle(folder)
    assert bundle.rows == 8
    assert bundle.tensors["logprobs"].shape == (8, 32)
    assert bundle.config.actor.rejection_sampling is not None
    assert bundle.config.meta.eos_token_id == 2
    assert bundle.split is None


def test_a_missing_folder_and_a_missing_file(folder: Path) -> None:
    assert "is no folder" in fault(folder / "nowhere")
    (folder / "config.yaml").unlink()
    assert "holds no config.yaml" in fault(folder)


@pytest.mark.parametrize("kept", [0, 5, 200, 8000])
def test_a_cut_file(folder: Path, kept: int) -> None:
    path = folder / "batch.safetensors"
    path.write_bytes(path.read_bytes()[:kept])
    assert "cut" in fault(folder)


def test_a_file_that_is_something_else(folder: Path) -> None:
    (folder / "batch.safetensors").write_bytes((10).to_bytes(8, "little") + b"x" * 100)
    assert "cannot be read" in fault(folder)


def test_an_oversized_file_is_not_read(folder: Path) -> None:
    size = (folder / "batch.safetensors").stat().st_size
    assert f"has {size:,} bytes, more than the 1,000" in fault(folder, 1000)


def test_tensors_that_do_not_fit_together(folder: Path) -> None:
    change(folder, prox_logp=torch.zeros(8, 31))
    assert "prox_logp has shape [8, 31], not [B,T] = [8, 32]" in fault(folder)
    change(folder, prox_logp=None, rewards=torch.zeros(7))
    assert "rewards has shape [7], not [B] = [8]" in fault(folder)


def test_rounded_log_probs_are_refused(folder: Path) -> None:
    change(folder, new_logprobs=torch.zeros(8, 32, dtype=torch.bfloat16))
    assert "new_logprobs is bfloat16, not float32" in fault(folder)


def test_a_missing_and_an_unknown_tensor(folder: Path) -> None:
    change(folder, new_logprobs=None)
    assert "lacks new_logprobs" in fault(folder)
    change(folder, new_logprobs=torch.zeros(8, 32), extra=torch.zeros(8))
    assert "holds 'extra', which no replay knows" in fault(folder)


def test_what_a_user_logs_has_to_be_there(folder: Path) -> None:
    configure(folder, "actor: {log_agent_stats: true, log_agent_stats_keys: [tool_calls]}\n")
    assert "lacks tool_calls" in fault(folder)
    change(folder, tool_calls=torch.zeros(8))
    assert "tool_calls" in read_bundle(folder).tensors


def test_padding_on_the_left_is_refused(folder: Path) -> None:
    mask = torch.ones(8, 32, dtype=torch.bool)
    mask[3, 0] = False
    change(folder, attention_mask=mask)
    assert "not padded on the right" in fault(folder)


def test_trajectories_that_do_not_add_up(folder: Path) -> None:
    configure(folder, "actor: {}\ntraj_group_sizes: [4, 3]\n")
    assert "traj_group_sizes [4, 3] do not add up to the 8 rows" in fault(folder)


def test_faults_of_the_configuration_have_a_line(folder: Path) -> None:
    configure(folder, "actor:\n  eps_clip: 0.2\n  eps_clp_higher: 0.3\n")
    text = fault(folder)
    assert "config.yaml:3:3: unknown key 'eps_clp_higher'" in text
    assert "did you mean 'eps_clip_higher'?" in text
    configure(folder, "actor:\n  eps_clip: wide\n")
    assert "config.yaml:2:3: actor.eps_clip: " in fault(folder)
    configure(folder, "actor: [\n")
    assert "not valid YAML" in fault(folder)


def test_defaults_are_those_of_areal(folder: Path) -> None:
    configure(folder, "actor: {}\n")
    actor = read_bundle(folder).config.actor
    assert (actor.kl_ctl, actor.ppo_n_minibatches, actor.eps_clip) == (0.1, 4, 0.2)
    assert actor.reward_norm is None


def test_an_empty_normalisation_is_none(folder: Path) -> None:
    configure(folder, "actor: {adv_norm: {}, reward_norm: {std_level: null}}\n")
    actor = read_bundle(folder).config.actor
    assert actor.adv_norm is None
    assert actor.reward_norm is not None
    assert actor.reward_norm.std_level is None


def test_an_open_split_is_noted_unless_it_is_recorded(folder: Path) -> None:
    """Two minibatches of rows as long as each other: nothing but a record settles it."""
    configure(folder, "actor: {ppo_n_minibatches: 2, kl_ctl: 0.0}\n")
    change(folder, attention_mask=torch.ones(8, 32, dtype=torch.bool))
    found = replay_batch(read_bundle(folder), AREAL_2026_05)
    assert len(found.notes) == 1
    assert "record minibatch_index" in found.notes[0]
    index = torch.tensor([0, 0, 0, 1, 1, 1, 1, 1], dtype=torch.int32)
    change(folder, minibatch_index=index, microbatch_index=torch.zeros(8, dtype=torch.int32))
    found = replay_batch(read_bundle(folder), AREAL_2026_05)
    assert found.notes == ()
    assert [part.rows for m in found.minibatches for part in m.parts] == [
        (0, 1, 2),
        (3, 4, 5, 6, 7),
    ]
