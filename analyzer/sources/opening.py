"""Files as blocks of bytes, whatever they are packed with."""

from __future__ import annotations

import lzma
import os
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Protocol

from analyzer.errors import Location, RunError

BLOCK = 4 << 20
HEAD = 64 << 10
_PACKED_BLOCK = 64 << 10


class CutArchiveError(Exception):
    """A compressed file ends too early or is damaged; what came before it has been read."""


class _Unpacker(Protocol):
    @property
    def eof(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, data: bytes, /) -> bytes: ...


def _gzip() -> _Unpacker:
    return zlib.decompressobj(wbits=31)


def _xz() -> _Unpacker:
    return lzma.LZMADecompressor()


def _zstd() -> _Unpacker:
    import zstandard

    return zstandard.ZstdDecompressor().decompressobj()


_MAGIC: tuple[tuple[bytes, Callable[[], _Unpacker]], ...] = (
    (b"\x1f\x8b", _gzip),
    (b"\xfd7zXZ\x00", _xz),
    (b"\x28\xb5\x2f\xfd", _zstd),
)


@dataclass
class LogFile:
    """An open file; `blocks()` gives its bytes, unpacked."""

    path: Path
    handle: IO[bytes]
    unpacker: Callable[[], _Unpacker] | None

    @property
    def compressed(self) -> bool:
        """A compressed file cannot be read on from an offset."""
        return self.unpacker is not None

    def blocks(self, size: int = BLOCK) -> Iterator[bytes]:
        """Blocks of about `size` bytes to the file's end.

        Raises CutArchiveError where a compressed file breaks off.
        """
        with self.handle:
            parts = self._plain(size) if self.unpacker is None else self._unpacked(self.unpacker)
            yield from _gathered(parts, size)

    def _plain(self, size: int) -> Iterator[bytes]:
        while block := self.handle.read(size):
            yield block

    def _unpacked(self, make: Callable[[], _Unpacker]) -> Iterator[bytes]:
        unpacker = make()
        while data := self.handle.read(_PACKED_BLOCK):
            while data:
                if unpacker.eof:
                    unpacker = make()
                try:
                    yield unpacker.decompress(data)
                except Exception as cause:  # each library has an error class of its own
                    raise CutArchiveError(str(cause)) from cause
                data = unpacker.unused_data if unpacker.eof else b""
        if not unpacker.eof:
            raise CutArchiveError("the compressed data ends too early")


def _gathered(parts: Iterator[bytes], size: int) -> Iterator[bytes]:
    """Small parts joined to blocks; what is there when an error comes is handed on first."""
    held: list[bytes] = []
    length = 0
    try:
        for part in parts:
            held.append(part)
            length += len(part)
            if length >= size:
                yield b"".join(held)
                held, length = [], 0
    except CutArchiveError:
        if length:
            yield b"".join(held)
        raise
    if length:
        yield b"".join(held)


def open_log(path: Path, offset: int = 0) -> LogFile:
    """Open a file for reading from `offset`.

    Raises RunError when it is not there or cannot be read.
    """
    try:
        handle = path.open("rb")
        magic = handle.read(6)
        handle.seek(offset)
    except OSError as cause:
        raise unreadable(path, cause) from cause
    unpacker = next((make for start, make in _MAGIC if magic.startswith(start)), None)
    return LogFile(path, handle, unpacker)


def unreadable(path: Path, cause: OSError) -> RunError:
    """The error that says why the system refuses a file."""
    if isinstance(cause, PermissionError):
        return RunError(
            "cannot be read: permission denied",
            at=Location(str(path)),
            hint="make it readable or leave it out",
        )
    reason = (cause.strerror or str(cause)).lower()
    return RunError(f"cannot be read: {reason}", at=Location(str(path)))


def read_head(path: Path, size: int = HEAD) -> bytes:
    """The first `size` bytes, unpacked; fewer where the file is shorter or damaged.

    Raises RunError when the file cannot be read.
    """
    held = b""
    try:
        for block in open_log(path).blocks(size):
            held += block
            if len(held) >= size:
                break
    except CutArchiveError:
        pass
    except OSError as cause:
        raise unreadable(path, cause) from cause
    return held[:size]


def extent(source: Path) -> tuple[int, int]:
    """Bytes and last change (ns since 1970) of a file, or of all files of a folder.

    A database counts with the log of what was not yet written into it.
    Raises OSError when it is not there.
    """
    size = newest = 0
    parts = _files_below(source) if source.is_dir() else parts_of(source)
    for path in parts:
        stat = path.stat()
        size += stat.st_size
        newest = max(newest, stat.st_mtime_ns)
    return size, newest


def _files_below(folder: Path) -> Iterator[Path]:
    """All files of a folder, in no order, however many there are."""
    for place, _, names in os.walk(folder):
        for name in names:
            if (path := Path(place, name)).is_file():
                yield path


def parts_of(source: Path) -> list[Path]:
    """The files that a source consists of, in the order of their names."""
    if source.is_dir():
        return sorted(path for path in source.rglob("*") if path.is_file())
    log = source.with_name(source.name + "-wal")
    return [source, log] if log.is_file() else [source]
