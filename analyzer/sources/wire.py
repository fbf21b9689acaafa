"""Protobuf's wire format: the fields of a message, without knowing what they mean.

https://protobuf.dev/programming-guides/encoding/
"""

from __future__ import annotations

from collections.abc import Iterator

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5


class WireError(ValueError):
    """Bytes that are no protobuf message."""


def fields(data: bytes) -> Iterator[tuple[int, int, bytes | int]]:
    """Field number, wire type and value of each field of a message. Raises WireError."""
    position, end = 0, len(data)
    while position < end:
        key, position = read_varint(data, position)
        wire = key & 7
        if wire == VARINT:
            number, position = read_varint(data, position)
            yield key >> 3, wire, number
            continue
        if wire == BYTES:
            length, position = read_varint(data, position)
        elif wire in (FIXED64, FIXED32):
            length = 8 if wire == FIXED64 else 4
        else:
            raise WireError(f"wire type {wire}")
        if position + length > end:
            raise WireError("a field ends after its message")
        yield key >> 3, wire, data[position : position + length]
        position += length


def read_varint(data: bytes, position: int) -> tuple[int, int]:
    """The number that begins there and where it ends. Raises WireError."""
    number, shift = 0, 0
    while True:
        if position >= len(data) or shift > 63:
            raise WireError("a number does not end")
        byte = data[position]
        position += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number, position
        shift += 7


def signed(number: int) -> int:
    """The number as 64-bit two's complement."""
    number &= (1 << 64) - 1
    return number - (1 << 64) if number >> 63 else number


def as_bytes(value: bytes | int) -> bytes:
    """The bytes of a field. Raises WireError where it is a number."""
    if isinstance(value, int):
        raise WireError("a number where bytes belong")
    return value


def as_int(value: bytes | int) -> int:
    """The number of a field. Raises WireError where it is bytes."""
    if isinstance(value, bytes):
        raise WireError("bytes where a number belongs")
    return value
