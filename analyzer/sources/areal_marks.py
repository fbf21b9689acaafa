"""What an AReaL text log is known by: the lines that announce a step, with the process's own clock.

Whatever a worker, a rank or a container runtime puts before such a line is left out, so that
main.log, merged.log and a console's copy have the same marks.
"""

from __future__ import annotations

from pathlib import Path

from analyzer.sources.areal_lines import split_line
from analyzer.sources.opening import CutArchiveError, open_log, read_head
from analyzer.sources.records import Kin

_STEP = b"Train step "
_LAUNCH = b"Launcher: experiment_name="
_DEEP_HEAD = 1 << 20


def kin_of(log: Path) -> Kin:
    """The marks of a log; without any, whether it is that of a start which failed."""
    steps = _steps(log)
    return Kin(marks=steps, begins_run=bool(steps) or _begins_run(log))


def _steps(log: Path) -> frozenset[bytes]:
    steps: set[bytes] = set()
    rest = b"\n"
    try:
        for block in open_log(log).blocks():
            text = rest + block
            stop = text.rfind(b"\n")
            _add_steps(text, stop, steps)
            rest = text[stop:]
    except CutArchiveError:
        pass  # its reading will say so
    _add_steps(rest, len(rest), steps)
    return frozenset(steps)


def _add_steps(text: bytes, stop: int, steps: set[bytes]) -> None:
    found = text.find(_STEP, 0, stop)
    while found != -1:
        start = text.rfind(b"\n", 0, found) + 1
        end = text.find(b"\n", found)
        line = split_line(text[start : end if end != -1 else len(text)])
        steps.add(line.body.removeprefix(b"(AReaL) "))
        found = text.find(_STEP, found + len(_STEP), stop)


def _begins_run(log: Path) -> bool:
    """Is a log without steps that of a start which failed, and not of a worker beside others?"""
    if log.name.startswith(("main.log", "merged.log")) or (log.parent / "config.yaml").exists():
        return True
    return _LAUNCH in read_head(log, _DEEP_HEAD)
