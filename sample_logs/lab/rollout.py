"""Rollouts of a step: which versions sample them, what they earn, which groups are kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

import torch
from torch import Tensor

from sample_logs.lab import sampling, task
from sample_logs.lab.policy import Shape
from sample_logs.lab.sampling import Responses, Served
from sample_logs.lab.settings import Reward, Settings


@dataclass(frozen=True)
class Scored:
    """Responses and what they earn."""

    problems: task.Problems
    responses: Responses
    rewards: Tensor
    right: Tensor
    form: Tensor
    """What is earned for the form alone."""
    timed_out: Tensor


@dataclass(frozen=True)
class Rollout:
    """What a training step gets."""

    batch: dict[str, Tensor]
    """AReaL's batch, [rows, tokens] padded on the right."""
    kept: Scored
    sampled: tuple[Scored, ...]
    """All that was sampled for it, rejected groups too."""


def served(
    settings: Settings, step: int, first: int, history: Mapping[int, Tensor], seed: int
) -> list[Served]:
    """The weights the engine samples with; `first` is the step at which the process started.

    Rollouts of a fresh process are of the version it started with, however far it may fall behind.
    """
    lag = settings.asynchrony.lag
    if first and settings.asynchrony.lag_after_restart is not None:
        lag = settings.asynchrony.lag_after_restart
    version = max(min(first, step), step - lag)
    weights = [Served(version, history[version])]
    if settings.asynchrony.interrupts and version < step:
        at = 2 + seed % max(settings.sampling.max_new_tokens // 2, 1)
        weights.append(Served(version + 1, history[version + 1], at))
    return weights


def score(
    problems: task.Problems, responses: Responses, reward: Reward, generator: torch.Generator
) -> Scored:
    """What the verifier says of responses."""
    marks = task.marks(problems, responses.tokens, responses.lengths)
    form = reward.formed * marks.formed.float() + reward.ordered * marks.ordered.float()
    earned = reward.right * marks.right.float() + form
    earned = earned + reward.each_token * responses.lengths.float()
    if reward.begun:
        earned = torch.where(marks.begun & ~marks.right, reward.begun, earned)
    late = torch.zeros_like(marks.right)
    if reward.timeouts:
        late = torch.rand(len(earned), generator=generator) < reward.timeouts
        earned = torch.where(late, 0.0, earned)
    return Scored(problems, responses, earned, marks.right, form, late)


def collect(
    settings: Settings, weights: list[Served], shape: Shape, generator: torch.Generator
) -> Rollout:
    """Sample a batch; with a filter, until enough groups have something to learn from."""
    data = settings.data
    sampled: list[Scored] = []
    kept: list[Scored] = []
    groups = 0
    for _ in range(settings.filter.rounds if settings.filter else 1):
        problems = task.draw(generator, data.prompts, data.letters, data.operations)
        problems = problems.repeated(data.group_size)
        responses = sampling.sample(problems, weights, shape, settings.sampling, generator)
        scored = score(problems, responses, settings.reward, generator)
        sampled.append(scored)
        chosen = scored if settings.filter is None else _with_signal(scored, data.group_size)
        kept.append(chosen)
        groups += len(chosen.rewards) // data.group_size
        if groups >= data.prompts:
            break
    whole = joined(kept)
    if not len(whole.rewards):
        whole = sampled[-1]
    whole = _rows(whole, torch.arange(min(len(whole.rewards), settings.rows)))
    return Rollout(batch_of(whole, data.prompt_trained), whole, tuple(sampled))


def _with_signal(scored: Scored, group_size: int) -> Scored:
    rewards = scored.rewards.view(-1, group_size)
    differs = rewards.amax(1) > rewards.amin(1)
    return _rows(scored, torch.nonzero(differs.repeat_interleave(group_size))[:, 0])


def _rows(scored: Scored, rows: Tensor) -> Scored:
    r = scored.responses
    return Scored(
        scored.problems.of(rows),
        Responses(r.tokens[rows], r.logprobs[rows], r.lengths[rows], r.versions[rows]),
        *(t[rows] for t in (scored.rewards, scored.right, scored.form, scored.timed_out)),
    )


def joined(parts: list[Scored]) -> Scored:
    """Rows of several rollouts together."""
    if len(parts) == 1:
        return parts[0]
    width = max(part.responses.tokens.shape[1] for part in parts)

    def rows(tensors: list[Tensor]) -> Tensor:
        if tensors[0].dim() < 2:
            return torch.cat(tensors)
        wide = max(t.shape[1] for t in tensors)
        return torch.cat([torch.nn.functional.pad(t, (0, wide - t.shape[1])) for t in tensors])

    responses = Responses(
        *(rows([getattr(p.responses, f.name) for p in parts]) for f in fields(Responses))
    )
    assert responses.tokens.shape[1] == width
    problems = task.Problems(
        *(rows([getattr(p.problems, f.name) for p in parts]) for f in fields(task.Problems))
    )
    return Scored(
        problems,
        responses,
        torch.cat([p.rewards for p in parts]),
        torch.cat([p.right for p in parts]),
        torch.cat([p.form for p in parts]),
        torch.cat([p.timed_out for p in parts]),
    )


def batch_of(scored: Scored, prompt_trained: int = 0) -> dict[str, Tensor]:
    """The training batch: prompt and response of each row from column 0 on, padded on the right.

    So many tokens before the response are in the loss mask as well, but never the first of a row,
    which nothing predicts.
    """
    problems, responses = scored.problems, scored.responses
    before = problems.prompt_lengths[:, None]
    lengths = before + responses.lengths[:, None]
    columns = torch.arange(int(lengths.max()))
    inside = columns < lengths
    generated = inside & (columns >= before)
    trained = inside & (columns >= (before - prompt_trained).clamp(min=1))
    whole = torch.cat([problems.prompts, responses.tokens], 1)
    place = columns + task.PROMPT_WIDTH - before
    place = place.clamp(max=whole.shape[1] - 1)
    at = (columns - before).clamp(0, responses.tokens.shape[1] - 1)
    return {
        "input_ids": torch.where(inside, whole.gather(1, place), task.PAD).to(torch.int32),
        "attention_mask": inside,
        "loss_mask": trained.to(torch.int32),
        "logprobs": torch.where(generated, responses.logprobs.gather(1, at), 0.0),
        "versions": torch.where(
            generated, responses.versions.gather(1, at), torch.where(inside, -1, 0)
        ).to(torch.int32),
        "rewards": scored.rewards,
    }


def evaluate(
    settings: Settings, flat: Tensor, shape: Shape, step: int, problems: task.Problems
) -> float:
    """The share of held-out problems that the policy solves, one response each."""
    generator = torch.Generator().manual_seed(settings.seed * 7919 + step)
    weights = [Served(step, flat)]
    responses = sampling.sample(problems, weights, shape, settings.sampling, generator)
    marks = task.marks(problems, responses.tokens, responses.lengths)
    return float(marks.right.float().mean())
