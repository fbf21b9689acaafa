"""What a dump holds, and which parts of a replay it allows."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

from torch import Tensor

from analyzer.errors import Location, RunError
from analyzer.replay.bundle import Bundle

Part = Literal["rewards", "groups", "truncation", "weights", "stage-0", "stage-1"]
PARTS: tuple[Part, ...] = ("rewards", "groups", "truncation", "weights", "stage-0", "stage-1")
TEXT_ALONE = "it holds text, not token ids and log-probs"


@dataclass(frozen=True)
class Dump:
    """The sequences of one step, as far as a trainer's file has them."""

    path: Path
    format: str
    sequences: int
    lacks: Mapping[Part, str]
    """Parts of the replay that it does not allow, and why."""
    step: int | None = None
    rewards: Sequence[float] | None = None
    groups: Sequence[Hashable] | None = None
    """Of each sequence, what tells its group."""
    spread: Sequence[float] | None = None
    """What tells whether a group's sequences differ, where that is not the rewards."""
    truncated: Sequence[bool] | None = None
    log_weights: Tensor | None = None
    """Of each trained token: the trainer's log-prob before the update minus the engine's."""
    batch: Mapping[str, Tensor] | None = None
    """Token ids, masks and log-probs, as in a recorded batch."""
    bundle: Bundle | None = None
    """The same with the configuration, where that lies beside."""
    notes: tuple[str, ...] = field(default=())

    def __post_init__(self) -> None:
        held = {
            "rewards": self.rewards,
            "groups": self.groups,
            "truncation": self.truncated,
            "weights": self.log_weights,
            "stage-0": self.bundle,
            "stage-1": self.batch,
        }
        assert {part for part, value in held.items() if value is None} == set(self.lacks)

    @property
    def allows(self) -> frozenset[Part]:
        """The parts of the replay that it allows."""
        return frozenset(part for part in PARTS if part not in self.lacks)


class Reader(Protocol):
    """Reads one format."""

    @property
    def format(self) -> str:
        """Its name, for people."""
        ...

    def sniff(self, path: Path) -> bool:
        """Is this file, or folder, of the format? By its content; nothing in it is run."""
        ...

    def read(self, path: Path) -> Dump:
        """What it holds. Raises RunError, in one line, where it cannot be read."""
        ...


def unreadable(path: Path, message: str, hint: str = "", line: int | None = None) -> RunError:
    """The error that says what is wrong with a dump."""
    return RunError(message, at=Location(str(path), line), hint=hint)
