"""Files of LevelDB's log format, with the records of Weights & Biases, written byte by byte."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable

from event_file import integer, message

BLOCK = 32768
WANDB, SWANLAB = b":W&B\xe1\xbe\x00", b":SWL\xd6\xe1\x02"


def block_file(records: Iterable[bytes], head: bytes = WANDB) -> bytes:
    """The file: records whole where they fit into what is left of a block, else in fragments."""
    out = bytearray(head)
    for record in records:
        first, rest = True, record
        while True:
            left = BLOCK - len(out) % BLOCK
            if left < 7:
                out += bytes(left)
                left = BLOCK
            part, rest = rest[: left - 7], rest[left - 7 :]
            kind = (1 if first else 4) if not rest else (2 if first else 3)
            out += struct.pack("<IHB", zlib.crc32(bytes([kind]) + part), len(part), kind) + part
            first = False
            if not rest:
                break
    return bytes(out)


def item(*keys: str, value: str) -> bytes:
    """An item: one key in `key`, several (or one after "") in `nested_key`."""
    parts = [key for key in keys if key]
    number = 1 if keys == tuple(parts) and len(parts) == 1 else 2
    named = b"".join(message(number, part.encode()) for part in parts)
    return message(1, named + message(16, value.encode()))


def history(*items: bytes, step: int | None = None) -> bytes:
    """A history record; `step` stands in its own message, 0 being left out of it."""
    body = b"".join(items)
    if step is not None:
        body += message(2, integer(1, step) if step else b"")
    return integer(1, 7) + message(2, body)


def plain(step: int, seconds: float | None = None, **values: float) -> bytes:
    """A history record as the client writes it; names with `__` for `/`."""
    items = [item("", name.replace("__", "/"), value=repr(v)) for name, v in values.items()]
    if seconds is not None:
        items.append(item("", "_timestamp", value=repr(seconds)))
    return history(*items, step=step)


def run(
    run_id: str, project: str = "", name: str = "", first: int = 0, config: bytes = b""
) -> bytes:
    """A run record; `config` are its items."""
    body = message(1, run_id.encode()) + message(3, project.encode()) + message(4, config)
    body += message(8, name.encode()) + integer(14, first)
    return message(17, body + message(17, integer(1, 1000)))


def output(text: str, stream: int = 1) -> bytes:
    """A raw console record."""
    return message(13, integer(1, stream) + message(3, text.encode()))


def end(code: int = 0) -> bytes:
    """An exit record."""
    return message(18, integer(1, code) if code else b"")
