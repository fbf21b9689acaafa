"""prime-rl: `rollouts/step_<n>/train_rollouts.jsonl`, one verifiers rollout a line.

Keys as in verifiers' RolloutOutput: example_id, prompt and completion (texts or messages), reward,
is_truncated, metrics, token_usage. Newer versions write trace records, a graph of messages; those
are not read.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Any

from analyzer.sources.samples.json_lines import JsonLines, first_record
from analyzer.sources.samples.layout import number_in, split_of
from analyzer.sources.samples.sample import (
    Sample,
    conversation,
    number,
    reply,
    truth,
    whole,
)


class PrimeDumps:
    """Rollout dumps of prime-rl."""

    format = "prime-rollouts"
    describes = "prime-rl rollout dump (step_<n>/train_rollouts.jsonl)"
    framework = "prime-rl"
    files = re.compile(r"(?:step_\d+/)?(?:[^/]+_)?rollouts\.jsonl(?:\.gz)?")
    entries = re.compile(r"step_\d+")
    reads = "one row a rollout: reward, is_truncated, token usage, measures of its text"
    leaves = "trace records of newer versions; rewards of single turns"
    tested = "the layout of verifiers 0.1.9 to 0.1.12, from its source"

    def sniff(self, path: Path, head: bytes) -> bool:
        """By the keys of the first record."""
        record = first_record(head)
        if record is None:
            return b'"example_id":' in head and b'"completion":' in head
        return {"example_id", "prompt", "completion", "reward"} <= record.keys()

    def resumes(self, relative: str) -> bool:
        """Lines are appended as rollouts complete."""
        return relative.endswith(".jsonl")

    def samples(self, path: Path, relative: str, offset: int, digest: hashlib._Hash) -> JsonLines:
        """One sample a line."""
        folder = relative.rpartition("/")[0].rpartition("/")[2]
        step, split = number_in(folder), split_of(relative)

        def parse(record: dict[str, Any]) -> Sample | None:
            prompt, completion = conversation(record.get("prompt")), reply(record.get("completion"))
            if prompt is None or completion is None:
                return None
            usage = record.get("token_usage")
            usage = usage if isinstance(usage, dict) else {}
            before, after = whole(usage.get("input_tokens")), whole(usage.get("output_tokens"))
            return Sample(
                prompt,
                completion,
                step=step,
                split=split,
                task_id=None if (task := record.get("example_id")) is None else str(task),
                prompt_len=before,
                seq_len=None if before is None or after is None else before + after,
                reward=number(record.get("reward")),
                truncated=truth(record.get("is_truncated")),
            )

        return JsonLines(path, parse, offset, digest)
