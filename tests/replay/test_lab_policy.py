"""The lab's policy and task: against transformers, and against answers worked out by hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import needs_torch  # noqa: F401
import pytest
import torch

from sample_logs.lab import checkpoints, policy, sampling, task, update, warm_start

TOLERANCE = 2e-5  # float32, another order of operations


def tokens_of(text: str) -> list[int]:
    return [task.VOCABULARY.index(word) for word in text.split()]


def problem(operation: str, letters: str, answer: str) -> task.Problems:
    """One prompt with its answer, written out."""
    prompt = tokens_of(f"<bos> {operation} {letters} =")
    solved = tokens_of(f"{answer} <eos>")
    padded = [task.PAD] * (task.PROMPT_WIDTH - len(prompt)) + prompt
    return task.Problems(
        torch.tensor([padded]),
        torch.tensor([len(prompt)]),
        torch.tensor([solved + [task.PAD] * (task.MOST_LETTERS + 1 - len(solved))]),
        torch.tensor([len(solved)]),
    )


@pytest.mark.parametrize(
    ("response", "right", "formed", "begun"),
    [
        ("so then > a c d <eos>", True, True, True),
        ("> a c d <eos>", True, True, True),
        ("so > a d c <eos>", False, True, False),
        ("so > a c d", False, False, False),  # cut off before its end
        ("so a c d <eos>", False, False, False),
        ("> b > a c d <eos>", True, False, True),  # the last sign counts, one is asked for
        ("> a c d d <eos>", False, True, False),
        ("> a c <eos>", False, True, True),
        ("so > <eos>", False, True, True),
        ("<eos>", False, False, False),
    ],
)
def test_a_verifier_sees_what_a_reader_sees(
    response: str, right: bool, formed: bool, begun: bool
) -> None:
    asked = problem("sort", "d a c", "a c d")
    said = tokens_of(response)
    tokens = torch.tensor([said + [task.PAD] * (12 - len(said))])
    found = task.marks(asked, tokens, torch.tensor([len(said)]))
    assert (bool(found.right), bool(found.formed), bool(found.begun)) == (right, formed, begun)


def test_drawn_problems_have_their_answers() -> None:
    generator = torch.Generator().manual_seed(3)
    drawn = task.draw(generator, 200, (2, 8), task.OPERATIONS)
    solve: dict[str, Callable[[list[str]], list[str]]] = {
        "copy": list,
        "reverse": lambda letters: letters[::-1],
        "sort": sorted,
        "shift": lambda letters: [chr((ord(x) - 96) % 10 + 97) for x in letters],
    }
    for row in range(200):
        words = task.text(drawn.prompts[row].tolist()).split()
        words = words[words.index("<bos>") :]
        letters = words[2:-1]
        assert len(words) == int(drawn.prompt_lengths[row])
        expected = " ".join([*solve[words[1]](letters), "<eos>"])
        answer = drawn.answers[row, : int(drawn.answer_lengths[row])]
        assert task.text(answer.tolist()) == expected


@pytest.mark.parametrize("size", ["tiny", "large"])
def test_transformers_computes_the_same_logits(size: str, tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    shape = policy.SIZES[size]
    flat = policy.initial(shape, torch.Generator().manual_seed(1))
    checkpoints.save(tmp_path, shape, flat)
    model = transformers.AutoModelForCausalLM.from_pretrained(tmp_path, dtype=torch.float32)
    tokens = torch.randint(0, shape.vocabulary, (5, 17), generator=torch.Generator().manual_seed(2))
    with torch.no_grad():
        expected = model(tokens).logits
        turn = policy.rotation(shape).first(17)
        found = policy.logits(policy.weights(flat, shape), shape, tokens, turn)
    assert (found - expected).abs().max() < TOLERANCE * (1 + expected.abs().max())
    loaded_shape, loaded = checkpoints.load(tmp_path)
    assert loaded_shape == shape
    assert torch.equal(loaded, flat)


def test_the_engine_and_the_trainer_agree_on_log_probs() -> None:
    flat = warm_start.load("tiny")
    shape = policy.SIZES["tiny"]
    generator = torch.Generator().manual_seed(4)
    problems = task.draw(generator, 64, (2, 8), task.OPERATIONS)
    how = sampling.Sampling()
    said = sampling.sample(problems, [sampling.Served(0, flat)], shape, how, generator)
    for row in range(64):
        prompt = problems.prompts[row, task.PROMPT_WIDTH - int(problems.prompt_lengths[row]) :]
        length = int(said.lengths[row])
        whole = torch.cat([prompt, said.tokens[row, :length]])[None]
        known = update.log_probs(whole, flat, shape, policy.rotation(shape))[0]
        expected = known[len(prompt) - 1 : -1]
        assert (said.logprobs[row, :length] - expected).abs().max() < TOLERANCE * 5


def test_the_nucleus_is_the_smallest_set_with_that_mass() -> None:
    logp = torch.tensor([[0.1, 0.5, 0.3, 0.1], [0.25, 0.25, 0.25, 0.25]]).log()
    kept = torch.isfinite(sampling.nucleus(logp, 0.7))
    assert kept[0].tolist() == [False, True, True, False]
    assert int(kept[1].sum()) == 3
