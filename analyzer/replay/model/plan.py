"""What recomputing will take: known before it starts, and better after the first micro-batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

from analyzer.replay.model.checkpoint import Checkpoint
from analyzer.replay.model.logprobs import chunk_of
from analyzer.replay.model.rows import MicroBatch
from analyzer.replay.model.settings import Settings

_TOKENS = {"cpu": 4096}
_TOKENS_ELSEWHERE = 16384
_BESIDE = 128  # bytes a token: ids, labels, masks, and the values that are kept of each


@dataclass(frozen=True, slots=True)
class Plan:
    """The work, and an estimate of the memory it needs at its highest, in bytes."""

    micro_batches: int
    tokens: int
    """That go through the model, padding included."""
    wanted: int
    """Whose log-probs are asked for."""
    weights_bytes: int
    activation_bytes: int
    """Estimated, of the largest micro-batch."""
    logits_bytes: int
    """Two chunks: the most that logits take."""

    @property
    def peak_bytes(self) -> int:
        """Weights, activations of one micro-batch and two chunks of logits."""
        return self.weights_bytes + self.activation_bytes + self.logits_bytes


@dataclass(frozen=True, slots=True)
class Progress:
    """How far it is, after each micro-batch."""

    done: int
    plan: Plan
    tokens: int
    """Done so far, padding included."""
    seconds_left: float | None
    """From the micro-batches computed so far; None while all came from the cache."""


Watch = Callable[[Progress], None]


def tokens_of(settings: Settings, device: torch.device) -> int:
    """The token budget of a micro-batch."""
    return settings.tokens or _TOKENS.get(device.type, _TOKENS_ELSEWHERE)


def make_plan(parts: Sequence[MicroBatch], checkpoint: Checkpoint, settings: Settings) -> Plan:
    """What these micro-batches will take."""
    weight = checkpoint.head.weight
    exact = max(4, weight.element_size())
    return Plan(
        len(parts),
        sum(part.ids.numel() for part in parts),
        sum(len(part.labels) for part in parts),
        checkpoint.bytes,
        max((_activations(part, checkpoint) for part in parts), default=0),
        2 * exact * chunk_of(settings, weight.device),
    )


def _activations(part: MicroBatch, checkpoint: Checkpoint) -> int:
    """Without gradient one layer's activations are alive at a time: some of the hidden size, those
    of the feed-forward part, and with eager attention a score for each pair of positions."""
    config = checkpoint.model.config.get_text_config()
    rows, width = part.ids.shape
    hidden = int(checkpoint.head.weight.shape[1])
    inner = int(getattr(config, "intermediate_size", None) or 4 * hidden)
    size = checkpoint.head.weight.element_size()
    found = rows * width * ((8 * hidden + 3 * inner) * size + _BESIDE)
    if getattr(config, "_attn_implementation", None) == "eager":
        heads = int(getattr(config, "num_attention_heads", 1))
        found += 2 * rows * heads * width * width * max(4, size)
    return int(found)
