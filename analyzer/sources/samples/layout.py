"""What a dump format has to say of itself."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Protocol

from analyzer.sources.samples.sample import Samples, Split


class Layout(Protocol):
    """One dump format."""

    format: str  # "areal-rollouts"
    describes: str
    framework: str  # as in Facts
    files: re.Pattern[str]  # the path of a dump file below the dump's folder
    entries: re.Pattern[str]  # what lies in that folder, and nothing else does
    reads: str
    leaves: str
    tested: str

    def sniff(self, path: Path, head: bytes) -> bool:
        """Is this file one of mine? `head` is its first 64 KiB, unpacked."""

    def samples(self, path: Path, relative: str, offset: int, digest: hashlib._Hash) -> Samples:
        """The records of a file from `offset` on.

        `relative` is its path below the folder that holds the dump, that folder's name included;
        `digest` is that of the bytes before the offset.
        """

    def resumes(self, relative: str) -> bool:
        """Can such a file grow at its end and be read on from there?"""


_EVAL = re.compile(r"(?:^|[/_.-])(?:eval|val|valid|validation|test)(?:[/_.-]|\d|$)", re.IGNORECASE)


def split_of(relative: str) -> Split:
    """Training or evaluation, by the names of the folders and the file."""
    return "eval" if _EVAL.search(relative) else "train"


def number_in(text: str) -> int | None:
    """The last whole number in a name: the step that a file or a folder is named by."""
    found = re.findall(r"\d{1,12}", text)
    return int(found[-1]) if found else None
