"""Dumps of prompts and completions: AReaL's rollouts, verl's JSONL, TRL's completions.

Layouts as in the public sources.

AReaL: `WorkflowExecutor._dump_trajectory` (areal/infra/workflow_executor.py, August 2026) writes
`<folder>/<version>/<task>.jsonl`, one line a sample, before samples are accepted or rejected.

verl: `_dump_generations` (verl/trainer/ppo/ray_trainer.py at volcengine/verl 3d9df733) writes
`<step>.jsonl`.

TRL: with `log_completions`, `log` of the GRPO trainer (2026) writes
`completions/completions_<step>.parquet` with step, prompt, completion, a column for each reward
function and for what the user logs, and advantage; seen in programs that replace this function and
read these files, since the trainer's own file of that time was not at hand.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from analyzer.replay.bundle import LARGEST
from analyzer.replay.dumps import lines
from analyzer.replay.dumps.dump import TEXT_ALONE, Dump, Part, unreadable

_NO_END = "it does not say how a sequence ended"


def _text_alone(truncation: str) -> dict[Part, str]:
    alone: dict[Part, str] = dict.fromkeys(("weights", "stage-0", "stage-1"), TEXT_ALONE)
    return {"truncation": truncation, **alone}


class ArealRollouts:
    """AReaL's rollout dump: one task's file, or the folder of one version."""

    format = "AReaL rollout dump"
    _KEYS = ("task_id", "sample_idx", "seqlen", "reward", "prompt", "completion")

    def sniff(self, path: Path) -> bool:
        """By the keys of the first line."""
        first = next(iter(self._files(path)), None)
        return first is not None and set(self._KEYS) <= lines.first(first).keys()

    def read(self, path: Path) -> Dump:
        """Rewards and groups; a group is a task."""
        rows: list[Mapping[str, Any]] = []
        notes = ["samples that were rejected later are among them"]
        for file in self._files(path):
            found, cut = lines.read(file, self._KEYS)
            rows += found
            notes += [f"{file.name}: {note}" for note in cut]
        lacks = _text_alone(_NO_END)
        rewards = lines.numbers(rows, "reward")
        if rewards is None:
            lacks["rewards"] = "a sample has no reward"
        return Dump(
            path,
            self.format,
            len(rows),
            lacks,
            step=None,
            rewards=rewards,
            groups=[str(row["task_id"]) for row in rows],
            notes=tuple(notes),
        )

    def _files(self, path: Path) -> list[Path]:
        return sorted(path.glob("*.jsonl")) if path.is_dir() else [path]


class VerlRollouts:
    """verl's `trainer.rollout_data_dir`: one step's file."""

    format = "verl rollout dump"
    _KEYS = ("input", "output", "score", "step")

    def sniff(self, path: Path) -> bool:
        """By the keys of the first line."""
        return path.is_file() and set(self._KEYS) <= lines.first(path).keys()

    def read(self, path: Path) -> Dump:
        """Rewards (`score`) and groups; a group is a prompt."""
        rows, notes = lines.read(path, self._KEYS)
        lacks = _text_alone(_NO_END)
        rewards = lines.numbers(rows, "score")
        if rewards is None:
            lacks["rewards"] = "a sample has no score"
        step = rows[0]["step"]
        return Dump(
            path,
            self.format,
            len(rows),
            lacks,
            step=step if isinstance(step, int) else None,
            rewards=rewards,
            groups=[_key(row["input"]) for row in rows],
            notes=notes,
        )


class TrlCompletions:
    """TRL's `log_completions`: the completions of one step."""

    format = "TRL completions"
    _TEXT = ("step", "prompt", "completion")

    def sniff(self, path: Path) -> bool:
        """By the columns."""
        return set(self._TEXT) <= set(_columns(path))

    def read(self, path: Path) -> Dump:
        """Rewards where one column alone can be them; groups by prompt."""
        table = _table(path)
        if not (count := len(table["step"])):
            raise unreadable(path, "holds no completion")
        measures = [name for name in table if name not in (*self._TEXT, "advantage")]
        named = [name for name in measures if _floats(table[name]) is not None]
        lacks = _text_alone(_NO_END)
        rewards = _floats(table[named[0]]) if len(named) == 1 else None
        if rewards is None:
            lacks["rewards"] = (
                f"how these make up the reward is not in it: {', '.join(named)}"
                if named
                else "no column holds numbers"
            )
        step = table["step"][0]
        return Dump(
            path,
            self.format,
            count,
            lacks,
            step=step if isinstance(step, int) else None,
            rewards=rewards,
            groups=[_key(prompt) for prompt in table["prompt"]],
            spread=_floats(table.get("advantage", [])) or None,
        )


def _key(prompt: Any) -> str:
    """A prompt is text, or a list of messages."""
    return prompt if isinstance(prompt, str) else json.dumps(prompt, sort_keys=True, default=str)


def _floats(column: list[Any]) -> list[float] | None:
    """Numbers; a missing one is NaN, as where a reward function does not apply."""
    if not all(value is None or isinstance(value, int | float) for value in column):
        return None
    if all(value is None for value in column):
        return None
    return [float("nan") if value is None else float(value) for value in column]


def _columns(path: Path) -> list[str]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    if not path.is_file():
        return []
    try:
        with path.open("rb") as file:
            if file.read(4) != b"PAR1":
                return []
        return list(pq.read_schema(path).names)
    except (OSError, pa.ArrowException):
        return []


def _table(path: Path) -> dict[str, list[Any]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            groups = [file.metadata.row_group(i) for i in range(file.metadata.num_row_groups)]
            size = sum(group.total_byte_size for group in groups)
            if size > LARGEST:
                raise unreadable(
                    path, f"unfolds to {size:,} bytes, more than the {LARGEST:,} that are read"
                )
            found: dict[str, list[Any]] = file.read().to_pydict()
            return found
    except (OSError, pa.ArrowException) as cause:
        raise unreadable(path, f"cannot be read: {' '.join(str(cause).split())}") from None
