"""Writes main.log and TensorBoard event files byte by byte as AReaL's loggers do."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

import google_crc32c

HEADER = "\x1b[1;38;2;180;140;80m(AReaL)\x1b[0m "
RESET = "\x1b[0m"
PAIRS_IN_A_ROW = 4


@dataclass(frozen=True)
class LoggedStep:
    """One training step: when its statistics were written, and what they were."""

    index: int  # from 0
    written: datetime
    values: Mapping[str, float]
    accepted: tuple[tuple[int, float], ...] = ()  # (task, reward) of rollouts logged before it
    warnings: tuple[tuple[str, str], ...] = ()  # (logger, message)


def text_log(steps: Iterable[LoggedStep], total: int, per_epoch: int) -> str:
    """The whole main.log; `total` and `per_epoch` are what the trainer planned, in steps."""
    lines: list[str] = []
    first: datetime | None = None
    last: datetime | None = None
    for step in steps:
        first = first or step.written
        last = step.written
        lines += step_lines(step, total, per_epoch)
    if first and last:
        elapsed = (last - first).total_seconds()
        done = f"Training completes! Total time elapsed {elapsed:.2f}."
        lines.append(log_line(last + timedelta(milliseconds=40), "StatsLogger", "INFO", done, 92))
    return "\n".join(lines) + "\n"


def step_lines(step: LoggedStep, total: int, per_epoch: int) -> Iterator[str]:
    """What main.log says of one step: rollouts, warnings, progress and the table."""
    clock = step.written - timedelta(milliseconds=30)
    for task, reward in step.accepted:
        text = f"Submit->Complete->Accepted: task {task} reward {reward}"
        yield log_line(clock, "WorkflowExecutor", "INFO", text, 37)
    for logger, message in step.warnings:
        yield log_line(clock, logger, "WARNING", message, 33)
    epoch, inside = divmod(step.index, per_epoch)
    progress = (
        f"Epoch {epoch + 1}/{total // per_epoch} Step {inside + 1}/{per_epoch} "
        f"Train step {step.index + 1}/{total} done."
    )
    yield log_line(step.written, "StatsLogger", "INFO", progress, 92)
    yield log_line(step.written, "StatsLogger", "INFO", "Stats (1/1):", 92)
    table = "\n".join(box_table(step.values))
    yield log_line(step.written, "StatsLogger", "INFO", f"\n{table}", 92)


def log_line(clock: datetime, logger: str, level: str, text: str, colour: int) -> str:
    """A line as AReaL's loggers format it; the colour is a number of ANSI's."""
    stamp = f"{clock:%Y%m%d-%H:%M:%S}.{clock.microsecond // 1000:03d}"
    return f"{HEADER}\x1b[{colour}m{stamp} {logger} {level}: {text}{RESET}"


def box_table(values: Mapping[str, float]) -> Iterator[str]:
    """The statistics in a box: four pairs a row, filled column by column, five digits."""
    cells = [(key, f"{value:.4e}") for key, value in values.items()]
    rows = -(-len(cells) // PAIRS_IN_A_ROW)
    cells += [("", "")] * (rows * PAIRS_IN_A_ROW - len(cells))
    columns = [cells[i * rows : (i + 1) * rows] for i in range(PAIRS_IN_A_ROW)]
    widths = [
        width
        for column in columns
        for width in (max(len(k) for k, _ in column), max(len(v) for _, v in column))
    ]
    yield _rule(widths, "╒═╤╕")
    for row in range(rows):
        if row:
            yield _rule(widths, "├─┼┤")
        texts = [text for column in columns for text in column[row]]
        padded = [
            text.rjust(width) if i % 2 else text.ljust(width)
            for i, (text, width) in enumerate(zip(texts, widths, strict=True))
        ]
        yield f"│ {' │ '.join(padded)} │"
    yield _rule(widths, "╘═╧╛")


def _rule(widths: Iterable[int], signs: str) -> str:
    left, line, joint, right = tuple(signs)
    return left + joint.join(line * (width + 2) for width in widths) + right


def event_file(steps: Iterable[LoggedStep], opened: datetime) -> bytes:
    """A TensorBoard event file: one record a value, the value in single precision."""
    version = _field(3, b"brain.Event:2")
    records = [_record(_wall_time(opened) + version)]
    for step in steps:
        at = _wall_time(step.written)
        number = b"\x10" + _varint(step.index) if step.index else b""
        for key, value in step.values.items():
            scalar = _field(1, key.encode()) + b"\x15" + struct.pack("<f", value)
            records.append(_record(at + number + _field(5, _field(1, scalar))))
    return b"".join(records)


def _wall_time(moment: datetime) -> bytes:
    return b"\x09" + struct.pack("<d", moment.timestamp())


def _field(number: int, payload: bytes) -> bytes:
    """A length-delimited protobuf field."""
    return _varint(number << 3 | 2) + _varint(len(payload)) + payload


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _record(event: bytes) -> bytes:
    length = struct.pack("<Q", len(event))
    return length + _masked_crc(length) + event + _masked_crc(event)


def _masked_crc(payload: bytes) -> bytes:
    crc = google_crc32c.value(payload)
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)
