"""Past runs with a finding like one of this run: what agrees, what differs, what was done then."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Shape:
    """How a finding came and went; shares of the run's steps, all in [0, 1]."""

    place: float  # of the onset: 0 at the first step, 1 at the last
    interval: float  # how long the onset may have taken: its interval
    held: float  # of the steps from the onset to the end, those where it held


@dataclass(frozen=True, slots=True)
class SettingPair:
    """A configuration key that two runs set differently; JSON text, None where it is not set."""

    key: str
    here: str | None
    there: str | None


@dataclass(frozen=True, slots=True)
class PastNote:
    """What a run's notes.yaml says was done about it."""

    done: str
    outcome: str
    by: str
    link: str


@dataclass(frozen=True, slots=True)
class PastRun:
    """A past run with the same finding, and how alike it is."""

    run: str
    path: str
    started: str | None  # ISO 8601, UTC
    distance: float  # 0: the same in all that is compared; 1: in nothing
    both: tuple[str, ...]  # rules that fired in both runs
    here: tuple[str, ...]  # only in this one
    there: tuple[str, ...]  # only in that one
    shape_here: Shape | None  # None: the finding has no onset
    shape_there: Shape | None
    keys: int | None  # settings that vary in the history; None: not known of both runs
    differ: tuple[SettingPair, ...]  # those of them that differ
    same_rules: bool  # judged by the same rules and parameters
    note: PastNote | None
    note_error: str  # why there is a notes.yaml but no note
    report: str  # file of that run's postmortem; "" where none is kept


@dataclass(frozen=True, slots=True)
class SeenBefore:
    """The most alike of the past runs, by finding."""

    runs: int  # past runs in the history
    nearest: tuple[tuple[str, tuple[PastRun, ...]], ...]  # finding id → nearest first

    def of(self, finding: str) -> tuple[PastRun, ...]:
        """The past runs that are like this finding's."""
        return next((runs for name, runs in self.nearest if name == finding), ())
