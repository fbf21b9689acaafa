"""Rollout dumps: a folder a version, a file a prompt, a line a response."""

from __future__ import annotations

import json
from pathlib import Path

from sample_logs.lab import task
from sample_logs.lab.rollout import Scored


def write(folder: Path, step: int, scored: Scored, group_size: int) -> None:
    """Write the responses of a step as AReaL dumps them."""
    lines: dict[int, list[str]] = {}
    for row in range(len(scored.rewards)):
        number = step * 1000 + row // group_size
        lines.setdefault(number, []).append(json.dumps(_record(scored, row, number, group_size)))
    for number, found in lines.items():
        path = folder / str(step) / f"{number}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(found) + "\n", "utf-8")


def _record(scored: Scored, row: int, number: int, group_size: int) -> dict[str, object]:
    prompt_len = int(scored.problems.prompt_lengths[row])
    length = int(scored.responses.lengths[row])
    prompt = scored.problems.prompts[row, task.PROMPT_WIDTH - prompt_len :].tolist()
    versions = scored.responses.versions[row, :length]
    return {
        "task_id": number,
        "sample_idx": row % group_size,
        "seqlen": prompt_len + length,
        "prompt_len": prompt_len,
        "head_version": int(versions[0]),
        "tail_version": int(versions[-1]),
        "reward": float(scored.rewards[row]),
        "prompt": task.text(prompt),
        "completion": task.text(scored.responses.tokens[row, :length].tolist()),
    }
