"""What the report asks of a run. tables.run.RunTables is the real one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from analyzer.tables.evidence import Absent, ConfigValue, Event, Series


class SeriesSource(Protocol):
    """The evidence of one run, as far as a report shows it."""

    def series(self, name: str, buckets: int | None = None) -> Series | Absent:
        """A series by canonical, derived or queried name."""
        ...

    def events(self) -> Sequence[Event]:
        """The lines of the text logs that were kept, in file order."""
        ...

    def config(self, key: str) -> ConfigValue | None:
        """The value of a dotted key; None where the configuration does not have it."""
        ...

    def response_text(self, path: str, offset: int) -> tuple[str, str] | None:
        """Prompt and completion of a sampled response; None where there is none now."""
        ...

    def fact(self, name: str) -> tuple[float, str] | None:
        """A number of the run and where it comes from."""
        ...
