"""Sampled responses of a test: bunches of alike ones, a number a step, as rows of `samples`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Any

import pyarrow as pa
from pydantic import Field

from analyzer.rulebook.model import Strict
from analyzer.tables.schema import SAMPLES

# One value for all responses of a step, or several in turn.
Texts = str | tuple[str, ...]
Numbers = float | tuple[float, ...]
Counts = int | tuple[int, ...]
Truths = bool | tuple[bool, ...]
_GROUP = 8


class Bunch(Strict):
    """So many responses at each of some steps. A list is gone through again and again."""

    steps: tuple[int, int] | tuple[int, int, int] = Field(description="first, last, every n-th")
    count: Annotated[int, Field(ge=1, description="responses a step")]
    split: str = "train"
    prompt: Texts | None = Field(
        default=None, description="names of prompts; left out: a new one for every eight responses"
    )
    completion: Texts | None = Field(
        default=None, description="names of texts; left out: each another one"
    )
    reward: Numbers | None = None
    correct: Truths | None = None
    response_len: Counts = 500
    chars: Counts = 2000
    staleness: Counts | None = None
    truncated: Truths | None = False
    loops: Truths = False
    empty: Truths = False
    foreign_share: Numbers | None = 0.0


def response_rows(bunches: Sequence[Bunch]) -> pa.Table:
    """The rows of all bunches, step by step."""
    rows = [row for number, bunch in enumerate(bunches) for row in _rows(number, bunch)]
    rows.sort(key=lambda row: row["step"])
    return pa.Table.from_pylist(rows, schema=SAMPLES)


def _rows(number: int, bunch: Bunch) -> Iterator[dict[str, Any]]:
    first, last, *every = bunch.steps
    for step in range(first, last + 1, every[0] if every else 1):
        for place in range(bunch.count):
            prompt = _nth(bunch.prompt, place) or f"{number}-{step}-{place // _GROUP}"
            staleness = _nth(bunch.staleness, place)
            yield {
                "run": "test",
                "attempt": 0,
                "step": step,
                "split": bunch.split,
                "sample_idx": place,
                "prompt_len": 100,
                "response_len": (length := _nth(bunch.response_len, place)),
                "seq_len": 100 + length,
                "reward": _nth(bunch.reward, place),
                "correct": _nth(bunch.correct, place),
                "head_version": None if staleness is None else step - staleness,
                "tail_version": step,
                "staleness": staleness,
                "truncated": _nth(bunch.truncated, place),
                "prompt_hash": prompt,
                "completion_hash": _nth(bunch.completion, place) or f"{number}-{step}-{place}",
                "text_path": f"rollout/{step}.jsonl",
                "text_offset": 1000 * number + place,
                "chars": _nth(bunch.chars, place),
                "ended": not _nth(bunch.truncated, place),
                "empty": _nth(bunch.empty, place),
                "mid_sentence": False,
                "has_answer": True,
                "distinct_ngrams": 0.95,
                "repetition": 0.0,
                "loop_share": 0.8 if _nth(bunch.loops, place) else 0.0,
                "loops": _nth(bunch.loops, place),
                "foreign_share": _nth(bunch.foreign_share, place),
                "source": "rollout",
            }


def _nth(values: Any, place: int) -> Any:
    return values[place % len(values)] if isinstance(values, tuple) else values
