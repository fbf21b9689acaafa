"""Tables of metrics that have a column for the step, whoever wrote them: rows to attempts.

Trainers write such tables as JSON lines, people export them as CSV or Parquet. The names of the
columns are the writer's own; here only the step, the time and the run are told from metrics.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any

# Best first. `stitched_step` is what several runs of one training were joined by.
_STEPS = (
    "step",
    "_step",
    "stitched_step",
    "global_step",
    "train/global_step",
    "trainer/global_step",
    "training_step",
    "train/step",
    "rollout/step",
    "iteration",
    "iter",
    "update",
)
_ANY_STEP = re.compile(r"(?:^|[/_. ])step$", re.IGNORECASE)
_TIMES = frozenset({"timestamp", "_timestamp", "wall_time", "datetime", "created_at"})
_RUNS = frozenset({"run_id", "segment", "attempt"})
# Columns of tables that hold a row for each sample, which are no metrics of a step.
_SAMPLES = frozenset(
    {"prompt", "completion", "response", "input", "output", "messages", "task_id", "prompt_ids"}
)
_EARLIEST, _LATEST = 1e9, 4e9  # seconds since 1970 between 2001 and 2096
_NUMBER = re.compile(r"[+-]?(?:\d|\.\d|inf|nan)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Layout:
    """Which columns are no metrics."""

    step: str
    time: str | None = None
    run: str | None = None  # its value changes where another attempt begins

    @property
    def aside(self) -> frozenset[str]:
        """The columns that are no metrics."""
        return frozenset(name for name in (self.step, self.time, self.run) if name)


def layout_of(names: Sequence[str]) -> Layout | None:
    """The layout of a table with these columns; None when it has no step or holds samples."""
    lower = {name.lower(): name for name in names}
    if _SAMPLES & lower.keys():
        return None
    known = (lower[name] for name in _STEPS if name in lower)
    any_step = (name for name in names if _ANY_STEP.search(name))
    step = next(known, None) or next(any_step, None)
    if step is None:
        return None
    return Layout(step, _last_part_in(names, _TIMES), _last_part_in(names, _RUNS))


def _last_part_in(names: Sequence[str], wanted: frozenset[str]) -> str | None:
    return next((name for name in names if name.rpartition("/")[2].lower() in wanted), None)


@dataclass(slots=True)
class Attempts:
    """Counts restarts: most values of a row were written for this step or a later one before."""

    attempt: int = 0
    last: int | None = None  # the step of the last row
    run: str | None = None
    steps: dict[str, int] = field(default_factory=dict)  # name → its last step in this attempt

    def place(self, step: int, names: Collection[str], run: str | None = None) -> int:
        """The attempt of a row with values of these names.

        Rows of one step may share a few names, as those of training and evaluation share `epoch`.
        """
        again = 0
        if self.last is not None and step <= max(self.steps.values(), default=self.last):
            again = sum(self.steps.get(name, step - 1) >= step for name in names)
        other = run is not None and self.run is not None and run != self.run
        if 2 * again > len(names) or other:
            self.attempt += 1
            self.steps = {}
        self.steps.update(dict.fromkeys(names, step))
        self.last, self.run = step, run or self.run
        return self.attempt

    def to_json(self) -> dict[str, Any]:
        """All that a later reading must know."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Attempts:
        """What to_json() wrote."""
        return cls(**data)


def number(value: object) -> float | None:
    """A value as a number: also one in quotation marks; None for text and for what is not there."""
    if isinstance(value, int | float):
        return float(value)
    if not isinstance(value, str) or not _NUMBER.match(value.lstrip()):
        return None
    try:
        return float(value)
    except ValueError:
        return None


def whole(value: object) -> int | None:
    """A step: a whole number, however it is written."""
    found = number(value)
    return int(found) if found is not None and math.isfinite(found) and found % 1 == 0 else None


def micros(value: object) -> int | None:
    """A time in seconds or milliseconds since 1970, or as ISO 8601 text, in microseconds."""
    seconds = number(value)
    if seconds is not None:
        seconds = seconds / 1000 if seconds > 1000 * _EARLIEST else seconds
        return round(seconds * 1e6) if _EARLIEST < seconds < _LATEST else None
    if not isinstance(value, str):
        return None
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return round(moment.timestamp() * 1e6)


_WRAPPERS = frozenset({"data", "metrics", "values", "logs"})


def flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row with the objects in it taken apart; `data` and the like are wrappers, no names."""
    if not any(isinstance(value, dict) for value in row.values()):
        return dict(row)
    out: dict[str, Any] = {}
    for name, value in row.items():
        if not isinstance(value, dict):
            out[name] = value
            continue
        prefix = "" if name in _WRAPPERS else f"{name}/"
        out |= {f"{prefix}{inner}": v for inner, v in flat(value).items()}
    return out
