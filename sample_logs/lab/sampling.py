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
    seed_rows: int = 1
    """Rows that draw the same random numbers, as with one seed for all responses of a prompt."""


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
    engine = _Engine(problems, shape, how)
    tokens = torch.zeros(rows, how.max_new_tokens, dtype=torch.long)
    logprobs = torch.zeros(rows, how.max_new_tokens)
    versions = torch.zeros(how.max_new_tokens, dtype=torch.long)
    lengths = torch.full((rows,), how.max_new_tokens)
    queue = list(served)
    used = 0
    for number in range(how.max_new_tokens):
        if queue and number >= queue[0].from_token:
            now = queue.pop(0)
            engine.serve(now.flat)
        points = torch.rand(rows // how.seed_rows, 1, generator=generator)
        points = points.repeat_interleave(how.seed_rows, 0)
        live, chosen, logp = engine.next(width + number, points)
        tokens[live, number], logprobs[live, number] = chosen, logp
        versions[number], used = now.version, number + 1
        ended = chosen == task.EOS
        lengths[live[ended]] = used
        if not engine.drop(ended):
            break
    versions = versions[:used].expand(rows, -1)
    return Responses(tokens[:, :used], logprobs[:, :used], lengths, versions)


class _Engine:
    """The rows that still go on, with what is cached of them."""

    def __init__(self, problems: task.Problems, shape: Shape, how: Sampling) -> None:
        self.shape, self.how = shape, how
        rows, width = problems.prompts.shape
        total = width + how.max_new_tokens
        left = (width - problems.prompt_lengths)[:, None]
        columns = torch.arange(total)
        turn = policy.rotation(shape).at((columns - left).clamp(min=0))
        self.turn = policy.Rotation(turn.cos[:, :, 0], turn.sin[:, :, 0])
        lowest = torch.finfo(torch.float32).min
        mask = torch.where(columns < left, lowest, 0.0)[:, None, None]
        values = torch.zeros(shape.layers, rows, shape.heads, total, shape.head_size)
        self.cache = policy.Cache(values.transpose(-1, -2).contiguous(), values, mask)
        self.tokens = torch.zeros(rows, total, dtype=torch.long)
        self.tokens[:, :width] = problems.prompts
        self.live = torch.arange(rows)
        self.running = torch.ones(rows, dtype=torch.bool)
        self.seen = 0

    def serve(self, flat: Tensor) -> None:
        """Go on with these weights, with nothing cached."""
        self.weights, self.seen = policy.weights(_held(flat, self.how.dtype), self.shape), 0

    def next(self, stop: int, points: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Running rows, the token that comes at column `stop` of each, and its log-prob."""
        part = slice(self.seen, stop)
        turn = policy.Rotation(self.turn.cos[:, part, None], self.turn.sin[:, part, None])
        tokens = self.tokens[:, part]
        scores = policy.extend(self.weights, self.shape, tokens, turn, self.cache, self.seen)
        self.seen = stop
        chosen, logp = _choose(scores, self.how, points[self.live])
        self.tokens[:, stop] = chosen
        running = self.running
        return self.live[running], chosen[running], logp[running]

    def drop(self, ended: Tensor) -> bool:
        """Leave out the running rows that have ended; whether any goes on."""
        self.running[self.running.nonzero()[ended, 0]] = False
        count = int(self.running.sum())
        if 0 < count <= 0.6 * len(self.live):
            kept = self.running.nonzero()[:, 0]
            c, t = self.cache, self.turn
            self.cache = policy.Cache(c.keys[:, kept], c.values[:, kept], c.mask[kept])
            self.turn = policy.Rotation(t.cos[kept], t.sin[kept])
            self.tokens, self.live = self.tokens[kept], self.live[kept]
            self.running = self.running[kept]
        return count > 0


def _held(flat: Tensor, dtype: str) -> Tensor:
    """The weights as the engine holds them."""
    if dtype == "float32":
        return flat
    kept: torch.dtype = getattr(torch, dtype)
    return flat.to(kept).to(torch.float32)


def _choose(scores: Tensor, how: Sampling, points: Tensor) -> tuple[Tensor, Tensor]:
    """A token a row, and its log-probability in the distribution it was drawn from.

    `points` are uniform between 0 and 1, one a row.
    """
    if how.temperature != 1:
        scores = scores / how.temperature
    logp = functional.log_softmax(scores, -1)
    if how.top_p < 1:
        logp = functional.log_softmax(nucleus(logp, how.top_p), -1)
    mass = logp.exp().cumsum(-1)
    chosen = (mass <= points * mass[:, -1:]).sum(-1).clamp(max=mass.shape[1] - 1)
    return chosen, logp.gather(1, chosen[:, None])[:, 0]


def nucleus(logp: Tensor, top_p: float) -> Tensor:
    """Log-probs with -inf outside the smallest set that has `top_p` (Holtzman et al., 2020)."""
    ordered, order = logp.sort(-1, descending=True)
    mass = ordered.exp()
    outside = mass.cumsum(-1) - mass >= top_p
    return logp.masked_fill(outside.gather(1, order.argsort(-1)), -torch.inf)
