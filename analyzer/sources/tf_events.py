"""TensorBoard's Event messages, read from the protobuf wire format.

Field numbers are those of tensorflow/core/util/event.proto, framework/summary.proto and
framework/tensor.proto.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

import numpy as np

from analyzer.sources.wire import (
    BYTES,
    FIXED32,
    FIXED64,
    VARINT,
    as_bytes,
    as_int,
    fields,
    read_varint,
    signed,
)

_SCALAR_PLUGINS = ("", "scalars")

# Tensor.dtype → NumPy type of its bytes, the field of its unpacked values and their wire type.
_FLOAT, _HALF, _BFLOAT16 = 1, 19, 14
_DTYPES: dict[int, tuple[str, int, int]] = {
    _FLOAT: ("<f4", 5, FIXED32),
    2: ("<f8", 6, FIXED64),
    3: ("<i4", 7, VARINT),
    4: ("<u1", 7, VARINT),
    5: ("<i2", 7, VARINT),
    6: ("<i1", 7, VARINT),
    9: ("<i8", 10, VARINT),
    10: ("?", 11, VARINT),
    _BFLOAT16: ("<u2", 13, VARINT),
    17: ("<u2", 7, VARINT),
    _HALF: ("<f2", 13, VARINT),
    22: ("<u4", 16, VARINT),
    23: ("<u8", 17, VARINT),
}


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
    for number, wire, value in fields(data):
        if number == 1 and wire == FIXED64:
            wall_time = struct.unpack("<d", as_bytes(value))[0]
        elif number == 2 and wire == VARINT:
            step = signed(as_int(value))
        elif number == 5 and wire == BYTES:
            values += [
                _parse_value(as_bytes(inner))
                for n, w, inner in fields(as_bytes(value))
                if (n, w) == (1, 2)
            ]
    return Event(wall_time, step, tuple(values))


def _parse_value(data: bytes) -> Value:
    tag, number, plugin, is_tensor = b"", None, "", False
    for field, wire, value in fields(data):
        if field == 1 and wire == BYTES:
            tag = as_bytes(value)
        elif field == 2 and wire == FIXED32:
            number = float(struct.unpack("<f", as_bytes(value))[0])
        elif field == 8 and wire == BYTES:
            number, is_tensor = _tensor_scalar(as_bytes(value)), True
        elif field == 9 and wire == BYTES:
            plugin = _plugin(as_bytes(value))
    return Value(tag, number if plugin in _SCALAR_PLUGINS else None, is_tensor)


def _plugin(metadata: bytes) -> str:
    for number, wire, value in fields(metadata):
        if number == 1 and wire == BYTES:
            for inner, kind, name in fields(as_bytes(value)):
                if inner == 1 and kind == BYTES:
                    return as_bytes(name).decode("utf-8", "replace")
    return ""


def _tensor_scalar(data: bytes) -> float | None:
    """The number in a tensor of one element; None for other tensors."""
    dtype, content, shape = 0, b"", b""
    listed: dict[int, list[bytes | int]] = {}
    for number, wire, value in fields(data):
        if number == 1 and wire == VARINT:
            dtype = as_int(value)
        elif number == 2 and wire == BYTES:
            shape = as_bytes(value)
        elif number == 4 and wire == BYTES:
            content = as_bytes(value)
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
    for number, wire, dimension in fields(shape):
        if number == 2 and wire == BYTES:
            sizes = [
                as_int(size) for n, w, size in fields(as_bytes(dimension)) if (n, w) == (1, VARINT)
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
    if wire in (FIXED32, FIXED64):
        return _from_bytes(as_bytes(value), kind, dtype)
    number = value if isinstance(value, int) else read_varint(value, 0)[0]
    if dtype in (_HALF, _BFLOAT16):
        return _from_bytes((number & 0xFFFF).to_bytes(2, "little"), kind, dtype)
    return float(signed(number)) if kind[1:2] == "i" else float(number)


def _brain_float(bits: int) -> float:
    """bfloat16 is the upper half of a float32."""
    return float(np.array([bits << 16], np.uint32).view(np.float32)[0])
