"""verl: `<step>.jsonl` below `trainer.rollout_data_dir` or `trainer.validation_data_dir`.

Keys: input, output, score, step, in later versions gts, then whatever the reward function returns
beside the score (verl/trainer/ppo/ray_trainer.py, `_dump_generations`). Texts are decoded without
special tokens and no length is written, so a dump alone does not tell what was truncated.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Any

from analyzer.sources.samples.json_lines import JsonLines, first_record
from analyzer.sources.samples.layout import number_in, split_of
from analyzer.sources.samples.sample import Sample, number, truth, whole

_CORRECT = ("acc", "correct", "is_correct")


class VerlDumps:
    """Rollout and validation dumps of verl."""

    format = "verl-rollouts"
    describes = "verl rollout dump (<step>.jsonl)"
    framework = "verl"
    files = re.compile(r"\d+\.jsonl")
    entries = re.compile(r"\d+\.jsonl")
    reads = "one row a sample: score, acc or correct, measures of its text"
    leaves = "other values of the reward function"
    tested = "the layout of verl 0.4 to 0.6, from its source"

    def sniff(self, path: Path, head: bytes) -> bool:
        """By the keys of the first record."""
        record = first_record(head)
        if record is None:
            return head.startswith(b'{"input": "') and b'", "output": "' in head
        return {"input", "output", "score"} <= record.keys()

    def resumes(self, relative: str) -> bool:
        """A step is written at once, but may be seen half written."""
        return True

    def samples(self, path: Path, relative: str, offset: int, digest: hashlib._Hash) -> JsonLines:
        """One sample a line."""
        step = number_in(relative.rpartition("/")[2])
        split = split_of(relative)

        def parse(record: dict[str, Any]) -> Sample | None:
            prompt, completion = record.get("input"), record.get("output")
            if not isinstance(prompt, str) or not isinstance(completion, str):
                return None
            written = whole(record.get("step"))
            uid = record.get("uid")
            return Sample(
                prompt,
                completion,
                step=step if written is None else written,
                split=split,
                task_id=uid if isinstance(uid, str) else None,
                reward=number(record.get("score")),
                correct=next(
                    (t for k in _CORRECT if (t := truth(record.get(k))) is not None), None
                ),
            )

        return JsonLines(path, parse, offset, digest)
