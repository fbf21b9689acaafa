"""What the tables hand to a judge: series, configuration values, events."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Steps = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Series:
    """Values over steps, ascending and unique; NaN and Inf are values, a gap is an absent step."""

    name: str  # canonical, derived or queried name
    unit: str  # "tokens", "fraction", "nats", "1" …
    logged_as: str  # "ppo_actor/seq_len/avg", or the formula over such names
    steps: Steps
    values: Floats
    kind: Literal["logged", "derived", "queried"] = "logged"
    digits: int = 17  # significant decimal digits in the log; 5 in AReaL's tables
    caveats: tuple[str, ...] = ()  # known defects of this name in this run's framework version

    def __len__(self) -> int:
        return len(self.steps)

    def select(self, keep: npt.NDArray[np.bool_]) -> Series:
        """The rows where `keep` is true."""
        return Series(
            self.name,
            self.unit,
            self.logged_as,
            self.steps[keep],
            self.values[keep],
            self.kind,
            self.digits,
            self.caveats,
        )


@dataclass(frozen=True, slots=True)
class Absent:
    """A series that this run does not have, and why."""

    name: str
    reason: str  # "not logged in this run", "needs n_seqs, which is not logged" …


@dataclass(frozen=True, slots=True)
class ConfigValue:
    """A configuration value and where it stands: a file's name, or "default of AReaL …"."""

    value: object
    source: str
    shown: str = ""  # how the run's own framework spells the key, where it is another than asked
    key: str = ""  # the key to change in the run's own configuration
    whole: float | None = None  # the value is this, divided by what stands at the key


@dataclass(frozen=True, slots=True)
class Response:
    """A sampled response, and where its text lies."""

    path: str  # relative to the run
    offset: int
    step: int | None
    task_id: str | None
    sample_idx: int | None
    prompt_hash: str
    tokens: int | None
    chars: int
    reward: float | None
    truncated: bool | None


@dataclass(frozen=True, slots=True)
class Event:
    """A line of a text log worth keeping."""

    attempt: int
    step: int | None
    wall_time: datetime | None
    level: str
    logger: str
    message: str
    repeats: int
    line: int
    source: str
