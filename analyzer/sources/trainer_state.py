"""`trainer_state.json`, which the trainer of Hugging Face writes beside every checkpoint."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from analyzer.errors import Location, RunError
from analyzer.sources.metric_columns import MetricColumns, Stamp
from analyzer.sources.opening import CutArchiveError, open_log
from analyzer.sources.records import Chunk, Facts, Kin, Note, Reading, Resume, Role
from analyzer.sources.step_table import Attempts, number, whole

_KEYS = (b'"log_history"', b'"global_step"')


class TrainerState:
    """The reader of trainer_state.json: its history of what was logged."""

    format = "trainer-state"
    describes = "trainer_state.json of Hugging Face trainers (TRL)"
    digits = 17
    appends = False
    role: Role = "tracker"
    reads = "the history of what was logged, the number of steps"
    leaves = "best checkpoint, callbacks"
    tested = "trainer_state.json of a public TRL run"

    def sniff(self, path: Path, head: bytes) -> bool:
        """Is it the state of a trainer, by its keys?"""
        return head.lstrip().startswith(b"{") and all(key in head for key in _KEYS)

    def kin(self, path: Path) -> Kin:
        """Nothing: the folder says whose it is."""
        return Kin()

    def read(self, path: Path, resume: Resume | None = None) -> Reading:
        """One row a value of the history. Raises RunError when the file cannot be read."""
        try:
            state = json.loads(b"".join(open_log(path).blocks()))
        except (ValueError, CutArchiveError) as cause:
            raise RunError(f"no valid JSON: {cause}", at=Location(str(path))) from cause
        history = state.get("log_history") if isinstance(state, dict) else None
        if not isinstance(history, list):
            raise RunError("no log_history in it", at=Location(str(path)))
        reading = Reading(iter(()), facts=_facts(state))
        reading.chunks = _chunks(history, reading)
        return reading


def _chunks(history: list[Any], reading: Reading) -> Iterator[Chunk]:
    columns, attempts = MetricColumns(), Attempts()
    without_step = 0
    for entry in history:
        row = entry if isinstance(entry, dict) else {}
        step = whole(row.get("step"))
        if step is None:
            without_step += 1
            continue
        values = {k: v for k, raw in row.items() if k != "step" and (v := number(raw)) is not None}
        columns.begin(Stamp(attempts.place(step, values), step, None, None))
        for name, value in values.items():
            columns.add(name, value)
    if without_step:
        detail = f"{without_step} entries of the history name no step and are left out"
        reading.notes.append(Note("row-without-step", detail))
    for rows in columns.batches():
        yield Chunk("metrics", rows)


def _facts(state: dict[str, Any]) -> Facts:
    done, planned, epoch = state.get("global_step"), state.get("max_steps"), state.get("epoch")
    total = planned if isinstance(planned, int) and planned > 0 else None
    a_step = isinstance(done, int) and isinstance(epoch, int | float) and epoch > 0
    return Facts(
        total_steps=total,
        steps_per_epoch=round(done / epoch) if a_step and done and epoch else None,
        finished=True if total is not None and done == total else None,
    )
