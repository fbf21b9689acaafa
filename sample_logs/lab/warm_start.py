"""Supervised warm starts: policies that know the form and the way, and are often wrong.

    python -m sample_logs.lab.warm_start          makes all of them again, a few minutes each

A demonstration has some free words, then the answer, of which each letter is wrong with a
probability that depends on the operation and, for `thinking`, falls with every free word. The
policy learns the mistakes with the rest; reinforcement learning then has something to find.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from sample_logs.lab import checkpoints, policy, task
from sample_logs.lab.optimiser import LR_UNIT, Optimiser

FOLDER = Path(__file__).parent / "warm"
BATCH = 256


@dataclass(frozen=True)
class Recipe:
    """How demonstrations are made, and for how long a policy is shown them."""

    size: str
    mistakes: tuple[float, float, float] = (0.10, 0.16, 0.20)
    """Probability that a letter is wrong, for copy, reverse and sort."""
    thinking: float = 1.0
    """Factor on that probability for each free word."""
    words: tuple[float, int] = (0.25, 9)
    """Probability that the free words end after each of them, and the most of them."""
    unformed: float = 0.06
    """Share of demonstrations without the sign `>`."""
    letters: tuple[int, int] = (2, 8)
    steps: int = 2000
    lr: float = 4e-3
    seed: int = 1


RECIPES = {
    "tiny": Recipe("tiny"),
    "small": Recipe("small"),
    "large": Recipe("large"),
    "thinking": Recipe("tiny", mistakes=(0.45, 0.55, 0.6), thinking=0.72, words=(0.3, 12)),
}


def demonstrations(recipe: Recipe, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Rows [n, tokens] of prompt and response padded on the right, and the response's mask."""
    problems = task.draw(generator, BATCH, recipe.letters, task.TAUGHT)
    stop, most = recipe.words
    free = torch.empty(BATCH, 1).geometric_(stop, generator=generator)[:, 0].long().clamp(1, most)
    operation = problems.prompts[
        torch.arange(BATCH), task.PROMPT_WIDTH - problems.prompt_lengths + 1
    ]
    wrong = torch.tensor(recipe.mistakes)[operation - task.FIRST_OPERATION]
    wrong = wrong * recipe.thinking ** (free - 1)
    answers = problems.answers.clone()
    letters = answers >= task.FIRST_LETTER
    mistaken = (torch.rand(answers.shape, generator=generator) < wrong[:, None]) & letters
    other = torch.randint(0, len(task.LETTERS), answers.shape, generator=generator)
    answers = torch.where(mistaken, other + task.FIRST_LETTER, answers)
    formed = torch.rand(BATCH, generator=generator) >= recipe.unformed
    words = torch.randint(0, len(task.WORDS), (BATCH, most), generator=generator)
    before, sign = problems.prompt_lengths[:, None], formed.long()[:, None]
    after = before + free[:, None]
    lengths = after + sign + problems.answer_lengths[:, None]
    columns = torch.arange(int(lengths.max())).expand(BATCH, -1)
    tokens = _at(answers, columns - after - sign)
    tokens = torch.where((columns == after) & (sign > 0), task.ANSWER, tokens)
    tokens = torch.where(columns < after, _at(words, columns - before) + task.FIRST_WORD, tokens)
    prompt = _at(problems.prompts, columns + task.PROMPT_WIDTH - before)
    tokens = torch.where(columns < before, prompt, tokens)
    response = (columns >= before) & (columns < lengths)
    return torch.where(columns < lengths, tokens, task.PAD), response


def _at(table: Tensor, places: Tensor) -> Tensor:
    return table.gather(1, places.clamp(0, table.shape[1] - 1))


def train(recipe: Recipe, steps: int | None = None) -> Tensor:
    """The flat tensor of a policy after supervised training."""
    steps = recipe.steps if steps is None else steps
    generator = torch.Generator().manual_seed(recipe.seed)
    shape = policy.SIZES[recipe.size]
    flat = policy.initial(shape, generator).requires_grad_()
    optimiser = Optimiser(flat, clip=1.0, weight_decay=0.01)
    turn = policy.rotation(shape)
    for step in range(steps):
        tokens, response = demonstrations(recipe, generator)
        w = policy.weights(flat, shape)
        scores = policy.logits(w, shape, tokens[:, :-1], turn.first(tokens.shape[1] - 1))
        logp, _ = policy.log_probs(scores, tokens[:, 1:], 1.0)
        loss = -logp[response[:, 1:]].mean()
        lr = recipe.lr * min(1.0, (step + 1) / 100) * (1 - step / steps)
        optimiser.step(loss, lr / LR_UNIT, None)
        if step % 250 == 0:
            print(recipe.size, step, f"{float(loss.detach()):.4f}", file=sys.stderr, flush=True)
    return flat.detach()


def load(name: str) -> Tensor:
    """The flat tensor of a warm start by its name."""
    return checkpoints.load(FOLDER / name)[1]


def main(names: list[str]) -> None:
    """Make the warm starts of these names, or all."""
    torch.set_num_threads(1)
    for name in names or list(RECIPES):
        recipe = RECIPES[name]
        checkpoints.save(FOLDER / name, policy.SIZES[recipe.size], train(recipe))
        print(FOLDER / name)


if __name__ == "__main__":
    main(sys.argv[1:])
