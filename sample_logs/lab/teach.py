"""Supervised training of the warm starts.

    python -m sample_logs.lab.teach [NAME ...]          some minutes each

A demonstration has some free words, then the answer, of which each letter is wrong with a
probability that depends on the operation and, for `thinking`, falls with every free word. The
policy learns the mistakes with the rest; reinforcement learning then has something to find.
"""

from __future__ import annotations

import sys

import torch
from torch import Tensor

from sample_logs.lab import checkpoints, policy, task
from sample_logs.lab.optimiser import LR_UNIT, Optimiser
from sample_logs.lab.warm_start import FOLDER, RECIPES, Recipe, load

BATCH = 256


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
    flat = policy.initial(shape, generator) if recipe.start is None else load(recipe.start)
    flat.requires_grad_()
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


def main(names: list[str]) -> None:
    """Make the warm starts of these names, or all."""
    torch.set_num_threads(1)
    for name in names or list(RECIPES):
        recipe = RECIPES[name]
        checkpoints.save(FOLDER / name, policy.SIZES[recipe.size], train(recipe))
        print(FOLDER / name)


if __name__ == "__main__":
    main(sys.argv[1:])
