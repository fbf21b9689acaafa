"""The records of a Weights & Biases run file, as far as they are read.

Field numbers are those of wandb/proto/wandb_internal.proto. History makes up most of a file, so
its items are taken apart in place: a key or the parts of a nested one, then the value as JSON.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from analyzer.sources.json_values import numbers_in
from analyzer.sources.series_rows import SeriesRows
from analyzer.sources.wire import (
    BYTES,
    VARINT,
    WireError,
    as_bytes,
    as_int,
    fields,
    read_varint,
    signed,
)

HISTORY, SUMMARY, OUTPUT, CONFIG, STATS = 2, 3, 4, 5, 7
OUTPUT_RAW, RUN, EXIT, HEADER = 13, 17, 18, 21
_KINDS = frozenset([HISTORY, SUMMARY, OUTPUT, CONFIG, STATS, OUTPUT_RAW, RUN, EXIT, HEADER])
_KEY, _NESTED_KEY, _VALUE = 1, 2, 16
_STEP, _TIMESTAMP, _RUNTIME, _WANDB = -1, -2, -3, -4
_OWN = {"_step": _STEP, "_timestamp": _TIMESTAMP, "_runtime": _RUNTIME, "_wandb": _WANDB}


def record_of(data: bytes) -> tuple[int, bytes] | None:
    """Kind and body of a record; None for kinds that are not read. Raises WireError."""
    for number, wire, value in fields(data):
        if wire == BYTES and number in _KINDS:
            return number, as_bytes(value)
    return None


@dataclass(frozen=True, slots=True)
class RunInfo:
    """Who a run is, and the configuration that it began with."""

    run_id: str
    project: str
    display_name: str
    starting_step: int
    start_time: float | None  # seconds since 1970
    config: bytes | None  # a config record


def run_of(body: bytes) -> RunInfo:
    """What a run record says. Raises WireError."""
    texts = {1: "", 3: "", 8: ""}
    config, step, started = None, 0, None
    for number, wire, value in fields(body):
        if wire == BYTES and number in texts:
            texts[number] = as_bytes(value).decode("utf-8", "replace")
        elif (number, wire) == (4, BYTES):
            config = as_bytes(value)
        elif (number, wire) == (14, VARINT):
            step = signed(as_int(value))
        elif (number, wire) == (17, BYTES):
            started = seconds_of(as_bytes(value))
    return RunInfo(texts[1], texts[3], texts[8], step, started, config)


def seconds_of(timestamp: bytes) -> float:
    """Seconds since 1970 of a google.protobuf.Timestamp. Raises WireError."""
    parts = {number: as_int(value) for number, wire, value in fields(timestamp) if wire == VARINT}
    return signed(parts.get(1, 0)) + signed(parts.get(2, 0)) / 1e9


def exit_code_of(body: bytes) -> int:
    """The exit code of a run that ended. Raises WireError."""
    codes = [as_int(value) for number, wire, value in fields(body) if (number, wire) == (1, VARINT)]
    return signed(codes[-1]) if codes else 0


def producer_of(body: bytes) -> str | None:
    """The version of the client that wrote the file, as "0.19.7". Raises WireError."""
    for number, wire, value in fields(body):
        if (number, wire) == (1, BYTES):
            for inner, kind, text in fields(as_bytes(value)):
                if (inner, kind) == (1, BYTES):
                    return as_bytes(text).decode("utf-8", "replace").partition("+")[0]
    return None


def output_of(body: bytes) -> tuple[int, bytes]:
    """Stream (0 stderr, 1 stdout) and text of a console record. Raises WireError."""
    stream, text = 0, b""
    for number, wire, value in fields(body):
        if (number, wire) == (1, VARINT):
            stream = as_int(value)
        elif (number, wire) == (3, BYTES):
            text = as_bytes(value)
    return stream, text


def config_of(body: bytes, into: dict[str, Any]) -> None:
    """Lay the updates of a config record into a configuration. Raises WireError."""
    for number, wire, value in fields(body):
        if (number, wire) != (1, BYTES):
            continue
        parts, raw = _item(as_bytes(value))
        if not parts or parts[0] == "_wandb":
            continue
        place = into
        for part in parts[:-1]:
            if not isinstance(place.get(part), dict):
                place[part] = {}
            place = place[part]
        place[parts[-1]] = _json(raw)


def _item(data: bytes) -> tuple[list[str], bytes]:
    """The parts of an item's key, and its value as JSON text. Raises WireError."""
    parts, value = [], b""
    for number, wire, found in fields(data):
        if wire == BYTES and number in (_KEY, _NESTED_KEY):
            parts.append(as_bytes(found).decode("utf-8", "replace"))
        elif (number, wire) == (_VALUE, BYTES):
            value = as_bytes(found)
    return parts, value


