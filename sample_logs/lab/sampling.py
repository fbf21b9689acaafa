"""The rollout engine: batched sampling with a key-value cache."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from sample_logs.lab import policy, task
from sample_logs.lab.policy import Shape


@dataclass(frozen=True)
class Sampling:
    """How responses are sampled."""

    temperature: float = 1.0
    top_p: float = 1.0
    max_new_tokens: int = 28
    dtype: str = "float32"
    """In which the engine holds its weights, a name of torch's; `float8_e4m3fn` …"""


@dataclass(frozen=True)
class Served:
    """The weights that the engine serves from a token of the responses on."""

    version: int
    flat: Tensor
    from_token: int = 0


@dataclass(frozen=True)
class Responses:
    """Sampled responses [rows, tokens], padded on the right."""

    tokens: Tensor
    logprobs: Tensor
    """As the engine reports them: of what it sampled from, after temperature and top_p."""
    lengths: Tensor
    versions: Tensor
    """[rows, tokens]: the version that each token was sampled with."""


@torch.inference_mode()
def sample(
    problems: task.Problems,
    served: Sequence[Served],
    shape: Shape,
    how: Sampling,
    generator: torch.Generator,
) -> Responses:
    """One response a row.

    With several weights, generation is interrupted and goes on with the next; the cache is then
    computed anew with them, as AReaL's engines do.
    """
    rows, width = problems.prompts.shape
    total = width + how.max_new_tokens
    turn = policy.rotation(shape)
    left = width - problems.prompt_lengths
    columns = torch.arange(total)
    turn = turn.at((columns - left[:, None]).clamp(min=0))
    turn = policy.Rotation(turn.cos[:, :, 0], turn.sin[:, :, 0])
    lowest = torch.finfo(torch.float32).min
    mask = torch.where(columns < left[:, None], lowest, 0.0)[:, None, None]
    values = torch.zeros(shape.layers, rows, shape.heads, total, shape.head_size)
    cache = policy.Cache(values.transpose(-1, -2).contiguous(), values, mask)
    tokens = torch.zeros(rows, total, dtype=torch.long)
    tokens[:, :width] = problems.prompts
    logprobs = torch.zeros(rows, how.max_new_tokens)
    versions = torch.zeros(how.max_new_tokens, dtype=torch.long)
    lengths = torch.full((rows,), how.max_new_tokens)
    running = torch.ones(rows, dtype=torch.bool)
    queue = list(served)
    now, w, seen = queue[0], policy.weights(_held(queue[0].flat, how.dtype), shape), 0
    used = 0
    for number in range(how.max_new_tokens):
        if len(queue) > 1 and number >= queue[1].from_token:
            queue.pop(0)
            now, seen = queue[0], 0
            w = policy.weights(_held(now.flat, how.dtype), shape)
        stop = width + number
        here = policy.Rotation(turn.cos[:, seen:stop, None], turn.sin[:, seen:stop, None])
        scores = policy.extend(w, shape, tokens[:, seen:stop], here, cache, seen)
        seen, used = stop, number + 1
        chosen, logp = _choose(scores, how, generator)
        tokens[:, stop] = torch.where(running, chosen, task.PAD)
        logprobs[:, number] = torch.where(running, logp, 0.0)
        versions[number] = now.version
        ended = running & (chosen == task.EOS)
        lengths[ended] = number + 1
        running &= ~ended
        if not bool(running.any()):
            break
    versions = versions[:used].expand(rows, -1)
    return Responses(tokens[:, width : width + used], logprobs[:, :used], lengths, versions)


def _held(flat: Tensor, dtype: str) -> Tensor:
    """The weights as the engine holds them."""
    if dtype == "float32":
        return flat
    kept: torch.dtype = getattr(torch, dtype)
    return flat.to(kept).to(torch.float32)


def _choose(scores: Tensor, how: Sampling, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """A token a row, and its log-probability in the distribution it was drawn from."""
    if how.temperature != 1:
        scores = scores / how.temperature
    logp = functional.log_softmax(scores, -1)
    if how.top_p < 1:
        logp = functional.log_softmax(nucleus(logp, how.top_p), -1)
    mass = logp.exp().cumsum(-1)
    point = torch.rand(len(logp), 1, generator=generator) * mass[:, -1:]
    chosen = (mass <= point).sum(-1)
    return chosen, logp.gather(1, chosen[:, None])[:, 0]


def nucleus(logp: Tensor, top_p: float) -> Tensor:
    """Log-probs with -inf outside the smallest set that has `top_p` (Holtzman et al., 2020)."""
    ordered, order = logp.sort(-1, descending=True)
    mass = ordered.exp()
    outside = mass.cumsum(-1) - mass >= top_p
    return logp.masked_fill(outside.gather(1, order.argsort(-1)), -torch.inf)
