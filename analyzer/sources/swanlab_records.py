"""The records of a SwanLab run file, as far as they are read.

Version 1 of the file (SwanLab 0.6, 0.7) holds JSON objects, version 2 (0.10) protobuf messages with
the field numbers of swanlab/proto/swanlab/record/v1.
"""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, NamedTuple

from analyzer.sources.json_values import number_of
from analyzer.sources.wire import (
    BYTES,
    FIXED64,
    VARINT,
    WireError,
    as_bytes,
    as_int,
    fields,
    read_varint,
    signed,
)

_START, _FINISH, _COLUMN, _SCALAR, _LOG = 10, 11, 12, 13, 16
_DOUBLE = struct.Struct("<d")
_SYSTEM = 2  # of ColumnClass
_SYSTEM_PREFIX = "__swanlab__"
_RUN_STATES: dict[int, bool | None] = {1: True, 2: False, 3: False}


class Scalar(NamedTuple):
    """One value; None: no number."""

    key: str
    step: int
    value: float | None
    micros: int | None


@dataclass(frozen=True, slots=True)
class Named:
    """What a run file says of its run; None: nothing."""

    project: str | None = None
    name: str | None = None
    run_id: str | None = None


@dataclass(frozen=True, slots=True)
class Ended:
    """How the run ended."""

    finished: bool | None


@dataclass(frozen=True, slots=True)
class SystemColumn:
    """A key under which the client logs the machine's state."""

    key: str


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the console."""

    text: str


Record = Scalar | Named | Ended | SystemColumn | Line | Literal["other"]


def record_of(data: bytes) -> Record:
    """What a record says. Raises WireError for bytes that are none."""
    if data[:1] == b"{":
        return _from_json(data)
    return _usual_scalar(data) or _from_wire(data)


def _usual_scalar(data: bytes) -> Scalar | None:
    """A scalar as the client lays it out: what most records of a file are; None for all others.

    `08 <num> 12 <n> … 6a <n> 0a <n> <key> [10 <step>] 18 <type> 22 <n> <time> 2a 09 09 <8 bytes>`
    """
    try:
        place = 1
        while data[place] >= 0x80:
            place += 1
        place += 3 + data[place + 2]
        if data[0] != 0x08 or data[place] != 0x6A:
            return None
        place += 2 if data[place + 1] < 0x80 else 3
        key_at, place = place + 2, place + 2 + data[place + 1]
        if data[key_at - 2] != 0x0A or data[key_at - 1] >= 0x80:
            return None
        key = data[key_at:place].decode("utf-8", "replace")
        step = 0
        if data[place] == 0x10:
            step, place = read_varint(data, place + 1)
        if data[place] != 0x18 or data[place + 2] != 0x22 or data[place + 4] != 0x08:
            return None
        stop = place + 4 + data[place + 3]
        seconds, place = read_varint(data, place + 5)
        nanos = read_varint(data, place + 1)[0] if place < stop and data[place] == 0x10 else 0
        if data[stop : stop + 3] != b"\x2a\x09\x09" or stop + 11 != len(data):
            return None
    except (IndexError, WireError):
        return None
    (value,) = _DOUBLE.unpack_from(data, stop + 3)
    return Scalar(key, signed(step), value, signed(seconds) * 1_000_000 + nanos // 1000)


def _from_json(data: bytes) -> Record:
    try:
        record = json.loads(data)
        kind, body = record["model_type"], record["data"]
        if kind == "Scalar":
            metric = body["metric"]
            value = number_of(metric.get("data"))
            return Scalar(body["key"], int(body["step"]), value, _micros(metric["create_time"]))
        if kind == "Column" and body.get("cls") == "SYSTEM":
            return SystemColumn(body["key"])
        if kind == "Log":
            return Line(body["message"])
        if kind == "Project":
            return Named(project=body["name"])
        if kind == "Experiment":
            return Named(name=body["name"], run_id=body.get("id"))
        if kind == "Footer":
            return Ended(body.get("success"))
    except (ValueError, KeyError, TypeError, AttributeError) as cause:
        raise WireError(f"unknown record: {type(cause).__name__}") from cause
    return "other"


def _micros(time: str) -> int:
    return round(datetime.fromisoformat(time).timestamp() * 1e6)


def _from_wire(data: bytes) -> Record:
    for number, wire, value in fields(data):
        if wire != BYTES or number < _START:
            continue
        body = as_bytes(value)
        if number == _SCALAR:
            return _scalar(body)
        if number == _LOG:
            return Line(_texts(body).get(1, ""))
        if number == _COLUMN:
            return _column(body)
        if number == _START:
            texts = _texts(body)
            return Named(texts.get(1), texts.get(4), texts.get(10))
        if number == _FINISH:
            return Ended(_RUN_STATES.get(_numbers(body).get(1, 0)))
    return "other"


def _scalar(body: bytes) -> Scalar:
    key, step, number, micros = "", 0, None, None
    for field, wire, value in fields(body):
        if (field, wire) == (1, BYTES):
            key = as_bytes(value).decode("utf-8", "replace")
        elif (field, wire) == (2, VARINT):
            step = signed(as_int(value))
        elif (field, wire) == (4, BYTES):
            time = _numbers(as_bytes(value))
            micros = signed(time.get(1, 0)) * 1_000_000 + time.get(2, 0) // 1000
        elif (field, wire) == (5, BYTES):
            number = 0.0  # protobuf leaves a default value out
            for inner, kind, found in fields(as_bytes(value)):
                if (inner, kind) == (1, FIXED64):
                    number = _DOUBLE.unpack(as_bytes(found))[0]
    return Scalar(key, step, number, micros)


def _column(body: bytes) -> Record:
    if _numbers(body).get(1) == _SYSTEM:
        return SystemColumn(_texts(body).get(3, ""))
    return "other"


def _texts(body: bytes) -> dict[int, str]:
    return {n: as_bytes(v).decode("utf-8", "replace") for n, w, v in fields(body) if w == BYTES}


def _numbers(body: bytes) -> dict[int, int]:
    return {n: as_int(v) for n, w, v in fields(body) if w == VARINT}


def is_system(key: str) -> bool:
    """Is it a key of the client's own?"""
    return key.startswith(_SYSTEM_PREFIX)


def line_value(text: str | bytes) -> tuple[int, Any, int]:
    """Step, value and microseconds of a line of `logs/<column>/*.log`. Raises ValueError."""
    try:
        found = json.loads(text)
        return int(found["index"]), found["data"], _micros(found["create_time"])
    except (KeyError, TypeError) as cause:
        raise ValueError(type(cause).__name__) from cause