def _json(raw: bytes) -> Any:
    try:
        return json.loads(raw)
    except ValueError:
        return raw.decode("utf-8", "replace")


@dataclass(slots=True)
class Entry:
    """What was logged together: numbers of metrics with their values, and the client's own keys."""

    metrics: list[int] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    step: int | None = None  # None: it says none, or none that is a whole number
    odd_step: str | None = None  # what stands there instead
    timestamp: float | None = None  # seconds since 1970
    runtime: float | None = None  # seconds since the run began


class History:
    """Takes history records apart; the metrics' numbers are those of `rows`."""

    def __init__(self, rows: SeriesRows) -> None:
        self.left_out = 0  # values that are no numbers
        self._rows = rows
        self._known: dict[bytes, int] = {}  # an item's key as it is encoded → number

    def entry(self, body: bytes) -> Entry:
        """The entry of a record. Raises WireError."""
        entry = Entry()
        try:
            self._read(body, entry)
        except IndexError:
            raise WireError("an item ends after its message") from None
        return entry

    def _read(self, body: bytes, entry: Entry) -> None:
        known, metrics, values = self._known, entry.metrics, entry.values
        position, end = 0, len(body)
        while position < end:
            tag = body[position]
            length, start = body[position + 1], position + 2
            if length >= 0x80:
                length, start = read_varint(body, position + 1)
            position = start + length
            if position > end:
                raise WireError("an item ends after its message")
            if tag != 0x0A:
                if tag == 0x12:
                    entry.step = _step_of(body[start:position])
                continue
            split = start
            while body[split] in (0x0A, 0x12) and body[split + 1] < 0x80:
                split += 2 + body[split + 1]
            raw = body[split + 3 : position]
            if body[split : split + 2] != b"\x82\x01" or not len(raw) == body[split + 2] < 0x80:
                self._unusual(body[start:position], entry)
                continue
            key = body[start:split]
            number = known.get(key)
            if number is None:
                number = known[key] = self._number(_item(key)[0])
            try:
                value = float(raw)
            except ValueError:
                self._odd(number, raw, entry)
                continue
            if number >= 0:
                metrics.append(number)
                values.append(value)
            else:
                _set_own(number, value, entry)

    def _unusual(self, item: bytes, entry: Entry) -> None:
        """An item in another layout, as one with a key of more than 127 bytes."""
        parts, raw = _item(item)
        if parts:
            self._odd(self._number(parts), raw, entry)

    def _number(self, parts: list[str]) -> int:
        name = ".".join(parts)
        own = _OWN.get(name) or _OWN.get(parts[0] if parts[0] == "_wandb" else "")
        return self._rows.number(name) if own is None else own

    def _odd(self, number: int, raw: bytes, entry: Entry) -> None:
        """A value that is not a plain number: a truth value, a dictionary, a text …"""
        value = _json(raw)
        if number < 0:
            if isinstance(value, int | float) and not isinstance(value, bool):
                _set_own(number, float(value), entry)
            elif number == _STEP and entry.step is None:
                entry.odd_step = raw.decode("utf-8", "replace")
            return
        self._spread(self._rows.names[number], value, entry)

    def _spread(self, name: str, value: Any, entry: Entry) -> None:
        numbers, others = numbers_in({name: value})
        self.left_out += others
        entry.metrics += [self._rows.number(inner) for inner in numbers]
        entry.values += numbers.values()


def _set_own(number: int, value: float, entry: Entry) -> None:
    if number == _TIMESTAMP:
        entry.timestamp = value
    elif number == _RUNTIME:
        entry.runtime = value
    elif number == _STEP and entry.step is None:
        if value.is_integer():
            entry.step = int(value)
        else:
            entry.odd_step = f"{value:g}"


def _step_of(body: bytes) -> int:
    numbers = [
        as_int(value) for number, wire, value in fields(body) if (number, wire) == (1, VARINT)
    ]
    return signed(numbers[-1]) if numbers else 0
