"""How far a batch has come: a bar where a person looks on, else a line now and then."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

_EVERY = 5.0  # seconds between two lines


@dataclass
class Progress:
    """Counts runs; `say` writes a line to stderr."""

    say: Callable[[str], None]
    bar: bool  # stderr is a terminal
    clock: Callable[[], float] = time.monotonic
    _total: int = 0
    _before: int = 0  # runs that need nothing
    _done: int = 0
    _start: float = 0.0
    _told: float = 0.0
    _moved: Callable[[], None] = field(default=lambda: None)

    @contextmanager
    def of(self, total: int, unchanged: int) -> Iterator[None]:
        """While `total` runs are brought up to date, `unchanged` of which are that already."""
        self._total, self._before, self._done = total, unchanged, 0
        self._start = self._told = self.clock()
        self.say(f"{total} runs, {unchanged} of them unchanged")
        if not self.bar or total == unchanged:
            yield
            return
        with _bar(total, unchanged) as self._moved:
            yield

    def advance(self) -> None:
        """One more run is done."""
        self._done += 1
        self._moved()
        now = self.clock()
        if not self.bar and now - self._told >= _EVERY:
            self._told = now
            self.say(self.line(now))

    def line(self, now: float) -> str:
        """How many, how fast and how long yet."""
        rate = self._done / max(now - self._start, 1e-9)
        left = (self._total - self._before - self._done) / rate
        done = self._before + self._done
        return f"{done} of {self._total} runs, {rate:.1f} a second, {left:.0f} s left"


@contextmanager
def _bar(total: int, unchanged: int) -> Iterator[Callable[[], None]]:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        TextColumn,
        TimeRemainingColumn,
    )
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
    )
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("runs", total=total - unchanged, rate="")

        def moved() -> None:
            bar.advance(task)
            speed = bar.tasks[0].speed
            bar.update(task, rate=f"{speed:.1f} a second" if speed else "")

        yield moved
