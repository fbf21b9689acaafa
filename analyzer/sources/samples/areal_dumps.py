"""AReaL: `rollout/<version>/<task>.jsonl`, one file a task, one line a sample.

`dump_to_file: true` of the rollout configuration writes them (areal/infra/workflow_executor.py).
The folder is named by the newest weights that any sample of the task met. Until June 2026
`head_version` was -1 in every record, since prompt tokens carry that number
(areal-project/AReaL#1408); builds since then write `version_rle` beside it, the versions of the
response's tokens with how many each has.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Any

from analyzer.sources.samples.json_lines import JsonLines, first_record
from analyzer.sources.samples.layout import number_in, split_of
from analyzer.sources.samples.sample import Sample, number, whole


class ArealDumps:
    """Rollout dumps of AReaL."""

    format = "areal-rollouts"
    describes = "AReaL rollout dump (<version>/<task>.jsonl)"
    framework = "areal"
    files = re.compile(r"(?:\d+/)?[^/]+\.jsonl(?:\.gz|\.zst|\.xz)?")
    entries = re.compile(r"\d+(?:\.jsonl(?:\.gz|\.zst|\.xz)?)?")
    reads = "one row a sample: lengths, reward, versions, measures of its text"
    leaves = "segments of several turns, as rows of their own"
    tested = "AReaL 2026-05 to 2026-08"

    def sniff(self, path: Path, head: bytes) -> bool:
        """By the keys of the first record."""
        record = first_record(head)
        if record is None:
            return head.startswith(b'{"task_id": ') and b'"tail_version": ' in head
        return {"seqlen", "prompt_len", "tail_version", "completion"} <= record.keys()

    def resumes(self, relative: str) -> bool:
        """Samples of a task are appended."""
        return relative.endswith(".jsonl")

    def samples(self, path: Path, relative: str, offset: int, digest: hashlib._Hash) -> JsonLines:
        """One sample a line."""
        split = split_of(relative)
        folder = relative.rpartition("/")[0].rpartition("/")[2]
        version = number_in(folder) if folder.isdigit() else None

        def parse(record: dict[str, Any]) -> Sample | None:
            return _sample(record, version, split == "eval")

        return JsonLines(path, parse, offset, digest)


def _sample(record: dict[str, Any], folder: int | None, is_eval: bool) -> Sample | None:
    prompt, completion = record.get("prompt"), record.get("completion")
    if not isinstance(prompt, str) or not isinstance(completion, str):
        return None
    head, tail = _versions(record)
    task = record.get("task_id")
    return Sample(
        prompt,
        completion,
        step=tail if folder is None else folder,
        split="eval" if is_eval else "train",
        task_id=None if task is None else str(task),
        sample_idx=whole(record.get("sample_idx")),
        prompt_len=whole(record.get("prompt_len")),
        seq_len=whole(record.get("seqlen")),
        reward=number(record.get("reward")),
        head_version=head,
        tail_version=tail,
    )


def _versions(record: dict[str, Any]) -> tuple[int | None, int | None]:
    """Of the first and the last token; -1 is no version."""
    head, tail = (_version(record.get(key)) for key in ("head_version", "tail_version"))
    pieces = record.get("version_rle")
    if isinstance(pieces, list):
        of_pieces = [p[0] for p in pieces if isinstance(p, list) and p]
        written = [v for v in map(_version, of_pieces) if v is not None]
        if written:
            head = min(written) if head is None else head
            tail = max(written) if tail is None else tail
    return head, tail


def _version(value: Any) -> int | None:
    found = whole(value)
    return None if found is None or found < 0 else found
