"""Stage 1 on random models of several architectures, against full logits row by row."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import needs_transformers  # noqa: F401
import pytest
import torch
from random_models import CONFIGS, batch, plainly, save
from tiny_lm import DEVICE, largest
from torch import Tensor

from analyzer.errors import RunError
from analyzer.replay.model.checkpoint import open_checkpoint
from analyzer.replay.model.settings import Settings
from analyzer.replay.model.stage1 import recompute

WAY = Settings(temperature=0.8, device=DEVICE, tokens=64, chunk=500)


@pytest.fixture(scope="module")
def llama(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random Llama."""
    return save("llama", tmp_path_factory.mktemp("llama"))


@pytest.mark.parametrize(
    ("name", "attention"),
    [(name, "eager") for name in CONFIGS] + [("llama", "sdpa"), ("gpt2", "sdpa")],
)
def test_log_probs_are_those_of_the_full_logits(name: str, attention: str, tmp_path: Path) -> None:
    folder = save(name, tmp_path)
    expected = plainly(folder, batch(), WAY.temperature, attention)
    found = recompute(batch(), folder, replace(WAY, attention=attention))
    assert largest(found.logprobs - expected) <= 2e-5
    assert float(expected.min()) < -7  # far from uniform: a wrong scale would show
    assert found.settings.attention == attention


def test_a_last_step_that_is_not_known_is_refused(tmp_path: Path) -> None:
    # Granite divides by `logits_scaling`; HyperCLOVA X multiplies.
    CONFIGS["hyperclovax"] = ("HyperCLOVAXConfig", CONFIGS["granite"][1])
    try:
        folder = save("hyperclovax", tmp_path)
    except AttributeError:
        pytest.skip("this version of transformers has no HyperCLOVA X")
    finally:
        del CONFIGS["hyperclovax"]
    with pytest.raises(RunError, match="does more to its logits than is known here"):
        open_checkpoint(folder, WAY)


@pytest.mark.parametrize(
    ("what", "other"),
    [
        ("single logits", replace(WAY, chunk=20)),
        ("chunk of positions", replace(WAY, chunk=199 * 5)),
        ("default chunk", replace(WAY, chunk=None)),
        ("one row at a time", replace(WAY, tokens=1)),
        ("all rows at once", replace(WAY, tokens=10_000)),
    ],
)
def test_blocks_and_micro_batches_change_nothing(what: str, other: Settings, llama: Path) -> None:
    base, found = (recompute(batch(), llama, settings) for settings in (WAY, other))
    assert largest(found.logprobs - base.logprobs) <= 2e-5
    assert base.entropy is not None and found.entropy is not None
    assert largest(found.entropy - base.entropy) <= 2e-5


def test_order_of_rows_changes_nothing(llama: Path) -> None:
    base = recompute(batch(), llama, WAY).logprobs
    order = torch.tensor([3, 6, 0, 5, 2, 4, 1])
    turned = {name: tensor[order] for name, tensor in batch().items()}
    assert largest(recompute(turned, llama, WAY).logprobs - base[order]) <= 1e-5


def test_padding_on_either_side_changes_nothing(llama: Path) -> None:
    base = recompute(batch(), llama, WAY).logprobs
    rows = len(base)
    wider = {
        name: torch.cat([tensor, torch.zeros(rows, 9, dtype=tensor.dtype)], -1)
        for name, tensor in batch().items()
    }
    assert largest(recompute(wider, llama, WAY).logprobs[:, :-9] - base) <= 1e-5
    lengths = batch()["attention_mask"].sum(-1).tolist()

    def to_the_right(tensor: Tensor) -> Tensor:
        width = tensor.shape[1]
        return torch.stack(
            [row.roll(width - length) for row, length in zip(tensor, lengths, strict=True)]
        )

    left = {name: to_the_right(tensor) for name, tensor in batch().items()}
    assert largest(recompute(left, llama, WAY).logprobs - to_the_right(base)) <= 1e-5


def test_only_what_is_wanted_is_computed(llama: Path) -> None:
    base = recompute(batch(), llama, WAY)
    wanted = torch.zeros_like(batch()["attention_mask"])
    wanted[1, 4:9] = wanted[4, 0] = wanted[6, 25:] = True  # the last one: padding only
    found = recompute(batch(), llama, WAY, wanted=wanted)
    inside = found.wanted
    assert inside.sum() == 6
    assert largest((found.logprobs - base.logprobs)[inside]) <= 1e-5
    assert not found.logprobs[~inside].any()
    assert found.plan.tokens == 18  # row 1 up to its ninth token, row 4's first one beside it
    assert found.plan.wanted == 6


def test_equality_leaves_time_aside(llama: Path) -> None:
    one, other = (recompute(batch(), llama, WAY) for _ in range(2))
    assert one.seconds != other.seconds
    assert one == other
    assert one != recompute(batch(), llama, replace(WAY, temperature=0.9))
    assert one != recompute(batch(), llama, replace(WAY, entropy=False))
    assert one != replace(one, logprobs=one.logprobs + 1)
