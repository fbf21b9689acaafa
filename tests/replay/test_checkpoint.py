"""What cannot be opened, or does not fit the batch, is one line that says so."""

from __future__ import annotations

import json
import pickle
import shutil
import socket
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import needs_transformers  # noqa: F401
import pytest
import torch
from random_models import batch, save
from safetensors.torch import load_file, save_file
from tiny_lm import BATCH, DEVICE, FOLDER

from analyzer.errors import RunError
from analyzer.replay.model.checkpoint import fingerprint, open_checkpoint, resolve_device
from analyzer.replay.model.settings import Settings
from analyzer.replay.model.stage1 import recompute

WAY = Settings(device=DEVICE)
FULL = ["full_attention"]


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A checkpoint to spoil."""
    return Path(shutil.copytree(FOLDER / "ckpt_current", tmp_path / "checkpoint"))


def refusal(folder: Path, settings: Settings = WAY) -> str:
    """The error's text, which is one line."""
    with pytest.raises(RunError) as caught:
        open_checkpoint(folder, settings)
    text = str(caught.value)
    assert len(text.splitlines()) == 1
    assert text.startswith(str(folder))
    return text


def configure(folder: Path, **changed: Any) -> None:
    """Change a checkpoint's configuration."""
    path = folder / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text("utf-8")), **changed}), "utf-8")


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    assert "is no folder" in refusal(tmp_path / "Qwen")


def test_no_configuration(copy: Path) -> None:
    (copy / "config.json").unlink()
    assert "holds no config.json" in refusal(copy)


def test_no_weights(copy: Path) -> None:
    (copy / "model.safetensors").unlink()
    assert "holds no weights" in refusal(copy)


class Bomb:
    """Creates a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return (Path.touch, (self.path,))


@pytest.mark.parametrize("name", ["pytorch_model.bin", "model.pt"])
def test_pickled_weights_are_not_opened(name: str, copy: Path, tmp_path: Path) -> None:
    (copy / "model.safetensors").unlink()
    (copy / name).write_bytes(pickle.dumps(Bomb(tmp_path / "ran")))
    assert f"has its weights as pickle only ({name})" in refusal(copy)
    assert not (tmp_path / "ran").exists()


def test_pickled_weights_beside_safetensors_are_left_alone(copy: Path, tmp_path: Path) -> None:
    (copy / "pytorch_model.bin").write_bytes(pickle.dumps(Bomb(tmp_path / "ran")))
    assert open_checkpoint(copy, WAY).head.vocabulary == 512
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("size", [0, 7, 300, 400_000])
def test_weights_cut_short(size: int, copy: Path) -> None:
    path = copy / "model.safetensors"
    path.write_bytes(path.read_bytes()[:size])
    assert "model.safetensors: cannot be read" in refusal(copy)


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"num_hidden_layers": 3, "layer_types": 3 * FULL}, "12 missing"),
        ({"num_hidden_layers": 1, "layer_types": FULL}, "12 unexpected"),
        ({"vocab_size": 500}, "cannot be loaded|2 mismatched"),
        ({"model_type": "no such model"}, "cannot be loaded"),
    ],
)
def test_weights_and_configuration_that_do_not_fit(
    changed: dict[str, Any], expected: str, copy: Path
) -> None:
    configure(copy, **changed)
    text = refusal(copy)
    assert any(part in text for part in expected.split("|")), text


def test_a_model_with_code_of_its_own_is_not_run(copy: Path, tmp_path: Path) -> None:
    configure(
        copy, model_type="own", auto_map={"AutoConfig": "own.C", "AutoModelForCausalLM": "own.M"}
    )
    (copy / "own.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w').close()\n", "utf-8")
    assert "cannot be loaded" in refusal(copy)
    assert not (tmp_path / "ran").exists()


def test_a_missing_weight_is_not_made_up(copy: Path) -> None:
    path = copy / "model.safetensors"
    weights = load_file(path)
    del weights["model.layers.1.mlp.up_proj.weight"]
    save_file(weights, path, metadata={"format": "pt"})
    assert "1 missing (model.layers.1.mlp.up_proj.weight)" in refusal(copy)


def test_attention_that_the_model_has_not(tmp_path: Path) -> None:
    folder = save("gemma2", tmp_path)
    assert "cannot be loaded" in refusal(folder, replace(WAY, attention="sdpa"))


def test_a_vocabulary_smaller_than_the_ids(tmp_path: Path) -> None:
    folder = save("llama", tmp_path)
    with pytest.raises(RunError, match=r"has a vocabulary of 199, but row 0 of the batch holds"):
        recompute(BATCH, folder, WAY)


def test_negative_ids(tmp_path: Path) -> None:
    ids = BATCH["input_ids"].clone()
    ids[2, 3] = -100
    with pytest.raises(RunError, match="row 2 of the batch holds the token id -100"):
        recompute({**BATCH, "input_ids": ids}, FOLDER / "ckpt_current", WAY)


def test_more_tokens_than_positions(tmp_path: Path) -> None:
    folder = save("gpt2", tmp_path, n_positions=20)
    with pytest.raises(RunError, match="has 20 positions, but row 1 of the batch has 29 tokens"):
        recompute(batch(), folder, WAY)


def test_padding_between_tokens() -> None:
    attention = BATCH["attention_mask"].clone()
    attention[1, 4] = False
    with pytest.raises(RunError, match="row 1 has padding between its tokens"):
        recompute({**BATCH, "attention_mask": attention}, FOLDER / "ckpt_current", WAY)


def test_a_device_that_is_not_there() -> None:
    with pytest.raises(RunError, match="device 'cuda:99' is not there"):
        resolve_device("cuda:99")
    with pytest.raises(RunError, match="device 'abacus' is not there"):
        resolve_device("abacus")
    assert resolve_device("auto").type == ("cuda" if torch.cuda.is_available() else "cpu")


def test_a_map_of_devices_needs_accelerate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "accelerate", None)
    with pytest.raises(RunError, match=r"need accelerate, which is not installed \(pip install"):
        open_checkpoint(FOLDER / "ckpt_current", replace(WAY, device_map="auto"))


def test_without_transformers_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(RunError, match=r"transformers, which is not installed \(pip install"):
        open_checkpoint(FOLDER / "ckpt_current", WAY)


def test_dtype_of_the_checkpoint_itself(copy: Path) -> None:
    assert open_checkpoint(copy, replace(WAY, dtype=None)).dtype == "float32"
    configure(copy, dtype="bfloat16")
    assert open_checkpoint(copy, replace(WAY, dtype=None)).dtype == "bfloat16"


def test_weights_held_in_eight_bits(copy: Path) -> None:
    """float8_e4m3fn has three bits of fraction: 1/16 at most from a number in its normal range."""
    exact = open_checkpoint(copy, WAY).head.weight
    found = open_checkpoint(copy, replace(WAY, dtype="float8_e4m3fn"))
    assert (found.dtype, found.head.weight.dtype) == ("float8_e4m3fn", torch.float32)
    off = (found.head.weight / exact - 1).abs()[exact.abs() > 2**-6]
    assert len(off) > 100
    assert 0.02 < float(off.max()) <= 1 / 16


def test_the_fingerprint_sees_one_changed_byte(copy: Path) -> None:
    before = fingerprint(copy)
    assert before == fingerprint(FOLDER / "ckpt_current")
    path = copy / "model.safetensors"
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    assert fingerprint(copy) != before


def test_loading_says_nothing_and_reaches_for_no_network(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("the network was reached for")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    open_checkpoint(FOLDER / "ckpt_current", WAY)
    assert capfd.readouterr() == ("", "")
