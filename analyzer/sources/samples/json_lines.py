"""Records one a line, from any place of a file on, with what has been taken of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analyzer.sources.opening import CutArchiveError, open_log
from analyzer.sources.samples.sample import Sample, Taken

Parse = Callable[[dict[str, Any]], Sample | None]


@dataclass
class JsonLines:
    """The samples of a file of JSON lines from `offset` on; `digest`: of what lies before."""

    path: Path
    parse: Parse
    offset: int
    digest: hashlib._Hash

    def __post_init__(self) -> None:
        self._bad = 0
        self._first_bad: int | None = None

    def __iter__(self) -> Iterator[Sample]:
        for line in self._lines():
            sample = self._sample(line)
            if sample is not None:
                sample.offset, sample.bytes = self.offset, len(line)
                yield sample
            self.offset += len(line)

    @property
    def taken(self) -> Taken:
        """How far it has been read."""
        return Taken(self.offset, self.digest.digest(), self._bad, self._first_bad)

    def _sample(self, line: bytes) -> Sample | None:
        if line.isspace():
            return None
        record = _record(line)
        sample = self.parse(record) if record is not None else None
        if sample is None:
            self._bad += 1
            self._first_bad = self.offset if self._first_bad is None else self._first_bad
        return sample

    def _lines(self) -> Iterator[bytes]:
        """Whole lines; a last one without an end counts where it is a whole record."""
        rest = b""
        try:
            for block in open_log(self.path, self.offset).blocks():
                end = block.rfind(b"\n") + 1
                if not end:
                    rest += block
                    continue
                text = rest + block[:end]
                rest = block[end:]
                self.digest.update(text)
                for line in text[:-1].split(b"\n"):
                    yield line + b"\n"
        except CutArchiveError:
            return
        if rest and _record(rest) is not None:
            self.digest.update(rest)
            yield rest


def _record(line: bytes) -> dict[str, Any] | None:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def first_record(head: bytes) -> dict[str, Any] | None:
    """The first line of a file as a record; None where it is none or longer than the head."""
    return _record(head.partition(b"\n")[0])
