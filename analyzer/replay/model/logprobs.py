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
# Sorting a row takes its values once more and their places in int64, beside logits and weights.
_SORTING = 3


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
    """Log-probs of `labels` [n] after hidden states [n,H], without gradient.

    Memory beside the arguments and results: two blocks of `chunk_of` logits in float32.
    """
    chunk = chunk_of(settings, hidden.device)
    if settings.truncated:
        rows, columns = max(1, chunk // (_SORTING * head.vocabulary)), head.vocabulary
    else:
        rows = max(1, min(chunk, _POSITIONS.get(hidden.device.type, _POSITIONS_ELSEWHERE)))
        rows = min(rows, len(labels))
        columns = min(head.vocabulary, max(1, chunk // max(1, rows)))
    with torch.no_grad():
        buffers = _Buffers.of(head, hidden, rows, columns)
        block = _truncated if settings.truncated else _whole
        found = [
            block(head, hidden[at : at + rows], labels[at : at + rows], settings, buffers)
            for at in range(0, len(labels), rows)
        ]
        return _joined(found, buffers.logits)


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
    width = len(buffers.logits) // max(1, len(hidden))
    sums, means, low, high = [], [], [], []
    label = torch.zeros(len(hidden), dtype=buffers.logits.dtype, device=hidden.device)
    for start in range(0, head.vocabulary, width):
        columns = slice(start, min(start + width, head.vocabulary))
        logits, weights = buffers.fill(head, hidden, columns)
        if settings.extremes:
            low.append(logits.amin(-1))
            high.append(logits.amax(-1))
        if settings.temperature != 1:
            logits.div_(settings.temperature)
        label = torch.where(
            (labels >= start) & (labels < columns.stop), _at(logits, labels - start), label
        )
        # The one fused kernel for it in torch: its largest weight is 1 / Σ exp(x - max x).
        torch.softmax(logits, -1, out=weights)
        sums.append(logits.amax(-1) - weights.amax(-1).log())
        if settings.entropy:
            means.append(_mean(logits, weights))
    total = torch.stack(sums, -1)
    normaliser = torch.logsumexp(total, -1)
    entropy = None
    if settings.entropy:
        share = torch.exp(total - normaliser[:, None])
        entropy = normaliser - (share * torch.stack(means, -1)).sum(-1)
    return TokenValues(
        label - normaliser,
        entropy,
        torch.stack(low, -1).amin(-1) if low else None,
        torch.stack(high, -1).amax(-1) if high else None,
    )


def _truncated(
    head: Head, hidden: Tensor, labels: Tensor, settings: Settings, buffers: _Buffers
) -> TokenValues:
    """Values over what top-k, then top-p leave; tokens as likely as the last one stay."""
    logits, weights = buffers.fill(head, hidden, slice(0, head.vocabulary))
    low, high = (logits.amin(-1), logits.amax(-1)) if settings.extremes else (None, None)
    logits.div_(settings.temperature)
    ordered = torch.sort(logits, -1, descending=True).values
    last = torch.full_like(ordered[:, :1], -torch.inf)
    if 0 < settings.top_k < head.vocabulary:
        last = ordered[:, settings.top_k - 1 : settings.top_k].clone()
        ordered.masked_fill_(ordered < last, -torch.inf)
    if settings.top_p < 1:
        torch.softmax(ordered, -1, out=weights)
        reached = weights.cumsum_(-1)  # the sum up to and with each token
        kept = (reached < settings.top_p).sum(-1, keepdim=True).clamp_(max=head.vocabulary - 1)
        last = torch.maximum(last, ordered.gather(-1, kept))
    label = _at(logits, labels)
    logits.masked_fill_(logits < last, -torch.inf)
    normaliser = torch.logsumexp(logits, -1)
    entropy = None
    if settings.entropy:
        torch.softmax(logits, -1, out=weights)
        entropy = normaliser - _mean(logits, weights)
    inside = label >= last[:, 0]
    return TokenValues(torch.where(inside, label - normaliser, -torch.inf), entropy, low, high)


def _at(logits: Tensor, labels: Tensor) -> Tensor:
    """The label's logit where it lies in this block; anything elsewhere."""
    return logits.gather(-1, labels.clamp(0, logits.shape[-1] - 1)[:, None])[:, 0]


def _mean(logits: Tensor, weights: Tensor) -> Tensor:
    """Σ weight·logit, overwriting both; a token of weight 0 counts as 0 even at -inf."""
    return weights.mul_(logits.clamp_(min=torch.finfo(logits.dtype).min)).sum(-1)


def _joined(parts: list[TokenValues], like: Tensor) -> TokenValues:
    if not parts:
        nothing = like.new_empty(0)
        return TokenValues(nothing, None, None, None)

    def column(values: list[Tensor | None]) -> Tensor | None:
        kept = [value for value in values if value is not None]
        return torch.cat(kept) if kept else None

    return TokenValues(
        torch.cat([part.logprobs for part in parts]),
        column([part.entropy for part in parts]),
        column([part.smallest for part in parts]),
        column([part.largest for part in parts]),
    )
