"""The gradient of a loss over log-probs with respect to a model's weights, for small models.

A loss sees log-probs only, so the gradient comes in two steps: how the loss changes with each
log-prob, then how each log-prob changes with the weights, one micro-batch and one block of
positions at a time. The logits of a block are computed again in the second step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from analyzer.errors import RunError, UsageError
from analyzer.replay.model.checkpoint import Checkpoint, open_checkpoint
from analyzer.replay.model.head import Head, head_of
from analyzer.replay.model.logprobs import chunk_of
from analyzer.replay.model.plan import tokens_of
from analyzer.replay.model.rows import gathered, micro_batches, rows_of
from analyzer.replay.model.settings import Settings
from analyzer.replay.model.stage1 import algorithms, check_rows, recompute, states

LARGEST = 2 * 2**30  # bytes of one gradient; weights, two gradients and activations exist at once
# Logits, their float32, their log-softmax and its gradient.
_COPIES = 4

LossOfLogprobs = Callable[[Tensor], Tensor]


def gradient(
    batch: Mapping[str, Tensor],
    checkpoint: Checkpoint | Path,
    settings: Settings,
    loss: LossOfLogprobs,
    *,
    wanted: Tensor | None = None,
    largest: int = LARGEST,
) -> Tensor:
    """The gradient as one flat vector, float32 on the CPU, in the order of the parameters.

    `loss` takes log-probs [B,T] in rolled alignment, as `recompute` gives them, and returns a
    scalar. Two gradients of the same checkpoint are compared by `cosine`.

    Raises UsageError for settings that no trainer takes gradients under (top-p, top-k), and
    RunError for a model whose gradient has more than `largest` bytes, and as `recompute` does.
    """
    if settings.truncated:
        raise UsageError("no gradient is taken of log-probs that top-p or top-k renormalise")
    opened = open_checkpoint(checkpoint, settings) if isinstance(checkpoint, Path) else checkpoint
    size = 4 * sum(p.numel() for p in opened.model.parameters())
    if size > largest:
        raise RunError(
            f"a gradient of this model has {size:,} bytes, more than the {largest:,} allowed",
            hint="gradients are for small models",
        )
    now = recompute(batch, opened, settings, wanted=wanted).logprobs
    slope = slope_of(loss, now)
    rows = rows_of(batch["input_ids"], batch["attention_mask"], slope != 0)
    check_rows(rows, opened)
    with _with_gradient(opened.model) as parameters, algorithms(settings.deterministic):
        head = head_of(opened.model, detached=False)
        for part in micro_batches(rows, tokens_of(settings, opened.device)):
            hidden = states(part, opened)
            device = hidden.device
            slopes = gathered(rows, part, slope).to(device)
            _backward(head or opened.head, hidden, part.labels.to(device), slopes, settings)
        return torch.cat([_flat(parameter) for parameter in parameters])


def slope_of(loss: LossOfLogprobs, logprobs: Tensor) -> Tensor:
    """d loss / d log-prob [B,T]; zeros where the loss depends on none."""
    leaf = logprobs.detach().clone().requires_grad_()
    value = loss(leaf)
    if not value.requires_grad:
        return torch.zeros_like(leaf)
    (found,) = torch.autograd.grad(value, leaf, allow_unused=True)
    return torch.zeros_like(leaf) if found is None else found


def cosine(of: Tensor, other: Tensor) -> float | None:
    """The cosine between two gradients; None where one of them is zero."""
    # float64: sums over millions of weights.
    a, b = of.to(torch.float64), other.to(torch.float64)
    norms = float(a.norm()) * float(b.norm())
    return float(a @ b) / norms if norms else None


def _backward(
    head: Head, hidden: Tensor, labels: Tensor, slopes: Tensor, settings: Settings
) -> None:
    """Add the gradient of Σ slope·log-prob to the parameters'."""
    rows = max(1, chunk_of(settings, hidden.device) // (_COPIES * head.vocabulary))
    # The blocks meet at a leaf, so that the model itself is gone through once.
    leaf = hidden.detach().requires_grad_()
    for at in range(0, len(labels), rows):
        part = slice(at, at + rows)
        logits = head.logits(leaf[part], slice(0, head.vocabulary))
        exact = logits if logits.dtype == torch.float64 else logits.float()
        found = torch.log_softmax(exact / settings.temperature, -1)
        picked = found.gather(-1, labels[part, None])[:, 0]
        torch.autograd.backward(picked, slopes[part])
    torch.autograd.backward(hidden, leaf.grad)


@contextmanager
def _with_gradient(model: Any) -> Iterator[list[Any]]:
    """The model's parameters, all asking for gradients, and as before afterwards."""
    parameters = list(model.parameters())
    before = [parameter.requires_grad for parameter in parameters]
    model.requires_grad_(True)
    model.zero_grad(set_to_none=True)
    try:
        yield parameters
    finally:
        model.zero_grad(set_to_none=True)
        for parameter, asked in zip(parameters, before, strict=True):
            parameter.requires_grad_(asked)


def _flat(parameter: Any) -> Tensor:
    if parameter.grad is None:
        return torch.zeros(parameter.numel())
    found: Tensor = parameter.grad.detach().flatten().to("cpu", torch.float32)
    return found
