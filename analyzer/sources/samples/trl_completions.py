"""TRL: `completions/completions_<step>.parquet`, in later versions below a folder a mode.

`log_completions: true` writes them (trl/trainer/grpo_trainer.py): step, prompt, completion, one
column a reward function, advantage. The rewards are added up as TRL does with weights of one.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from analyzer.sources.samples.layout import number_in, split_of
from analyzer.sources.samples.sample import Sample, Split, Taken, conversation, number, reply, whole

_ROWS = 1024
_NO_REWARD = frozenset({"mode", "step", "prompt", "completion", "advantage"})


class TrlCompletions:
    """Completions that TRL's trainers log."""

    format = "trl-completions"
    describes = "TRL completions (completions_<step>.parquet)"
    framework = "trl"
    files = re.compile(r"(?:(?:train|eval)/)?completions_\d+\.parquet")
    entries = re.compile(r"train|eval|completions_\d+\.parquet")
    reads = "one row a completion: rewards added up, measures of its text"
    leaves = "advantages, images"
    tested = "the layout of TRL 0.17 to 0.26, from its source"

    def sniff(self, path: Path, head: bytes) -> bool:
        """By the columns."""
        if not head.startswith(b"PAR1"):
            return False
        import pyarrow.parquet as pq  # slow to import, and few runs have such files

        try:
            names = set(pq.read_schema(path).names)
        except (OSError, pa.ArrowException):
            return False
        return {"step", "prompt", "completion"} <= names

    def resumes(self, relative: str) -> bool:
        """A Parquet file is written at once."""
        return False

    def samples(self, path: Path, relative: str, offset: int, digest: hashlib._Hash) -> Rows:
        """One sample a row."""
        return Rows(path, number_in(relative.rpartition("/")[2]), split_of(relative), digest)


@dataclass
class Rows:
    """The samples of one Parquet file."""

    path: Path
    step: int | None
    split: Split
    digest: hashlib._Hash

    def __iter__(self) -> Iterator[Sample]:
        import pyarrow.parquet as pq

        self._bad = 0
        self._size = _hash_file(self.path, self.digest)
        place = 0
        try:
            with pq.ParquetFile(self.path) as file:
                rewards = _reward_columns(file.schema_arrow)
                for batch in file.iter_batches(_ROWS):
                    for row in batch.to_pylist():
                        sample = self._sample(row, rewards)
                        if sample is None:
                            self._bad += 1
                        else:
                            sample.offset = place
                            yield sample
                        place += 1
        except (OSError, pa.ArrowException):
            self._bad += 1

    @property
    def taken(self) -> Taken:
        """The whole file."""
        return Taken(self._size, self.digest.digest(), self._bad, 0 if self._bad else None)

    def _sample(self, row: dict[str, Any], rewards: list[str]) -> Sample | None:
        prompt, completion = conversation(row["prompt"]), reply(row["completion"])
        if prompt is None or completion is None:
            return None
        step = whole(row.get("step"))
        split = row["mode"] if row.get("mode") in ("train", "eval") else self.split
        numbers = (number(row[name]) for name in rewards)
        given = [n for n in numbers if n is not None and not math.isnan(n)]
        return Sample(
            prompt,
            completion,
            step=self.step if step is None else step,
            split=split,
            reward=sum(given) if given else None,
        )


def _reward_columns(schema: pa.Schema) -> list[str]:
    """Numbers between `completion` and `advantage`: one column a reward function."""
    return [
        field.name
        for field in schema
        if field.name not in _NO_REWARD
        and not field.name.startswith("__")
        and (pa.types.is_floating(field.type) or pa.types.is_integer(field.type))
    ]


def _hash_file(path: Path, digest: hashlib._Hash) -> int:
    size = 0
    with path.open("rb") as handle:
        while block := handle.read(1 << 20):
            digest.update(block)
            size += len(block)
    return size
