"""Blocks of bytes out of files, packed or not."""

from __future__ import annotations

import gzip
import lzma
from pathlib import Path

import pytest
import zstandard

from analyzer.errors import RunError
from analyzer.sources.opening import CutArchiveError, open_log, read_head

DATA = bytes(range(256)) * 4096

PACKED = {
    "plain": DATA,
    "gz": gzip.compress(DATA),
    "xz": lzma.compress(DATA),
    "zst": zstandard.ZstdCompressor().compress(DATA),
    "zst of two frames": zstandard.ZstdCompressor().compress(DATA[:1000])
    + zstandard.ZstdCompressor().compress(DATA[1000:]),
    "empty gz": gzip.compress(b""),
}


@pytest.mark.parametrize("name", PACKED)
def test_the_bytes_are_those_that_were_packed(tmp_path: Path, name: str) -> None:
    path = tmp_path / "log"
    path.write_bytes(PACKED[name])
    expected = b"" if name == "empty gz" else DATA
    blocks = list(open_log(path).blocks(100_000))
    assert b"".join(blocks) == expected
    assert all(len(block) >= 100_000 for block in blocks[:-1])
    assert read_head(path, 1000) == expected[:1000]
    assert open_log(path).compressed == (name != "plain")


def test_a_plain_file_is_read_from_an_offset(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(DATA)
    assert b"".join(open_log(path, 1_000_000).blocks()) == DATA[1_000_000:]


@pytest.mark.parametrize("name", ["gz", "xz", "zst"])
def test_damage_comes_after_what_could_be_read(tmp_path: Path, name: str) -> None:
    path = tmp_path / "log"
    path.write_bytes(PACKED[name][: len(PACKED[name]) - 7])
    found = b""
    with pytest.raises(CutArchiveError):
        for block in open_log(path).blocks(1000):
            found += block
    assert DATA.startswith(found)
    assert read_head(path, 10) in (DATA[:10], b"")


def test_garbage_behind_the_magic_is_damage(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"\x1f\x8b" + b"no gzip at all")
    with pytest.raises(CutArchiveError):
        list(open_log(path).blocks())


def test_a_file_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Path, mode: str = "r") -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(RunError) as error:
        open_log(tmp_path / "main.log")
    assert str(error.value) == (
        f"{tmp_path}/main.log: cannot be read: permission denied (make it readable or leave it out)"
    )


def test_a_directory_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="cannot be read: is a directory"):
        read_head(tmp_path)
