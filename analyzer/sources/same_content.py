"""Text logs of one run that hold the same lines: AReaL writes main.log and merged.log.

Two logs are compared by the lines that announce a step, with the process's own clock, whatever
stands before them. merged.log also holds what the other workers wrote; main.log does not.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from analyzer.sources.areal_lines import split_line
from analyzer.sources.opening import CutArchiveError, open_log

_STEP = b"Train step "
_MERGED = "merged.log"
_PREFERENCE = {"main.log": 0, _MERGED: 1}


@dataclass
class TextLog:
    """A text log and what it is compared by, read when it is asked for."""

    path: Path
    relative: str

    @cached_property
    def steps(self) -> frozenset[bytes]:
        """The lines that announce a step, without prefixes."""
        return self._scanned[0]

    @cached_property
    def workers(self) -> bool:
        """Does it hold lines under the names of workers other than main?"""
        return self._scanned[1]

    @cached_property
    def _scanned(self) -> tuple[frozenset[bytes], bool]:
        steps: set[bytes] = set()
        workers, rest = False, b"\n"
        try:
            for block in open_log(self.path).blocks():
                text = rest + block
                stop = text.rfind(b"\n")
                _add_steps(text, stop, steps)
                if self.path.name.startswith(_MERGED) and not workers:
                    named = text.count(b"\n[", 0, stop)
                    workers = named > text.count(b"\n[main]", 0, stop)
                rest = text[stop:]
        except CutArchiveError:
            pass  # its reading will say so
        _add_steps(rest, len(rest), steps)
        return frozenset(steps), workers

    def has_lines_of(self, role: str) -> bool:
        """Does it hold lines under this worker's name?"""
        marked = f"\n[{role}]".encode()
        tail = b"\n"
        for block in open_log(self.path).blocks():
            text = tail + block
            if marked in text:
                return True
            tail = text[-len(marked) :]
        return False


def _add_steps(text: bytes, stop: int, steps: set[bytes]) -> None:
    found = text.find(_STEP, 0, stop)
    while found != -1:
        start = text.rfind(b"\n", 0, found) + 1
        end = text.find(b"\n", found)
        line = split_line(text[start : end if end != -1 else len(text)])
        steps.add(line.body.removeprefix(b"(AReaL) "))
        found = text.find(_STEP, found + len(_STEP), stop)


def without_copies(logs: list[TextLog]) -> tuple[list[TextLog], dict[str, str]]:
    """The logs to read, and for each other one why it is left aside."""
    left: dict[str, str] = {}
    kept: list[TextLog] = []
    for log in sorted(logs, key=_preference) if len(logs) > 1 else []:
        twin = next((other for other in kept if _overlap(log, other)), None)
        if twin is None or (log.workers and not log.steps >= twin.steps):
            kept.append(log)
        elif log.steps >= twin.steps and (log.workers or log.steps > twin.steps):
            kept[kept.index(twin)] = log
            left[twin.relative] = f"its lines are in {log.relative}"
        elif log.steps == twin.steps and (log.steps or log.path.name == _MERGED):
            left[log.relative] = f"same content as {twin.relative}"
        else:
            left[log.relative] = f"its lines are in {twin.relative}"
    return (sorted(kept, key=lambda log: log.relative), left) if kept else (logs, left)


def _preference(log: TextLog) -> tuple[int, str]:
    return _PREFERENCE.get(log.path.name, 2), log.relative


def _overlap(log: TextLog, other: TextLog) -> bool:
    """Does one of the two hold all that the other does?"""
    if log.steps and other.steps:
        return log.steps <= other.steps or other.steps <= log.steps
    if log.path.parent != other.path.parent:
        return False
    names = {log.path.name, other.path.name}
    if names == {"main.log", _MERGED}:
        return True  # a start that reached no step
    merged = log if log.path.name == _MERGED else other
    worker = other if merged is log else log
    return merged.path.name == _MERGED and merged.has_lines_of(worker.path.name.split(".")[0])
