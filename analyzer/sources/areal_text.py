"""AReaL's text log: main.log, merged.log, a worker's log, the output of a console or container."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from analyzer.sources.areal_lines import RECORD_ANYWHERE
from analyzer.sources.areal_marks import kin_of
from analyzer.sources.areal_scan import Scan
from analyzer.sources.opening import open_log, read_head
from analyzer.sources.records import Kin, Reading, Resume, Role
from analyzer.sources.text_stream import read_log, read_text

_DEEP_HEAD = 1 << 20  # a container prints pip's output before AReaL says anything
_MARK = re.compile(rb"\(AReaL\)|StatsLogger INFO: |(?i:\bareal\b)")


class ArealText:
    """The reader of AReaL's text logs; values carry the five digits of its tables."""

    format = "areal-text"
    describes = "AReaL text log (main.log, merged.log, console or container output)"
    digits = 5
    appends = True
    role: Role = "log"
    reads = "metric tables, steps and attempts, errors and other events, names, version"
    leaves = "lines that are neither"
    tested = "AReaL 2025-11 to 2026-08"

    def sniff(self, path: Path, head: bytes) -> bool:
        """Does the text hold lines of AReaL's logging, and AReaL's name?"""
        if self.sniff_text(head):
            return True
        deep = b"\0" not in head and b"areal" in head.lower()
        return deep and self.sniff_text(read_head(path, _DEEP_HEAD))

    def sniff_text(self, head: bytes) -> bool:
        """Does the text hold lines of AReaL's logging, and AReaL's name?"""
        return b"\0" not in head and bool(RECORD_ANYWHERE.search(head) and _MARK.search(head))

    def kin(self, path: Path) -> Kin:
        """The lines that announce a step."""
        return kin_of(path)

    def read(self, path: Path, resume: Resume | None = None) -> Reading:
        """Metric rows of the tables, then the events.

        Raises RunError when the file cannot be read.
        """
        log = open_log(path, resume.offset if resume else 0)
        return read_log(log, Scan.from_json(resume.state) if resume else Scan(), resume)

    def read_text(self, blocks: Iterator[bytes]) -> Reading:
        """The same of a text that is no file."""
        return read_text(blocks, Scan())
