"""Log-probs of given tokens from hidden states, some positions and logits at a time.

AReaL's rule: logits become float32, are divided by the temperature, then log-softmax. The
logits of a block of positions and of a block of the vocabulary exist at one time, in a buffer that
is used again; each block leaves its log-sum-exp behind.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from analyzer.replay.model.head import Head
from analyzer.replay.model.settings import Settings

# Positions and logits in a block: on a CPU two blocks should fit into its caches, on a GPU a block
# should keep it busy.
_POSITIONS = {"cpu": 1024}
_CHUNK = {"cpu": 2**21}
_POSITIONS_ELSEWHERE = 4096
_CHUNK_ELSEWHERE = 2**26
# Sorting a row takes its weights twice more and their places in int64, beside logits and weights.
_SORTING = 3
# Of a chunk, one part in this many is left to vectors over positions and to the workspace of the
# product: oneDNN takes some ten thousand bytes in bfloat16, by the number of threads.
_WORKING_ROOM = 64
_LIKELY = 1024  # tokens that hold top_p nearly always; the whole row is sorted where they do not


@dataclass(frozen=True)
class TokenValues:
    """What is known of each of n positions, float32 (float64 from a float64 head)."""

    logprobs: Tensor
    """In nats; -inf for a token that top-p or top-k leave out."""
    entropy: Tensor | None
    smallest: Tensor | None
    largest: Tensor | None


def chunk_of(settings: Settings, device: torch.device) -> int:
    """How many logits exist at one time."""
    return settings.chunk or _CHUNK.get(device.type, _CHUNK_ELSEWHERE)


def token_values(head: Head, hidden: Tensor, labels: Tensor, settings: Settings) -> TokenValues:
    """Log-probs of `labels` [n], n > 0, after hidden states [n,H], without gradient.

    Memory beside the arguments and results: two blocks of `chunk_of` logits in float32.
    """
    chunk = chunk_of(settings, hidden.device)
    if settings.truncated:
        rows, columns = max(1, chunk // (_SORTING * head.vocabulary)), head.vocabulary
    else:
        rows = max(1, min(chunk, _POSITIONS.get(hidden.device.type, _POSITIONS_ELSEWHERE)))
        rows = min(rows, len(labels))
        columns = max(1, min(head.vocabulary, (chunk - chunk // _WORKING_ROOM) // rows))
    with torch.no_grad():
        buffers = _Buffers.of(head, hidden, rows, columns)
        block = _truncated if settings.truncated else _whole
        found = [
            block(head, hidden[at : at + rows], labels[at : at + rows], settings, buffers)
            for at in range(0, len(labels), rows)
        ]
        return _joined(found)


@dataclass(frozen=True)
class _Buffers:
    """Flat memory for a block of logits and one of their weights."""

    logits: Tensor
    weights: Tensor
    half: Tensor | None
    """The memory of `weights`, as the dtype that a half-precision head gives."""

    @staticmethod
    def of(head: Head, hidden: Tensor, rows: int, columns: int) -> _Buffers:
        exact = torch.float64 if head.weight.dtype == torch.float64 else torch.float32
        logits = torch.empty(rows * columns, dtype=exact, device=hidden.device)
        weights = torch.empty_like(logits)
        halved = head.weight.dtype not in (torch.float32, torch.float64)
        return _Buffers(logits, weights, weights.view(head.weight.dtype) if halved else None)

    def fill(self, head: Head, hidden: Tensor, columns: slice) -> tuple[Tensor, Tensor]:
        """Logits [r,c] before the temperature, and as much memory for their weights."""
        shape = (len(hidden), columns.stop - columns.start)
        size = shape[0] * shape[1]
        logits, weights = self.logits[:size].view(shape), self.weights[:size].view(shape)
        if self.half is None:
            head.logits(hidden, columns, out=logits)
        else:
            logits.copy_(head.logits(hidden, columns, out=self.half[:size].view(shape)))
        return logits, weights


def _whole(
    head: Head, hidden: Tensor, labels: Tensor, settings: Settings, buffers: _Buffers
) -> TokenValues:
    """Values over the whole vocabulary, from blocks of it."""
    width = len(buffers.logits) // len(hidden)
    nothing = torch.full(
        (len(hidden),), -torch.inf, dtype=buffers.logits.dtype, device=hidden.device
    )
    total, label, entropy = nothing, nothing, torch.zeros_like(nothing)
    low, high = -nothing, nothing
    for start in range(0, head.vocabulary, width):
        columns = slice(start, min(start + width, head.vocabulary))
        logits, weights = buffers.fill(head, hidden, columns)
        if settings.extremes:
            low, high = torch.minimum(low, logits.amin(-1)), torch.maximum(high, logits.amax(-1))
        if settings.temperature != 1:
            logits.div_(settings.temperature)
        inside = (labels >= start) & (labels < columns.stop)
        label = torch.where(inside, _at(logits, labels - start), label)
        block = _normalised(logits, weights)
        before, total = total, torch.logaddexp(total, block)
        if settings.entropy:
            # Of a choice between two parts, then within the part.
            old, new = torch.exp(before - total), torch.exp(block - total)
            entropy = old * entropy + new * _entropy(logits, weights, block)
            entropy += torch.special.entr(old) + torch.special.entr(new)
    return TokenValues(
        label - total,
        entropy if settings.entropy else None,
        low if settings.extremes else None,
        high if settings.extremes else None,
    )


def _truncated(
    head: Head, hidden: Tensor, labels: Tensor, settings: Settings, buffers: _Buffers
) -> TokenValues:
    """Values over what top-k, then top-p leave; tokens as likely as the last one stay."""
    logits, weights = buffers.fill(head, hidden, slice(0, head.vocabulary))
    low, high = (logits.amin(-1), logits.amax(-1)) if settings.extremes else (None, None)
    logits.div_(settings.temperature)
    if 0 < settings.top_k < head.vocabulary:
        last = torch.topk(logits, settings.top_k, -1).values[:, -1:]
        logits.masked_fill_(logits < last, -torch.inf)
    if settings.top_p < 1:
        torch.softmax(logits, -1, out=weights)
        logits.masked_fill_(weights < _least(weights, settings.top_p), -torch.inf)
    label = _at(logits, labels)
    total = _normalised(logits, weights)
    entropy = _entropy(logits, weights, total) if settings.entropy else None
    return TokenValues(label - total, entropy, low, high)


def _least(weights: Tensor, top_p: float) -> Tensor:
    """The smallest weight [r,1] among the largest that together reach `top_p`."""
    for size in (min(_LIKELY, weights.shape[-1]), weights.shape[-1]):
        ordered = torch.topk(weights, size, -1).values
        reached = torch.cumsum(ordered, -1)
        if bool((reached[:, -1] >= top_p).all()):
            break
    # The token that reaches it is the last one: as many come before it as stay below.
    before = (reached < top_p).sum(-1, keepdim=True).clamp_(max=size - 1)
    return ordered.gather(-1, before)


def _at(logits: Tensor, labels: Tensor) -> Tensor:
    """The label's logit where it lies in this block; anything elsewhere."""
    return logits.gather(-1, labels.clamp(0, logits.shape[-1] - 1)[:, None])[:, 0]


def _normalised(logits: Tensor, weights: Tensor) -> Tensor:
    """Σ exp(logits), as a logarithm; the weights become exp(logits) over that sum.

    softmax is the one kernel in torch that goes through memory once for all of it, and its largest
    weight is 1 / Σ exp(x - max x).
    """
    logits.clamp_(min=torch.finfo(logits.dtype).min)  # a block may hold tokens at -inf only
    torch.softmax(logits, -1, out=weights)
    return logits.amax(-1) - weights.amax(-1).log()


def _entropy(logits: Tensor, weights: Tensor, normaliser: Tensor) -> Tensor:
    """-Σ weight·ln weight, overwriting both."""
    return -weights.mul_(logits.sub_(normaliser[:, None])).sum(-1)


def _joined(parts: list[TokenValues]) -> TokenValues:
    def column(values: list[Tensor | None]) -> Tensor | None:
        kept = [value for value in values if value is not None]
        return torch.cat(kept) if kept else None

    return TokenValues(
        torch.cat([part.logprobs for part in parts]),
        column([part.entropy for part in parts]),
        column([part.smallest for part in parts]),
        column([part.largest for part in parts]),
    )
