"""Logs of one run that hold the same lines: AReaL writes main.log and merged.log.

Two logs are compared by their marks, for AReaL the lines that announce a step. merged.log also
holds what the other workers wrote; main.log does not.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from analyzer.sources.opening import CutArchiveError, open_log
from analyzer.sources.same_run import Candidate

_MERGED = "merged.log"
_PREFERENCE = {"main.log": 0, _MERGED: 1}


@dataclass
class _Log:
    """A log and what it is compared by, read when it is asked for."""

    candidate: Candidate

    @property
    def relative(self) -> str:
        return self.candidate.source.relative

    @property
    def name(self) -> str:
        return self.candidate.source.path.name

    @property
    def marks(self) -> frozenset[bytes]:
        return self.candidate.kin.marks

    @cached_property
    def workers(self) -> bool:
        """Does it hold lines under the names of workers other than main?"""
        if not self.name.startswith(_MERGED):
            return False
        rest = b"\n"
        try:
            for block in open_log(self.candidate.source.path).blocks():
                text = rest + block
                stop = text.rfind(b"\n")
                if text.count(b"\n[", 0, stop) > text.count(b"\n[main]", 0, stop):
                    return True
                rest = text[stop:]
        except CutArchiveError:
            pass  # its reading will say so
        return False

    def has_lines_of(self, role: str) -> bool:
        """Does it hold lines under this worker's name?"""
        marked = f"\n[{role}]".encode()
        tail = b"\n"
        for block in open_log(self.candidate.source.path).blocks():
            text = tail + block
            if marked in text:
                return True
            tail = text[-len(marked) :]
        return False


def copies(candidates: list[Candidate]) -> dict[str, str]:
    """For each log whose content another of them holds, by its relative path, which one."""
    left: dict[str, str] = {}
    kept: list[_Log] = []
    logs = [_Log(candidate) for candidate in candidates]
    for log in sorted(logs, key=_preference) if len(logs) > 1 else []:
        twin = next((other for other in kept if _overlap(log, other)), None)
        if twin is None or (log.workers and not log.marks >= twin.marks):
            kept.append(log)
        elif log.marks >= twin.marks and (log.workers or log.marks > twin.marks):
            kept[kept.index(twin)] = log
            left[twin.relative] = f"its lines are in {log.relative}"
        elif log.marks == twin.marks and (log.marks or log.name == _MERGED):
            left[log.relative] = f"same content as {twin.relative}"
        else:
            left[log.relative] = f"its lines are in {twin.relative}"
    return left


def _preference(log: _Log) -> tuple[int, str]:
    return _PREFERENCE.get(log.name, 2), log.relative


def _overlap(log: _Log, other: _Log) -> bool:
    """Does one of the two hold all that the other does?"""
    if log.marks and other.marks:
        return log.marks <= other.marks or other.marks <= log.marks
    if log.candidate.source.path.parent != other.candidate.source.path.parent:
        return False
    if {log.name, other.name} == {"main.log", _MERGED}:
        return True  # a start that reached no step
    merged = log if log.name == _MERGED else other
    worker = other if merged is log else log
    return merged.name == _MERGED and merged.has_lines_of(worker.name.split(".")[0])
