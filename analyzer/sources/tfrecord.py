"""TFRecord framing: length, its checksum, data, its checksum; read in blocks.

A record is `uint64 length, uint32 crc(length), data, uint32 crc(data)`, little-endian, with
CRC-32C rotated by 15 bits and shifted by a constant (tensorflow/core/lib/io/record_writer.h).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

import google_crc32c
import numpy as np
import numpy.typing as npt

Offsets = npt.NDArray[np.int64]

_HEADER = struct.Struct("<QI")
_HEADER_BYTES = 12
_FOOTER_BYTES = 4
_MASK_DELTA = 0xA282EAD8
_EMPTY_TOP = b"\0" * 5  # the upper bytes of any length below 16 MiB
_LONGEST_FOUND = 1 << 24  # of a record found again behind damage


def masked_crc(data: bytes) -> int:
    """The checksum as the format stores it."""
    crc: int = google_crc32c.value(data)
    return ((crc >> 15 | crc << 17) + _MASK_DELTA) & 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class Frames:
    """Good records of one stretch of a file."""

    data: bytes
    starts: Offsets  # of each record's data
    ends: Offsets
    numbers: Offsets  # which record of the file it is, from 1


@dataclass(frozen=True, slots=True)
class Damage:
    """Something wrong with a record."""

    kind: str  # bad-checksum, cut-record
    detail: str
    record: int


@dataclass
class Records:
    """Walks over blocks; where it stands and what it met are kept in its fields."""

    offset: int = 0  # bytes of the file that are done
    count: int = 0  # records in them
    damages: list[Damage] = field(default_factory=list)
    lost_at: int | None = None  # where the bytes began in which no record was found yet
    _lengths: dict[int, int] = field(default_factory=dict)  # length → its checksum

    @property
    def sound(self) -> int:
        """Bytes of the file that need not be looked at again when it has grown."""
        return self.offset if self.lost_at is None else self.lost_at

    def frames(self, blocks: Iterator[bytes]) -> Iterator[Frames]:
        """The good records, a stretch a block; damages are added as they are met."""
        rest = b""
        for block in blocks:
            data = rest + block
            frames, used = self._walk(data)
            rest = data[used:]
            self.offset += used
            if len(frames.starts):
                yield frames
        if rest or self.lost_at is not None:
            self._end()

    def _walk(self, data: bytes) -> tuple[Frames, int]:
        """The records of a stretch and how many bytes of it are done."""
        starts: list[int] = []
        ends: list[int] = []
        numbers: list[int] = []
        position, end = 0, len(data)
        while position + _HEADER_BYTES <= end:
            if self.lost_at is not None:
                found = _find_record(data, position)
                if found is None:
                    position = end - _HEADER_BYTES + 1
                    break
                self._find_again(self.lost_at, self.offset + found)
                position = found
            length, checksum = _HEADER.unpack_from(data, position)
            if self._lengths.get(length) != checksum:
                if masked_crc(data[position : position + 8]) != checksum:
                    self.lost_at = self.offset + position
                    position += 1
                    continue
                self._lengths[length] = checksum
            start = position + _HEADER_BYTES
            stop = start + length
            if stop + _FOOTER_BYTES > end:
                break
            self.count += 1
            starts.append(start)
            ends.append(stop)
            numbers.append(self.count)
            position = stop + _FOOTER_BYTES
        return self._checked(data, starts, ends, numbers), position

    def _checked(
        self, data: bytes, starts: list[int], ends: list[int], numbers: list[int]
    ) -> Frames:
        """Leave out the records whose data does not fit its checksum."""
        value = google_crc32c.value
        frames = Frames(data, _offsets(starts), _offsets(ends), _offsets(numbers))
        found = np.array(
            [value(data[a:b]) for a, b in zip(starts, ends, strict=True)], dtype=np.uint32
        )
        stored = gather(np.frombuffer(data, np.uint8), frames.ends, 4).view("<u4").ravel()
        plain = stored - np.uint32(_MASK_DELTA)
        good = (plain >> np.uint32(17) | plain << np.uint32(15)) == found
        if good.all():
            return frames
        for index in np.flatnonzero(~good):
            place = self.offset + starts[index] - _HEADER_BYTES
            self._tell(numbers[index], place, "its data does not fit its checksum, it is skipped")
        return Frames(data, frames.starts[good], frames.ends[good], frames.numbers[good])

    def _find_again(self, lost_at: int, found: int) -> None:
        what = f"its length does not fit its checksum, {found - lost_at} bytes are skipped"
        self.count += 1
        self._tell(self.count, lost_at, what)
        self.lost_at = None

    def _end(self) -> None:
        """The file ends within a record, or in bytes in which none begins."""
        number = self.count + 1
        if self.lost_at is not None:
            what = "its length does not fit its checksum, nothing after it can be read"
            self._tell(number, self.lost_at, what)
            return
        detail = f"record {number} at byte {self.offset} breaks off: the file ends"
        self.damages.append(Damage("cut-record", detail, number))

    def _tell(self, number: int, place: int, what: str) -> None:
        self.damages.append(
            Damage("bad-checksum", f"record {number} at byte {place}: {what}", number)
        )


def gather(data: npt.NDArray[np.uint8], starts: Offsets, width: int) -> npt.NDArray[np.uint8]:
    """`width` bytes from each start, as rows."""
    return np.ascontiguousarray(data[starts[:, None] + np.arange(width)])


def _offsets(numbers: list[int]) -> Offsets:
    return np.array(numbers, dtype=np.int64)


def _find_record(data: bytes, position: int) -> int | None:
    """Where the next sound header after a damaged one begins."""
    zeros = data.find(_EMPTY_TOP, position)
    while zeros != -1:
        for start in range(max(position, zeros - 3), zeros):
            if start + _HEADER_BYTES > len(data):
                break
            length, checksum = _HEADER.unpack_from(data, start)
            if length < _LONGEST_FOUND and masked_crc(data[start : start + 8]) == checksum:
                return start
        zeros = data.find(_EMPTY_TOP, zeros + 1)
    return None
