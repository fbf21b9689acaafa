"""Which lines of a console text are events, and what they say.

A line counts when its writer marked it (WARNING, ERROR, CRITICAL, glog's W and E, Python's
`SomeWarning:`), or when it is one of the few unmarked lines that end a run: CUDA errors, memory,
signals. Of the unmarked rest only milestones of AReaL are kept, at level INFO.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from analyzer.sources.areal_lines import record_of

CONSOLE = "console"  # the logger of a line that names none
TRACEBACK = b"Traceback (most recent call last):"

# Every event, milestone, step and version has one of these; what has none is passed over. All
# begin with a literal that is rare in a log, which is what makes the search fast.
_NEEDLES: tuple[bytes, ...] = (
    rb"WARNING",
    rb"ERROR",
    rb"CRITICAL",
    rb"Traceback \(most",
    rb"Warning: ",
    rb"Killed",
    rb"SIG[A-Z]",
    rb"Out ?[oO]f ?[mM]emory",
    rb"A out of memory",  # CUDA
    rb"P out of memory",  # HIP
    rb"U out of memory",  # NPU, XPU, GPU
    rb"NCCL WARN",
    rb"CUDA error",
    rb"C\d{3,4} \d\d:",
    rb"E\d{3,4} \d\d:",
    rb"F\d{3,4} \d\d:",
    rb"W\d{3,4} \d\d:",
    rb"Watchdog caught",
    rb"Segmentation fault",
    rb"No space left",
    rb"Train step ",
    rb"Stats \(",
    rb"Training completes",
    rb"Recover",
    rb"Launcher: experiment_name=",
    rb"PPOActor INFO",
    rb"Initializing CUDA platform",
    rb"\(from areal==",
    rb"Successfully installed",
)
ANY_NEEDLE = re.compile(b"|".join(_NEEDLES))

_MARKED = frozenset({"WARNING", "ERROR", "CRITICAL"})
_MILESTONE = re.compile(r"Training completes!|Recover(?:ed|ing) from |Launcher: experiment_name=")
_FATAL = re.compile(
    r"[Oo]ut of memory|OutOfMemory|oom-kill|CUDA error|NCCL WARN|Watchdog caught|Segmentation fault"
    r"|No space left on device|\bSIG(?:TERM|KILL|SEGV|ABRT|BUS|INT)\b"
)
_KILLED = re.compile(r"(?:\S+: line \d+: +\d+ )?Killed\b(?! [a-z])|.*: Killed process \d+")

# Torch pads the month of 1 to 9 with nothing: E321 is 21 March.
_GLOG = re.compile(
    rb"\[?([IWEFC])\d{3,4} \d\d:\d\d:\d\d\.\d+ +(?:\d+ +)?([\w./-]+):\d+\] ?(.*)", re.S
)
_GLOG_LEVELS = {"W": "WARNING", "E": "ERROR", "F": "CRITICAL", "C": "CRITICAL"}
_PYTHON = re.compile(rb"(?:<[^>\n]{1,80}>|[^\s:<][^:\n]{0,300}):\d+: \w{0,60}Warning: ")
_NAMED = re.compile(rb"([\w.-]{1,40}): (WARNING|ERROR|CRITICAL)[: ] *(.*)", re.S)
_LEADING = re.compile(rb"\[?(WARNING|ERROR|CRITICAL)(?:\]|(?::([\w.]+))?:|(?= )) *(.*)", re.S)
_DATED = re.compile(
    rb"[\[(]?\d{4}[-/]\d\d[-/]\d\d[ T]\d\d:\d\d:\d\d[^ \])]*[\])]?(.{0,120}?)"
    rb"\b(WARNING|ERROR|CRITICAL)\b[\])]?[ :|-]*(.*)",
    re.S,
)
_QUIET = re.compile(rb"\b(?:INFO|DEBUG)\b")


@dataclass(frozen=True, slots=True)
class Found:
    """An event as its line tells it."""

    level: str
    logger: str
    message: str
    clock: bytes | None = None  # local time of the process


def event_of(body: bytes) -> Found | None:
    """The event that a line without prefixes is; None for all others.

    Steps and tracebacks are not judged here.
    """
    record = record_of(body)
    if record is not None:
        keep = record.level in _MARKED or _is_told(record.logger, record.message)
        return Found(record.level, record.logger, record.message, record.clock) if keep else None
    if match := _GLOG.match(body):
        level = _GLOG_LEVELS.get(match[1].decode())
        return Found(level, match[2].decode(), _text(match[3])) if level else None
    if _PYTHON.match(body):
        return Found("WARNING", "python", _text(body))
    return _other_logger(body) or _fatal(body)


def _is_told(logger: str, message: str) -> bool:
    """Is a line at INFO a milestone, or does it tell of a signal or of memory?"""
    if logger == "PPOActor":
        return bool(message.strip("= "))
    return bool(_MILESTONE.search(message) or _FATAL.search(message))


def _other_logger(body: bytes) -> Found | None:
    """Lines of wandb, pip, vLLM, Python's own logging …"""
    if match := _NAMED.match(body):
        return Found(match[2].decode(), match[1].decode(), _text(match[3]))
    if match := _LEADING.match(body):
        return Found(match[1].decode(), (match[2] or CONSOLE.encode()).decode(), _text(match[3]))
    match = _DATED.match(body)
    if match is None or _QUIET.search(match[1]):
        return None
    words = re.findall(r"[A-Za-z_][\w.]*", match[1].decode("utf-8", "replace"))
    return Found(match[2].decode(), words[-1] if words else CONSOLE, _text(match[3]))


def _fatal(body: bytes) -> Found | None:
    text = _text(body)
    if _KILLED.match(text) or _FATAL.search(text):
        return Found("ERROR", CONSOLE, text)
    return None


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace").strip()
