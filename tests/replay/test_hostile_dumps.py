"""A pickle is a program: nothing of one is run, and what is wrong is told in one line."""

from __future__ import annotations

import os
import pickle
import zipfile
from pathlib import Path
from random import Random
from typing import Any

import needs_torch  # noqa: F401
import pytest
import torch
from golden_cases import FOLDER, find
from recorded_batches import golden_tensors, write_recorded

from analyzer.cli import run_command
from analyzer.errors import AnalyzerError, ExitCode, RunError
from analyzer.replay.bundle import read_bundle
from analyzer.replay.dumps import torch_file
from analyzer.replay.dumps.readers import read_dump

# A warning would be a second line.
pytestmark = pytest.mark.filterwarnings("error")
CASE = "areal-2026-05/case_28"


class Touch:
    """Makes a file where it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return (os.mkdir, (str(self.path),))


def told(path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """The one line that the command prints."""
    assert run_command(["replay", "--bundle", str(path)]) == ExitCode.CANNOT_JUDGE
    output = capsys.readouterr()
    assert output.out == ""
    lines = output.err.splitlines()
    assert len(lines) == 1
    assert lines[0].startswith(str(path))
    assert len(lines[0]) < 600
    return lines[0]


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
@pytest.mark.parametrize("inside", [False, True])
def test_a_bare_pickle_with_code(
    tmp_path: Path, protocol: int, inside: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    touched = tmp_path / "touched"
    content = {"input_ids": 1, "loss_mask": 2, "logprobs": Touch(touched)}
    path = tmp_path / "batch.pt"
    path.write_bytes(pickle.dumps(content if inside else Touch(touched), protocol))
    assert "nothing is run" in told(path, capsys)
    assert not touched.exists()
    pickle.loads(path.read_bytes())  # the file would have done it
    assert touched.exists()


@pytest.mark.parametrize("zipped", [False, True])
@pytest.mark.parametrize(
    "keys",
    [
        ("input_ids", "loss_mask", "logprobs"),
        ("rollout_data", "response_lengths"),
        ("samples", "response_length", "weight_versions"),
        ("anything",),
    ],
)
def test_code_in_what_torch_saves(
    tmp_path: Path, zipped: bool, keys: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    touched = tmp_path / "touched"
    path = tmp_path / "batch.pt"
    content = {**golden_tensors(CASE), **dict.fromkeys(keys, 0), "code": Touch(touched)}
    torch.save(content, path, _use_new_zipfile_serialization=zipped)
    text = told(path, capsys)
    assert "only tensors, numbers and text are read, nothing is run" in text
    assert not touched.exists()
    torch.load(path, weights_only=False)
    assert touched.exists()


def test_the_function_that_was_asked_for_is_named(tmp_path: Path) -> None:
    path = tmp_path / "batch.pt"
    torch.save({"input_ids": 0, "loss_mask": 0, "logprobs": Touch(tmp_path / "x")}, path)
    with pytest.raises(RunError, match=r"asks for posix\.mkdir: only tensors"):
        read_dump(path)


def test_another_class_than_tensors(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "batch.pt"
    torch.save({"input_ids": 0, "loss_mask": 0, "logprobs": Path("/x")}, path)
    assert "asks for pathlib" in told(path, capsys)


@pytest.mark.parametrize("kept", [0, 1, 10, 1000, 5000])
def test_a_cut_file(tmp_path: Path, kept: int, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "batch.pt"
    torch.save(golden_tensors(CASE), path)
    path.write_bytes(path.read_bytes()[:kept])
    told(path, capsys)


def test_a_zip_without_tensors(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "batch.pt"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("batch/readme", "none")
    assert "cannot be read" in told(path, capsys)


def test_a_small_file_that_unfolds(tmp_path: Path) -> None:
    packed = tmp_path / "packed.pt"
    torch.save(golden_tensors(CASE), packed)
    bomb = tmp_path / "bomb.pt"
    with zipfile.ZipFile(packed) as source, zipfile.ZipFile(bomb, "w", 8) as archive:
        for name in source.namelist():
            archive.writestr(name, source.read(name))
        archive.writestr("packed/data/99", b"\0" * 10_000_000)
    assert bomb.stat().st_size < 100_000
    with pytest.raises(RunError, match="more than the 1,000,000 that are read"):
        torch_file.load(bomb, largest=1_000_000)


def test_one_number_seen_as_a_large_tensor(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "batch.pt"
    content = golden_tensors(CASE) | {"logprobs": torch.zeros(1).expand(2**40)}
    torch.save(content, path)
    assert path.stat().st_size < 100_000
    assert "unfolds to 4,398,046," in told(path, capsys)


def test_an_oversized_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "batch.pt"
    content = {"input_ids": 0, "loss_mask": 0, "logprobs": 0}
    torch.save(content, path, _use_new_zipfile_serialization=False)
    os.truncate(path, 2**40)
    assert "has 1,099,511,627,776 bytes, more than" in told(path, capsys)


def test_deep_nesting(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content: Any = 0
    for _ in range(100):
        content = [content]
    path = tmp_path / "batch.pt"
    torch.save({"input_ids": 0, "loss_mask": 0, "logprobs": content}, path)
    assert "is nested more than 50 deep" in told(path, capsys)


def test_other_files_and_links(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "notes.txt").write_text("nothing\n", "utf-8")
    assert "is no dump that is known here" in told(tmp_path / "notes.txt", capsys)
    (tmp_path / "empty").write_bytes(b"")
    assert "is no dump that is known here" in told(tmp_path / "empty", capsys)
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    assert "is no folder" in told(tmp_path / "loop", capsys)
    (tmp_path / "deep.jsonl").write_bytes(b"[" * 200_000)
    assert "is no dump that is known here" in told(tmp_path / "deep.jsonl", capsys)


def test_a_recorded_batch_names_no_file_but_its_own(tmp_path: Path) -> None:
    """The tensors of a golden folder reached by a link are read; nothing else is opened."""
    folder = tmp_path / "batch"
    folder.symlink_to(FOLDER / find(CASE))
    assert run_command(["replay", "--bundle", str(folder), "--format", "json"]) == 0


def damaged(content: bytes, random: Random) -> bytes:
    """A few bytes changed, cut out or put in, most of them near the beginning."""
    held = bytearray(content)
    for _ in range(random.choice((1, 2, 5, 30))):
        at = random.randrange(min(len(held), random.choice((200, 3000, len(held)))))
        length = random.choice((0, 1, 20))
        held[at : at + length] = random.randbytes(random.choice((0, 1, 20)))
    return bytes(held)


@pytest.mark.parametrize("seed", range(6))
def test_whatever_is_damaged_is_read_or_refused_in_one_line(tmp_path: Path, seed: int) -> None:
    random = Random(seed)
    folder, path = tmp_path / "batch", tmp_path / "batch.pt"
    write_recorded(folder, CASE)
    torch.save(golden_tensors(CASE), path, _use_new_zipfile_serialization=bool(seed % 2))
    manifest, dump = (folder / "manifest.json").read_bytes(), path.read_bytes()
    refused = 0
    for _ in range(40):
        (folder / "manifest.json").write_bytes(damaged(manifest, random))
        path.write_bytes(damaged(dump, random))
        for read, what in ((read_bundle, folder), (read_dump, path)):
            try:
                read(what)
            except AnalyzerError as error:
                assert "\n" not in str(error)
                refused += 1
    assert refused >= 40
