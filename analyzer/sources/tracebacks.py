"""Python tracebacks in a text that several processes write at once."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, field
from typing import Any

from analyzer.sources.areal_lines import Line
from analyzer.sources.event_patterns import TRACEBACK

MOST_LINES = 1000  # a traceback that has not ended by then is given up
_MOST_OPEN = 64

_GUTTER = re.compile(rb" *\| ?")  # exception groups are drawn with one
_EXCEPTION = re.compile(
    rb"(?!(?:DEBUG|INFO|WARNING|ERROR|CRITICAL|Note): )(?:[A-Za-z_]\w*\.)*[A-Z]\w*: .+"
    rb"|(?:[a-z_]\w*\.)+\w+: .+"
    rb"|(?:[A-Za-z_]\w*\.)*\w*(?:Error|Exception|Interrupt|Exit|Iteration|Empty|Full|Timeout|Group):?\s*$"
)

_FRAME = re.compile(r'File "([^"]+)", line (\d+), in (\S+)')
# The frame of the run's own code says more than the library's below it.
_LIBRARY = re.compile(r"/(?:site|dist)-packages/|/lib/python3|<frozen |\.pyx$")


@dataclass(slots=True)
class OpenTraceback:
    """A traceback whose exception has not been met yet."""

    line: int
    micros: int | None
    until: int  # the line at which it is given up
    last: str = ""
    frame: str = ""  # "compute_logp, engine/ppo/actor.py:92", the last in the run's own code
    library_frame: str = ""  # the last of all


@dataclass(frozen=True, slots=True)
class ClosedTraceback:
    """Where a traceback began, and its exception with the function that it came from."""

    line: int
    micros: int | None
    message: str


@dataclass(slots=True)
class Tracebacks:
    """The open tracebacks, one for each writer."""

    open: dict[bytes, OpenTraceback] = field(default_factory=dict)

    def begin(self, writers: bytes, line: int, micros: int | None) -> ClosedTraceback | None:
        """A new one begins; gives the one that it breaks off."""
        broken = self._cut(writers) if writers in self.open else None
        if broken is None and len(self.open) >= _MOST_OPEN:
            broken = self._cut(next(iter(self.open)))
        self.open[writers] = OpenTraceback(line, micros, line + MOST_LINES)
        return broken

    def take(self, line: Line) -> ClosedTraceback | bool:
        """The traceback that this line ends; else whether the line belongs to one."""
        found = self.open.get(line.writers)
        if found is None or TRACEBACK in line.body:
            return False
        body = _GUTTER.sub(b"", line.body, count=1) if b"|" in line.body[:40] else line.body
        if not body.strip() or body[:1] in b" \t" or body.startswith(b'File "'):
            found.last = body.strip().decode("utf-8", "replace")[:200] or found.last
            _remember_frame(found)
            return True
        if not _EXCEPTION.match(body):
            return False
        del self.open[line.writers]
        text = body.strip().decode("utf-8", "replace")
        frame = found.frame or found.library_frame
        return ClosedTraceback(found.line, found.micros, f"{text} (in {frame})" if frame else text)

    def expired(self, line: int) -> list[ClosedTraceback]:
        """Those given up at this line."""
        old = [writers for writers, found in self.open.items() if found.until <= line]
        return [self._cut(writers) for writers in old]

    def rest(self) -> list[ClosedTraceback]:
        """All that are open, as far as they go."""
        return [self._cut(writers) for writers in list(self.open)]

    def _cut(self, writers: bytes) -> ClosedTraceback:
        found = self.open.pop(writers)
        shown = f"traceback breaks off: {found.last}" if found.last else "traceback breaks off"
        return ClosedTraceback(found.line, found.micros, shown)

    def to_json(self) -> list[Any]:
        """The open ones, for a later reading."""
        return [[writers.decode("latin-1"), asdict(found)] for writers, found in self.open.items()]

    @classmethod
    def from_json(cls, data: list[Any]) -> Tracebacks:
        """What to_json() wrote."""
        return cls({writers.encode("latin-1"): OpenTraceback(**found) for writers, found in data})


def _remember_frame(found: OpenTraceback) -> None:
    """Keep the function of a `File "…", line n, in f` line."""
    match = _FRAME.search(found.last)
    if match is None:
        return
    path, line, function = match.groups()
    frame = f"{function}, {'/'.join(path.split('/')[-3:])}:{line}"
    if _LIBRARY.search(path):
        found.library_frame = frame
    else:
        found.frame = frame
