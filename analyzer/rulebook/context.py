"""What a condition may look at: series, configuration, events, restarts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from analyzer.tables.evidence import Absent, ConfigValue, Event, Response, Series


class RunView(Protocol):
    """The evidence of one run. tables.run.RunTables is the real one."""

    @property
    def first_step(self) -> int: ...

    @property
    def last_step(self) -> int: ...

    @property
    def resumes(self) -> Sequence[int]:
        """Steps at which a later attempt took up; empty for a run that never restarted."""
        ...

    @property
    def attempt_ends(self) -> Sequence[int]:
        """The last step of each attempt that another one followed."""
        ...

    @property
    def has_config(self) -> bool: ...

    @property
    def has_text_log(self) -> bool: ...

    def series(self, name: str, buckets: int | None = None) -> Series | Absent:
        """A series by canonical, derived or queried name; `buckets` reduces it to that many
        equal-count medians where it is longer."""
        ...

    @property
    def framework(self) -> str | None:
        """Who trained: "areal", "verl" …; None where the logs do not tell."""
        ...

    def key_of(self, key: str) -> str | None:
        """What the run's framework calls AReaL's `key`; None where it has no such thing."""
        ...

    def config(self, key: str) -> ConfigValue | None:
        """The value of AReaL's dotted `key`; None where the configuration does not have it."""
        ...

    def events(self) -> Sequence[Event]: ...

    def responses(
        self, where: str, order: str, one_per: str, steps: tuple[int, int] | None
    ) -> Sequence[Response]:
        """Up to five sampled responses of training, chosen by SQL over the table `samples`."""
        ...

    def fact(self, name: str) -> tuple[float, str] | None:
        """A number of the run (rules/metrics/facts.yaml) and where it comes from."""
        ...

    def other(self, role: str) -> RunView | None:
        """The run that was given in a role (sync, testset, baseline, sibling)."""
        ...

    def fact_unit(self, name: str) -> str:
        """The unit of that number."""
        ...
