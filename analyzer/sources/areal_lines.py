"""The beginning of a line of an AReaL log: who wrote it, when, at which level.

AReaL writes `(AReaL) 20251112-20:32:41.821 StatsLogger INFO: …`, in colours or not; merged.log
puts `[main]    ` or another worker's name before it, a container runtime its own UTC time, Ray
`(Worker pid=12)` and torch `[rank0]: `. Older versions write no `(AReaL)`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

_ANSI = re.compile(rb"\x1b\[[0-9;]*[A-Za-z]")
_OUTER = re.compile(
    rb"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)) (?:std(?:out|err) [FP] )?"
)
_WORKER = re.compile(rb"\[[A-Za-z][\w./-]*\]:? *|\([\w.:-]{1,60} pid=\d+[^()\n]{0,60}\) ")
_RECORD = re.compile(
    rb"(?:\(AReaL\) )?(\d{8}-\d\d:\d\d:\d\d\.\d{3}) (.{1,160}?) "
    rb"(DEBUG|INFO|WARNING|ERROR|CRITICAL):(?: (.*))?$",
    re.DOTALL,
)

_FRACTION = re.compile(r"\.(\d+)")

# A record of AReaL's logging anywhere in a text: what a file of this format is known by.
RECORD_ANYWHERE = re.compile(
    rb"\d{8}-\d\d:\d\d:\d\d\.\d{3} [^\n]{1,160}? (?:DEBUG|INFO|WARNING|ERROR|CRITICAL):"
)


@dataclass(frozen=True, slots=True)
class Line:
    """A line without colours, taken apart at its prefixes."""

    outer: bytes | None  # the container runtime's time
    writers: bytes  # the worker and rank prefixes as they stand, b"" where there are none
    body: bytes


@dataclass(frozen=True, slots=True)
class Record:
    """A line that AReaL's logging wrote."""

    clock: bytes  # local time of the process
    logger: str
    level: str
    message: str


def split_line(raw: bytes) -> Line:
    """Take a raw line (no newline) apart."""
    text = raw.rstrip(b"\r")
    if b"\x1b" in text:
        text = _ANSI.sub(b"", text)
    outer = None
    if text[:2] == b"20" and (match := _OUTER.match(text)):
        outer = match[1]
        text = text[match.end() :]
    if b"\r" in text:  # a progress bar draws over itself: what it shows last counts
        text = text[text.rindex(b"\r") + 1 :]
    start = 0
    for _ in range(2):  # a worker's name, and a rank or a Ray actor behind it
        match = _WORKER.match(text, start) if text[start : start + 1] in (b"[", b"(") else None
        if match is None:
            break
        start = match.end()
    return Line(outer, text[:start].rstrip(), text[start:])


def record_of(body: bytes) -> Record | None:
    """The parts of a line of AReaL's logging; None for any other line."""
    match = _RECORD.match(body)
    if match is None:
        return None
    return Record(match[1], _text(match[2]), match[3].decode(), _text(match[4] or b""))


def outer_micros(outer: bytes) -> int:
    """Microseconds since 1970 of a container runtime's time, which knows its zone."""
    seconds, rest = outer[:19].decode(), outer[19:].decode()
    fraction = _FRACTION.match(rest)
    zone = rest[fraction.end() :] if fraction else rest
    moment = datetime.fromisoformat(seconds + ("+00:00" if zone == "Z" else zone))
    micros = int((fraction[1] + "000000")[:6]) if fraction else 0
    return int(moment.timestamp()) * 1_000_000 + micros


def clock_micros(clock: bytes) -> int | None:
    """Microseconds of a process's local clock, read as if it were UTC; None for 31 February."""
    text = clock.decode()
    try:
        moment = datetime.fromisoformat(f"{text[:8]}T{text[9:]}+00:00")
    except ValueError:
        return None
    return int(moment.timestamp()) * 1_000_000 + moment.microsecond


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace").strip()
