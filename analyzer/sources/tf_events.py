"""TensorBoard's Event messages, read from the protobuf wire format.

Field numbers are those of tensorflow/core/util/event.proto, framework/summary.proto and
framework/tensor.proto.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_SCALAR_PLUGINS = ("", "scalars")

# Tensor.dtype → NumPy type of its bytes, the field of its unpacked values and their wire type.
_FLOAT, _HALF, _BFLOAT16 = 1, 19, 14
_DTYPES: dict[int, tuple[str, int, int]] = {
    _FLOAT: ("<f4", 5, _FIXED32),
    2: ("<f8", 6, _FIXED64),
    3: ("<i4", 7, _VARINT),
    4: ("<u1", 7, _VARINT),
    5: ("<i2", 7, _VARINT),
    6: ("<i1", 7, _VARINT),
    9: ("<i8", 10, _VARINT),
    10: ("?", 11, _VARINT),
    _BFLOAT16: ("<u2", 13, _VARINT),
    17: ("<u2", 7, _VARINT),
    _HALF: ("<f2", 13, _VARINT),
    22: ("<u4", 16, _VARINT),
    23: ("<u8", 17, _VARINT),
}


class WireError(ValueError):
    """Bytes that are no protobuf message."""


@dataclass(frozen=True, slots=True)
class Value:
    """One summary value; `number` is None for what is not a scalar."""

    tag: bytes
    number: float | None
    is_tensor: bool  # what kind only the first value of its tag says


@dataclass(frozen=True, slots=True)
class Event:
    """One record of an event file."""

    wall_time: float
    step: int
    values: tuple[Value, ...]


def parse_event(data: bytes) -> Event:
    """The event that a record holds. Raises WireError for bytes that are none."""
    wall_time, step, values = 0.0, 0, []
    for number, wire, value in _fields(data):
        if number == 1 and wire == _FIXED64:
            wall_time = struct.unpack("<d", _raw(value))[0]
        elif number == 2 and wire == _VARINT:
            step = _signed(_int(value))
        elif number == 5 and wire == _BYTES:
            values += [
                _parse_value(_raw(inner))
                for n, w, inner in _fields(_raw(value))
                if (n, w) == (1, 2)
            ]
    return Event(wall_time, step, tuple(values))


def _parse_value(data: bytes) -> Value:
    tag, number, plugin, is_tensor = b"", None, "", False
    for field, wire, value in _fields(data):
        if field == 1 and wire == _BYTES:
            tag = _raw(value)
        elif field == 2 and wire == _FIXED32:
            number = float(struct.unpack("<f", _raw(value))[0])
        elif field == 8 and wire == _BYTES:
            number, is_tensor = _tensor_scalar(_raw(value)), True
        elif field == 9 and wire == _BYTES:
            plugin = _plugin(_raw(value))
    return Value(tag, number if plugin in _SCALAR_PLUGINS else None, is_tensor)


def _plugin(metadata: bytes) -> str:
    for number, wire, value in _fields(metadata):
        if number == 1 and wire == _BYTES:
            for inner, kind, name in _fields(_raw(value)):
                if inner == 1 and kind == _BYTES:
                    return _raw(name).decode("utf-8", "replace")
    return ""


def _tensor_scalar(data: bytes) -> float | None:
    """The number in a tensor of one element; None for other tensors."""
    dtype, content, shape = 0, b"", b""
    listed: dict[int, list[bytes | int]] = {}
    for number, wire, value in _fields(data):
        if number == 1 and wire == _VARINT:
            dtype = _int(value)
        elif number == 2 and wire == _BYTES:
            shape = _raw(value)
        elif number == 4 and wire == _BYTES:
            content = _raw(value)
        else:
            listed.setdefault(number, []).append(value)
    if dtype not in _DTYPES or not _is_single(shape):
        return None
    kind, field, wire = _DTYPES[dtype]
    if content:
        return _from_bytes(content, kind, dtype)
    return _from_list(listed.get(field, []), kind, wire, dtype)


def _is_single(shape: bytes) -> bool:
    """Does a shape have one element? Its dimensions are in field 2, their sizes in field 1."""
    for number, wire, dimension in _fields(shape):
        if number == 2 and wire == _BYTES:
            sizes = [
                _int(size) for n, w, size in _fields(_raw(dimension)) if (n, w) == (1, _VARINT)
            ]
            if sizes != [1]:
                return False
    return True


def _from_bytes(content: bytes, kind: str, dtype: int) -> float | None:
    numbers = np.frombuffer(content, kind) if len(content) == np.dtype(kind).itemsize else None
    if numbers is None:
        return None
    return _brain_float(int(numbers[0])) if dtype == _BFLOAT16 else float(numbers[0])


def _from_list(found: list[bytes | int], kind: str, wire: int, dtype: int) -> float | None:
    """A value of its own, or the only one of a packed list."""
    if len(found) != 1:
        return 0.0 if not found else None  # protobuf leaves a default value out
    value = found[0]
    if wire in (_FIXED32, _FIXED64):
        return _from_bytes(_raw(value), kind, dtype)
    number = value if isinstance(value, int) else _read_varint(value, 0)[0]
    if dtype in (_HALF, _BFLOAT16):
        return _from_bytes((number & 0xFFFF).to_bytes(2, "little"), kind, dtype)
    return float(_signed(number)) if kind[1:2] == "i" else float(number)


def _brain_float(bits: int) -> float:
    """bfloat16 is the upper half of a float32."""
    return float(np.array([bits << 16], np.uint32).view(np.float32)[0])


def _fields(data: bytes) -> Iterator[tuple[int, int, bytes | int]]:
    """Field number, wire type and value of each field of a message."""
    position, end = 0, len(data)
    while position < end:
        key, position = _read_varint(data, position)
        wire = key & 7
        if wire == _VARINT:
            number, position = _read_varint(data, position)
            yield key >> 3, wire, number
            continue
        if wire == _BYTES:
            length, position = _read_varint(data, position)
        elif wire in (_FIXED64, _FIXED32):
            length = 8 if wire == _FIXED64 else 4
        else:
            raise WireError(f"wire type {wire}")
        if position + length > end:
            raise WireError("a field ends after its message")
        yield key >> 3, wire, data[position : position + length]
        position += length


def _read_varint(data: bytes, position: int) -> tuple[int, int]:
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


def _signed(number: int) -> int:
    number &= (1 << 64) - 1
    return number - (1 << 64) if number >> 63 else number


def _raw(value: bytes | int) -> bytes:
    if isinstance(value, int):
        raise WireError("a number where bytes belong")
    return value


def _int(value: bytes | int) -> int:
    if isinstance(value, bytes):
        raise WireError("bytes where a number belongs")
    return value
