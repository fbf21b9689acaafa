"""LevelDB's log format, in which Weights & Biases and SwanLab keep a run's records.

After a header of seven bytes the file is cut into blocks of 32 KiB. A record lies in one block, or
in fragments that go on in the next: `uint32 crc, uint16 length, uint8 kind, data`, little-endian,
the checksum being zlib's CRC-32 of kind and data. The last bytes of a block, too few for a header,
are zeros. https://github.com/google/leveldb/blob/main/doc/log_format.md
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field

from analyzer.sources.records import Note

FILE_HEADER = 7
_BLOCK = 32_768
_HEADER = struct.Struct("<IHB")
_FULL, _FIRST, _MIDDLE, _LAST = 1, 2, 3, 4
_SEEDS = {kind: zlib.crc32(bytes([kind])) for kind in (_FULL, _FIRST, _MIDDLE, _LAST)}
_MOST_NOTES = 50


@dataclass
class BlockLog:
    """Walks over the bytes of a file; where it stands and what it met are kept in its fields."""

    offset: int = FILE_HEADER  # of the file: all records before it have been handed on
    count: int = 0  # of these records
    notes: list[Note] = field(default_factory=list)
    _zeros: int = 0  # bytes
    _damages: int = 0
    _held: list[bytes] = field(default_factory=list)  # fragments of a record that goes on

    def records(self, blocks: Iterator[bytes]) -> Iterator[bytes]:
        """The records from `offset` on, given the bytes from there on.

        A record whose checksum is wrong is left out with a note, and so is what the file's end
        cuts off.
        """
        place = self.offset
        rest = b""
        for block in blocks:
            data = rest + block
            used = 0
            while (step := self._fragment(data, used, place + used)) is not None:
                size, kind, body = step
                used += size
                if kind in (_FULL, _FIRST):
                    self._drop_held(place + used)
                if kind == _FULL or (kind == _LAST and self._held):
                    self.offset, self.count = place + used, self.count + 1
                    yield body if kind == _FULL else b"".join([*self._held, body])
                    self._held = []
                elif kind == _FIRST or (kind == _MIDDLE and self._held):
                    self._held.append(body)
            place += used
            rest = data[used:]
        self._end(rest)

    def _fragment(self, data: bytes, used: int, place: int) -> tuple[int, int, bytes] | None:
        """Bytes taken, kind (0: nothing) and data of what begins here; None: more is needed."""
        left = _BLOCK - place % _BLOCK
        if left < _HEADER.size:
            return (left, 0, b"") if len(data) - used >= left else None
        if len(data) - used < _HEADER.size:
            return None
        crc, length, kind = _HEADER.unpack_from(data, used)
        stop = used + _HEADER.size + length
        if kind not in _SEEDS or _HEADER.size + length > left:
            if len(data) - used < left:
                return None
            self._tell_gap(data[used : used + left], place)
            return left, 0, b""
        if len(data) < stop:
            return None
        body = data[used + _HEADER.size : stop]
        if zlib.crc32(body, _SEEDS[kind]) != crc:
            self._damage("its data does not fit its checksum, it is skipped", place)
            return stop - used, 0, b""
        return stop - used, kind, body

    def _tell_gap(self, data: bytes, place: int) -> None:
        if data.count(0) == len(data):
            self._zeros += len(data)
        else:
            self._damage("no record begins here, the rest of its block is skipped", place)

    def _drop_held(self, place: int) -> None:
        if self._held:
            self._held = []
            self._damage("a record before it does not end", place)

    def _damage(self, what: str, place: int) -> None:
        self._held = []
        self._tell("bad-checksum", f"byte {place}: {what}")

    def _tell(self, kind: str, detail: str) -> None:
        self._damages += 1
        if self._damages < _MOST_NOTES:
            self.notes.append(Note(kind, detail, line=self.count + 1))
        elif self._damages == _MOST_NOTES:
            self.notes.append(Note(kind, f"{detail}; more are not listed", line=self.count + 1))

    def _end(self, rest: bytes) -> None:
        if rest and rest.count(0) == len(rest):
            self._zeros, rest = self._zeros + len(rest), b""
        if rest or self._held:
            detail = f"record {self.count + 1} at byte {self.offset} breaks off: the file ends"
            self._tell("cut-record", detail)
        if self._zeros:
            self._tell("zero-filled", f"{self._zeros} zero bytes where records should be")
        self._held = []


def without_header(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """The bytes of a file behind its header."""
    first = next(blocks, b"")
    yield first[FILE_HEADER:]
    yield from blocks
