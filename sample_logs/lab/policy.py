"""The policy: a Llama of two small layers, written for few and short operations.

All parameters are views of one flat tensor, so that an optimiser step, a copy for the rollout
engine and a gradient norm are one operation each.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from sample_logs.lab.task import VOCABULARY

EPS = 1e-6
ROPE_BASE = 10_000.0
MOST_POSITIONS = 128


@dataclass(frozen=True)
class Shape:
    """The measures of a policy."""

    hidden: int
    intermediate: int
    heads: int
    layers: int = 2
    vocabulary: int = len(VOCABULARY)

    @property
    def head_size(self) -> int:
        """Channels of a head."""
        return self.hidden // self.heads

    def parts(self) -> list[tuple[int, ...]]:
        """The shapes of the parameters in the order of the flat tensor."""
        d, i = self.hidden, self.intermediate
        layer: list[tuple[int, ...]] = [(d,), (3 * d, d), (d, d), (d,), (2 * i, d), (d, i)]
        return [(self.vocabulary, d), *layer * self.layers, (d,), (self.vocabulary, d)]

    @property
    def parameters(self) -> int:
        """How many numbers the policy has."""
        return sum(math.prod(part) for part in self.parts())


SIZES = {
    "tiny": Shape(hidden=32, intermediate=64, heads=2),
    "small": Shape(hidden=48, intermediate=96, heads=3),
    "large": Shape(hidden=64, intermediate=160, heads=4),
}


@dataclass(frozen=True)
class Layer:
    """The parameters of a layer; query, key and value are one matrix, gate and up another."""

    norm: Tensor
    qkv: Tensor
    out: Tensor
    norm_mlp: Tensor
    gate_up: Tensor
    down: Tensor


@dataclass(frozen=True)
class Weights:
    """Views of a flat tensor."""

    embedding: Tensor
    layers: tuple[Layer, ...]
    norm: Tensor
    head: Tensor


def weights(flat: Tensor, shape: Shape) -> Weights:
    """The parameters in a flat tensor; gradients flow back into it."""
    parts = shape.parts()
    pieces = torch.split(flat, [math.prod(part) for part in parts])
    views = [piece.view(part) for piece, part in zip(pieces, parts, strict=True)]
    layers = tuple(Layer(*views[1 + 6 * n : 7 + 6 * n]) for n in range(shape.layers))
    return Weights(views[0], layers, views[-2], views[-1])


def initial(shape: Shape, generator: torch.Generator) -> Tensor:
    """Random parameters: norms 1, matrices normal with standard deviation 1/√inputs."""
    pieces = [
        torch.ones(part)
        if len(part) == 1
        else torch.randn(part, generator=generator) / math.sqrt(part[1])
        for part in shape.parts()
    ]
    return torch.cat([piece.reshape(-1) for piece in pieces])


@dataclass(frozen=True)
class Rotation:
    """Cosines and sines of rotary positions, [positions, 1, 1, head_size].

    The sines of the first half bear the minus sign of a rotation.
    """

    cos: Tensor
    sin: Tensor

    def at(self, positions: Tensor) -> Rotation:
        """Those of [rows, tokens] positions."""
        return Rotation(self.cos[positions], self.sin[positions])

    def first(self, tokens: int) -> Rotation:
        """Those of rows that begin at position 0."""
        return Rotation(self.cos[:tokens], self.sin[:tokens])

    def apply(self, x: Tensor) -> Tensor:
        """Turn [rows, tokens, 2, heads, head_size]."""
        low, high = x.chunk(2, -1)
        return x * self.cos + torch.cat([high, low], -1) * self.sin


def rotation(shape: Shape) -> Rotation:
    """The rotary embedding of Su et al. (2021), halves rotated against each other as in Llama."""
    size = shape.head_size
    frequency = ROPE_BASE ** (-torch.arange(0, size, 2, dtype=torch.float32) / size)
    angle = torch.arange(MOST_POSITIONS, dtype=torch.float32)[:, None] * frequency
    cos, sin = angle.cos(), angle.sin()
    cos, sin = torch.cat([cos, cos], -1), torch.cat([-sin, sin], -1)
    return Rotation(cos[:, None, None], sin[:, None, None])


@dataclass(frozen=True)
class Cache:
    """Keys and values of the tokens so far, [layers, rows, heads, …]."""

    keys: Tensor
    """[…, head_size, tokens]"""
    values: Tensor
    """[…, tokens, head_size]"""
    mask: Tensor
    """[rows, 1, 1, tokens]: 0 where a token may be seen, -inf at the padding on the left."""


def logits(
    w: Weights, shape: Shape, tokens: Tensor, turn: Rotation, dropout: float = 0.0
) -> Tensor:
    """[rows, tokens, vocabulary] of rows that are padded on the right alone."""
    x = functional.embedding(tokens, w.embedding)
    rows, width = tokens.shape
    for layer in w.layers:
        h = functional.rms_norm(x, (shape.hidden,), layer.norm, EPS)
        qkv = functional.linear(h, layer.qkv).view(rows, width, 3, shape.heads, shape.head_size)
        qk = turn.apply(qkv[:, :, :2])
        q, k, v = (part.transpose(1, 2) for part in (qk[:, :, 0], qk[:, :, 1], qkv[:, :, 2]))
        seen = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        seen = functional.linear(seen.transpose(1, 2).reshape(x.shape), layer.out)
        x = x + functional.dropout(seen, dropout, training=dropout > 0)
        h = functional.rms_norm(x, (shape.hidden,), layer.norm_mlp, EPS)
        gate, up = functional.linear(h, layer.gate_up).chunk(2, -1)
        found = functional.linear(functional.silu(gate) * up, layer.down)
        x = x + functional.dropout(found, dropout, training=dropout > 0)
    return functional.linear(functional.rms_norm(x, (shape.hidden,), w.norm, EPS), w.head)


def extend(
    w: Weights, shape: Shape, tokens: Tensor, turn: Rotation, cache: Cache, start: int
) -> Tensor:
    """[rows, vocabulary] after the last of these tokens, which stand at column `start` on.

    Their keys and values are added to the cache.
    """
    rows, width = tokens.shape
    stop = start + width
    mask = cache.mask[..., :stop]
    if width > 1:
        later = torch.full((width, stop), -torch.inf).triu(start + 1)
        mask = (mask + later).clamp(min=torch.finfo(torch.float32).min)
    x = functional.embedding(tokens, w.embedding)
    for number, layer in enumerate(w.layers):
        h = functional.linear(_scaled(x) * layer.norm, layer.qkv)
        qkv = h.view(rows, width, 3, shape.heads, shape.head_size)
        qk = turn.apply(qkv[:, :, :2])
        keys, values = cache.keys[number], cache.values[number]
        keys[..., start:stop] = qk[:, :, 1].permute(0, 2, 3, 1)
        values[:, :, start:stop] = qkv[:, :, 2].transpose(1, 2)
        scores = qk[:, :, 0].transpose(1, 2) @ keys[..., :stop]
        share = (scores.mul_(shape.head_size**-0.5).add_(mask)).softmax(-1)
        seen = share @ values[:, :, :stop]
        x = x + functional.linear(seen.transpose(1, 2).reshape(x.shape), layer.out)
        h = functional.linear(_scaled(x) * layer.norm_mlp, layer.gate_up)
        gate, up = h.chunk(2, -1)
        x = x + functional.linear(functional.silu(gate).mul_(up), layer.down)
    return functional.linear(_scaled(x[:, -1]) * w.norm, w.head)


def _scaled(x: Tensor) -> Tensor:
    """By the root of its mean square."""
    return x * (x * x).mean(-1, keepdim=True).add_(EPS).rsqrt_()


def log_probs(scores: Tensor, labels: Tensor, temperature: float) -> tuple[Tensor, Tensor]:
    """Log-probability of each label and entropy, as AReaL: logits over T, then log-softmax."""
    logp = functional.log_softmax(scores / temperature if temperature != 1 else scores, -1)
    chosen = logp.gather(-1, labels[..., None])[..., 0]
    return chosen, -(logp.exp() * logp).sum(-1)
