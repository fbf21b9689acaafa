"""The task: copy, reverse or sort a few letters, after as many free words as the policy likes.

    <bos> sort d a c =   so then well > a c d <eos>

The words before `>` say nothing and may be any: they are where the policy stays free, so that
entropy and length are real. The answer behind the last `>` is right or wrong as a whole.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

OPERATIONS = ("copy", "reverse", "sort", "shift")
TAUGHT = OPERATIONS[:3]
"""`shift`, the letter after each, is in no demonstration: no policy here can do it."""
LETTERS = "abcdefghij"
WORDS = ("so", "then", "well", "hence")
VOCABULARY = ("<pad>", "<eos>", "<bos>", "=", ">", *OPERATIONS, *LETTERS, *WORDS)
PAD, EOS, BOS, GIVEN, ANSWER = range(5)
FIRST_OPERATION = 5
FIRST_LETTER = FIRST_OPERATION + len(OPERATIONS)
FIRST_WORD = FIRST_LETTER + len(LETTERS)
MOST_LETTERS = 8
PROMPT_WIDTH = MOST_LETTERS + 3  # <bos>, the operation, =


@dataclass(frozen=True)
class Problems:
    """Some prompts; rows of all tensors are the prompts."""

    prompts: Tensor
    """[n, PROMPT_WIDTH], padded on the left."""
    prompt_lengths: Tensor
    answers: Tensor
    """[n, MOST_LETTERS + 1]: the answer and its end, then padding."""
    answer_lengths: Tensor
    """Letters of the answer and its end."""

    def repeated(self, times: int) -> Problems:
        """Each prompt `times` over, one after the other: the rows of groups."""
        return Problems(
            *(
                tensor.repeat_interleave(times, 0)
                for tensor in (
                    self.prompts,
                    self.prompt_lengths,
                    self.answers,
                    self.answer_lengths,
                )
            )
        )

    def of(self, rows: Tensor) -> Problems:
        """These rows."""
        return Problems(
            self.prompts[rows],
            self.prompt_lengths[rows],
            self.answers[rows],
            self.answer_lengths[rows],
        )


def draw(
    generator: torch.Generator, count: int, letters: tuple[int, int], operations: tuple[str, ...]
) -> Problems:
    """Prompts with between `letters[0]` and `letters[1]` letters, both included."""
    size = torch.randint(letters[0], letters[1] + 1, (count,), generator=generator)
    symbols = torch.randint(0, len(LETTERS), (count, MOST_LETTERS), generator=generator)
    chosen = torch.tensor([OPERATIONS.index(name) for name in operations])
    operation = chosen[torch.randint(0, len(chosen), (count,), generator=generator)]
    column = torch.arange(MOST_LETTERS)
    inside = column < size[:, None]
    reverse = symbols.gather(1, (size[:, None] - 1 - column).clamp(min=0))
    ordered = torch.where(inside, symbols, len(LETTERS)).sort(1).values
    shifted = (symbols + 1) % len(LETTERS)
    solved = torch.stack([symbols, reverse, ordered, shifted])[operation, torch.arange(count)]
    answers = torch.zeros(count, MOST_LETTERS + 1, dtype=torch.long)
    answers[:, :MOST_LETTERS] = torch.where(inside, solved + FIRST_LETTER, PAD)
    answers[torch.arange(count), size] = EOS
    return Problems(_prompts(size, operation, symbols), size + 3, answers, size + 1)


def _prompts(size: Tensor, operation: Tensor, symbols: Tensor) -> Tensor:
    place = torch.arange(PROMPT_WIDTH) - (PROMPT_WIDTH - 3 - size)[:, None]
    letters = symbols.gather(1, (place - 2).clamp(0, MOST_LETTERS - 1)) + FIRST_LETTER
    prompts = torch.where(place == 1, operation[:, None] + FIRST_OPERATION, letters)
    prompts = torch.where(place == 0, BOS, prompts)
    prompts = torch.where(place == size[:, None] + 2, GIVEN, prompts)
    return torch.where(place < 0, PAD, prompts)


@dataclass(frozen=True)
class Marks:
    """What a verifier sees of each response."""

    right: Tensor
    """The letters behind the last `>` are the answer, and the response has ended."""
    formed: Tensor
    """One `>`, and the response has ended."""
    ordered: Tensor
    """Letters behind the last `>`, in alphabetical order, and the response has ended."""
    begun: Tensor
    """What stands behind the last `>` is how the answer begins, if it is anything at all."""


def marks(problems: Problems, responses: Tensor, lengths: Tensor) -> Marks:
    """Of responses [n, tokens] with these lengths, padded on the right."""
    column = torch.arange(responses.shape[1])
    signs = (responses == ANSWER) & (column < lengths[:, None])
    start = torch.where(signs, column, -1).amax(1)
    ended = responses.gather(1, (lengths - 1).clamp(min=0)[:, None])[:, 0] == EOS
    padded = torch.nn.functional.pad(responses, (0, MOST_LETTERS + 2))
    place = start[:, None] + 1 + torch.arange(MOST_LETTERS + 1)
    said = padded.gather(1, place)
    same = said == problems.answers
    beyond = torch.arange(MOST_LETTERS + 1) >= problems.answer_lengths[:, None]
    there = start >= 0
    right = (same | beyond).all(1) & there & ended
    return Marks(
        right & (start + 1 + problems.answer_lengths == lengths),
        (signs.sum(1) == 1) & ended,
        _ordered(said) & there & ended,
        (same | ((said == EOS).cumsum(1) > 0)).all(1) & there & ended,
    )


def _ordered(said: Tensor) -> Tensor:
    """Whether letters come first, each at least the one before it."""
    letter = (said >= FIRST_LETTER) & (said < FIRST_WORD)
    pairs = letter[:, 1:] & letter[:, :-1]
    return letter[:, 0] & ~(pairs & (said[:, 1:] < said[:, :-1])).any(1)


def text(tokens: list[int]) -> str:
    """Tokens as words."""
    return " ".join(VOCABULARY[token] for token in tokens)
