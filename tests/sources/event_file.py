"""TensorBoard event files, written byte by byte from the format's description."""

from __future__ import annotations

import struct

import google_crc32c


def varint(number: int) -> bytes:
    """Base-128, the lowest seven bits first; negative numbers as 64-bit two's complement."""
    number &= (1 << 64) - 1
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def message(number: int, data: bytes) -> bytes:
    """A length-delimited field."""
    return varint(number << 3 | 2) + varint(len(data)) + data


def integer(number: int, value: int) -> bytes:
    """A varint field."""
    return varint(number << 3) + varint(value)


def double(number: int, value: float) -> bytes:
    """A 64-bit field."""
    return varint(number << 3 | 1) + struct.pack("<d", value)


def single(number: int, value: float) -> bytes:
    """A 32-bit field."""
    return varint(number << 3 | 5) + struct.pack("<f", value)


def checksum(data: bytes) -> bytes:
    """CRC-32C, rotated and shifted as the format wants it."""
    crc = google_crc32c.value(data)
    return struct.pack("<I", (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF)


def record(data: bytes) -> bytes:
    """A framed record."""
    length = struct.pack("<Q", len(data))
    return length + checksum(length) + data + checksum(data)


def event(wall: float, step: int, *values: bytes) -> bytes:
    """A framed event with summary values; step 0 is left out, as protobuf leaves out defaults."""
    summary = b"".join(message(1, value) for value in values)
    return record(double(1, wall) + (integer(2, step) if step else b"") + message(5, summary))


def simple(tag: str, value: float) -> bytes:
    """A summary value with a simple_value."""
    return message(1, tag.encode()) + single(2, value)


def scalar(wall: float, step: int, tag: str, value: float) -> bytes:
    """An event as SummaryWriter.add_scalar writes it."""
    return event(wall, step, simple(tag, value))


def tensor(
    tag: str, dtype: int, body: bytes, plugin: str | None = None, shape: bytes = b""
) -> bytes:
    """A summary value with a tensor."""
    metadata = b"" if plugin is None else message(9, message(1, message(1, plugin.encode())))
    inner = integer(1, dtype) + message(2, shape) + body
    return message(1, tag.encode()) + metadata + message(8, inner)


VERSION = record(double(1, 1000.0) + message(3, b"brain.Event:2"))
