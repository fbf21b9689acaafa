"""Log-probs, entropy and extremes of given hidden states, against float64 by hand."""

from __future__ import annotations

import math
from dataclasses import replace

import needs_torch  # noqa: F401
import pytest
import torch
from torch import Tensor

from analyzer.errors import UsageError
from analyzer.replay.model.head import Head
from analyzer.replay.model.logprobs import token_values
from analyzer.replay.model.settings import Settings

POSITIONS, HIDDEN, VOCABULARY = 11, 8, 37
GENERATOR = torch.Generator().manual_seed(3)
WEIGHT = 2 * torch.randn(VOCABULARY, HIDDEN, generator=GENERATOR)
STATES = torch.randn(POSITIONS, HIDDEN, generator=GENERATOR)
LABELS = torch.randint(0, VOCABULARY, (POSITIONS,), generator=GENERATOR)


def by_hand(
    logits: Tensor, label: int, temperature: float, top_k: int, top_p: float
) -> tuple[float, float]:
    """Log-prob and entropy of one position, as an engine samples: the likeliest tokens first."""
    scaled = [float(x) / temperature for x in logits.double()]
    order = sorted(range(len(scaled)), key=lambda token: -scaled[token])
    kept = order[:top_k] if top_k else order
    whole = sum(math.exp(scaled[token]) for token in kept)
    reached, nucleus = 0.0, []
    for token in kept:
        if reached >= top_p:
            break
        nucleus.append(token)
        reached += math.exp(scaled[token]) / whole
    total = sum(math.exp(scaled[token]) for token in nucleus)
    logprobs = {token: scaled[token] - math.log(total) for token in nucleus}
    entropy = -sum(math.exp(value) * value for value in logprobs.values())
    return logprobs.get(label, -math.inf), entropy


@pytest.mark.parametrize("chunk", [1, 50, 400, 10_000])
@pytest.mark.parametrize(
    ("temperature", "top_k", "top_p"),
    [(1.0, 0, 1.0), (0.6, 0, 1.0), (1.0, 0, 0.8), (0.6, 5, 1.0), (1.3, 20, 0.9), (1.0, 99, 0.3)],
)
def test_values_are_those_worked_out_by_hand(
    temperature: float, top_k: int, top_p: float, chunk: int
) -> None:
    settings = Settings(
        temperature=temperature, top_k=top_k, top_p=top_p, chunk=chunk, extremes=True
    )
    found = token_values(Head(WEIGHT), STATES, LABELS, settings)
    logits = STATES.double() @ WEIGHT.double().T
    expected = [
        by_hand(logits[at], int(LABELS[at]), temperature, top_k, top_p) for at in range(POSITIONS)
    ]
    assert found.entropy is not None
    assert found.logprobs.tolist() == pytest.approx([logp for logp, _ in expected], abs=2e-5)
    assert found.entropy.tolist() == pytest.approx([entropy for _, entropy in expected], abs=2e-5)
    assert found.smallest is not None and found.largest is not None
    assert found.smallest.tolist() == pytest.approx(logits.amin(-1).tolist(), abs=1e-5)
    assert found.largest.tolist() == pytest.approx(logits.amax(-1).tolist(), abs=1e-5)


@pytest.mark.parametrize("sharpness", [0.01, 3.0])  # needs most of the vocabulary; a few tokens
def test_top_p_over_a_large_vocabulary(sharpness: float) -> None:
    weight = sharpness * torch.randn(3000, HIDDEN, generator=torch.Generator().manual_seed(6))
    labels = LABELS * 80
    found = token_values(Head(weight), STATES, labels, Settings(top_p=0.9))
    logits = STATES.double() @ weight.double().T
    expected = [by_hand(logits[at], int(labels[at]), 1.0, 0, 0.9) for at in range(POSITIONS)]
    assert found.entropy is not None
    assert found.logprobs.tolist() == pytest.approx([logp for logp, _ in expected], abs=1e-3)
    assert found.entropy.tolist() == pytest.approx([entropy for _, entropy in expected], abs=1e-3)


def test_some_of_the_labels_above_are_outside_of_top_p_and_some_inside() -> None:
    found = token_values(Head(WEIGHT), STATES, LABELS, Settings(top_p=0.8)).logprobs
    assert 0 < int(torch.isinf(found).sum()) < POSITIONS


def test_bias_scale_and_cap() -> None:
    bias = torch.randn(VOCABULARY, generator=torch.Generator().manual_seed(4))
    found = token_values(Head(WEIGHT, bias, 0.5, 3.0), STATES, LABELS, Settings(chunk=60))
    logits = (STATES.double() @ WEIGHT.double().T + bias.double()) * 0.5
    expected = torch.log_softmax(3 * torch.tanh(logits / 3), -1)[range(POSITIONS), LABELS]
    assert found.logprobs.tolist() == pytest.approx(expected.tolist(), abs=1e-5)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_logits_of_half_precision_become_float32_before_anything_else(dtype: torch.dtype) -> None:
    weight, states = WEIGHT.to(dtype), STATES.to(dtype)
    # float64 of the rounded logits: all that comes after the product is exact.
    logits = (states @ weight.T).double() / 0.7
    settings = Settings(temperature=0.7, chunk=VOCABULARY * POSITIONS)
    found = token_values(Head(weight), states, LABELS, settings)
    expected = torch.log_softmax(logits, -1)[range(POSITIONS), LABELS]
    assert found.logprobs.dtype == torch.float32
    assert found.logprobs.tolist() == pytest.approx(expected.tolist(), abs=1e-5)


def test_large_logits_overflow_nowhere() -> None:
    found = token_values(Head(1000 * WEIGHT), STATES, LABELS, Settings(chunk=90))
    logits = STATES.double() @ (1000 * WEIGHT).double().T
    expected = torch.log_softmax(logits, -1)[range(POSITIONS), LABELS]
    assert found.logprobs.tolist() == pytest.approx(expected.tolist(), rel=1e-5, abs=1e-2)
    assert found.entropy is not None and bool(torch.isfinite(found.entropy).all())


def test_a_token_that_can_never_come_adds_nothing_to_the_entropy() -> None:
    bias = torch.zeros(VOCABULARY)
    bias[5:] = -torch.inf
    found = token_values(Head(WEIGHT, bias), STATES, LABELS * 0, Settings(chunk=90))
    rest = token_values(Head(WEIGHT[:5]), STATES, LABELS * 0, Settings())
    assert found.entropy is not None and rest.entropy is not None
    assert found.entropy.tolist() == pytest.approx(rest.entropy.tolist(), abs=1e-5)
    assert found.logprobs.tolist() == pytest.approx(rest.logprobs.tolist(), abs=1e-5)


@pytest.mark.parametrize(
    "changed",
    [
        {"temperature": 0.0},
        {"temperature": math.nan},
        {"top_p": 0.0},
        {"top_p": 1.5},
        {"top_k": -1},
        {"dtype": "int8"},
        {"tokens": 0},
        {"chunk": 0},
    ],
)
def test_settings_that_mean_nothing(changed: dict[str, float]) -> None:
    with pytest.raises(UsageError, match=f"{next(iter(changed))} is"):
        replace(Settings(), **changed)  # type: ignore[arg-type]
