"""Gradients of a loss over log-probs, against autograd through full logits of the whole batch."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import needs_transformers  # noqa: F401
import pytest
import torch
from random_models import batch, save, transformers
from tiny_lm import DEVICE
from torch import Tensor

from analyzer.errors import RunError, UsageError
from analyzer.replay.model.checkpoint import open_checkpoint
from analyzer.replay.model.gradient import cosine, gradient
from analyzer.replay.model.settings import Settings

WAY = Settings(temperature=0.8, device=DEVICE, tokens=64, chunk=199 * 4 * 7, attention="eager")
PREDICTING = batch()["attention_mask"].roll(-1, 1)
PREDICTING[:, -1] = False


def loss(logprobs: Tensor) -> Tensor:
    """No sum over tokens: how it changes with one log-prob depends on all others of the row."""
    generator = torch.Generator().manual_seed(8)
    advantage = torch.randn(logprobs.shape, generator=generator).to(logprobs)
    by_row = (logprobs * PREDICTING.to(logprobs)).mean(-1, keepdim=True)
    return (torch.tanh(by_row / 2) * advantage * logprobs * PREDICTING.to(logprobs)).sum()


def plainly(folder: Path, temperature: float) -> Tensor:
    """The same by autograd alone, in float64."""
    model = transformers.AutoModelForCausalLM.from_pretrained(
        str(folder), dtype=torch.float64, attn_implementation="eager"
    )
    model.eval()
    ids = batch()["input_ids"].long()
    logits = model(input_ids=ids, attention_mask=torch.ones_like(ids)).logits / temperature
    found = torch.log_softmax(logits, -1).gather(-1, ids.roll(-1, 1)[..., None])[..., 0]
    torch.autograd.backward(loss(found))
    return torch.cat(
        [(torch.zeros_like(p) if p.grad is None else p.grad).flatten() for p in model.parameters()]
    )


@pytest.mark.parametrize("name", ["llama", "gpt2", "gemma2", "phi"])
def test_gradient_is_that_of_autograd(name: str, tmp_path: Path) -> None:
    folder = save(name, tmp_path)
    expected = plainly(folder, WAY.temperature)
    found = gradient(batch(), folder, WAY, loss)
    assert found.shape == expected.shape
    assert float((found - expected).norm() / expected.norm()) <= 1e-5
    assert cosine(found, expected) == pytest.approx(1, abs=1e-9)


@pytest.fixture(scope="module")
def llama(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random Llama."""
    return save("llama", tmp_path_factory.mktemp("llama"))


@pytest.mark.parametrize(
    "other", [replace(WAY, chunk=10**6), replace(WAY, tokens=1), replace(WAY, tokens=10_000)]
)
def test_blocks_and_micro_batches_change_nothing(other: Settings, llama: Path) -> None:
    base, found = (gradient(batch(), llama, settings, loss) for settings in (WAY, other))
    assert float((found - base).norm() / base.norm()) <= 1e-5


def test_the_model_is_left_as_it_was(llama: Path) -> None:
    opened = open_checkpoint(llama, WAY)
    opened.model.requires_grad_(False)
    once, twice = (gradient(batch(), opened, WAY, loss) for _ in range(2))
    assert torch.equal(once, twice)
    assert all(p.grad is None and not p.requires_grad for p in opened.model.parameters())


def test_a_loss_of_masked_tokens_only_has_no_direction(llama: Path) -> None:
    found = gradient(batch(), llama, WAY, lambda logprobs: (logprobs * 0).sum())
    assert not found.any()
    assert cosine(found, found) is None
    constant = gradient(batch(), llama, WAY, lambda logprobs: torch.tensor(3.0))
    assert torch.equal(constant, found)


def test_cosine_by_hand() -> None:
    one, other = torch.tensor([3.0, 4.0]), torch.tensor([4.0, 3.0])
    assert cosine(one, other) == pytest.approx(24 / 25, abs=1e-12)
    assert cosine(one, -2 * one) == pytest.approx(-1, abs=1e-12)


def test_large_models_and_truncated_vocabularies_have_none(llama: Path) -> None:
    with pytest.raises(RunError, match=r"a gradient of this model has 113,024 bytes"):
        gradient(batch(), llama, WAY, loss, largest=100_000)
    with pytest.raises(UsageError, match="no gradient is taken"):
        gradient(batch(), llama, replace(WAY, top_p=0.9), loss)
