"""`analyzer replay --bundle`."""

from __future__ import annotations

import json
from pathlib import Path

import needs_torch  # noqa: F401
import pytest
import torch
from golden_cases import FOLDER, find, same
from safetensors.torch import load_file

from analyzer.cli import run_command
from analyzer.errors import ExitCode


def replayed(capsys: pytest.CaptureFixture[str], case: str, *more: str) -> str:
    folder = str(FOLDER / find(case))
    assert run_command(["replay", "--bundle", folder, *more]) == ExitCode.JUDGED
    printed = capsys.readouterr()
    assert printed.err == ""
    return printed.out


@pytest.mark.parametrize(
    "case",
    [
        "areal-2026-05/case_28",
        "areal-2026-05/case_57",  # infinities
        "areal-2026-05/case_58",  # AReaL raises
        "areal-2026-05/case_59",  # NaN
        "areal-2026-08/case_10",
    ],
)
def test_json_has_what_areal_exports(case: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(replayed(capsys, case, "--format", "json"))
    expected = json.loads((FOLDER / find(case) / "expected.json").read_text("utf-8"))
    assert list(found) == ["stats", "loss", "error"]
    assert found["error"] == expected["error"]
    assert found["stats"].keys() == expected["stats"].keys()
    for key, value in expected["stats"].items():
        assert isinstance(found["stats"][key], str) == isinstance(value, str), key
        assert same(value, float(found["stats"][key])), key
    loss = found["loss"]
    assert same(expected["loss"], None if loss is None else float(loss))


def test_the_same_bytes_twice(capsys: pytest.CaptureFixture[str]) -> None:
    first = replayed(capsys, "areal-2026-08/case_10", "--format", "json")
    assert replayed(capsys, "areal-2026-08/case_10", "--format", "json") == first


def test_text_says_more(capsys: pytest.CaptureFixture[str]) -> None:
    text = replayed(capsys, "areal-2026-05/case_28")
    assert text.startswith("conventions: areal-2026-05\nloss: -0.0711817")
    assert "ppo_actor/update/rs_filtered_fraction " in text
    assert "weights proximal / behaviour, after rejection: 107 tokens, 0 not finite" in text
    assert "truncated by the last token: " in text


def test_text_of_an_error_has_what_was_recorded_before(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = replayed(capsys, "areal-2026-05/case_58")
    assert "AReaL raises in ppo_update: RuntimeError: prox_logp contains NaN or Inf" in text
    assert "ppo_actor/n_seqs " in text


def test_other_conventions_give_other_keys(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("areal-2026-05/case_28", "--format", "json", "--conventions")
    later = json.loads(replayed(capsys, *arguments, "areal-2026-08"))["stats"]
    assert "ppo_actor/update/logp_diff/avg" in later
    earlier = json.loads(replayed(capsys, *arguments, "areal-2026-05"))["stats"]
    assert "ppo_actor/update/logp_diff/avg" not in earlier


def test_tensors_are_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "out.safetensors"
    replayed(capsys, "areal-2026-05/case_28", "--format", "json", "--tensors", str(path))
    expected = load_file(FOLDER / find("areal-2026-05/case_28") / "expected.safetensors")
    found = load_file(path)
    assert found.keys() == expected.keys()
    assert torch.allclose(found["advantages"], expected["advantages"], atol=1e-6)
    assert [p.name for p in tmp_path.iterdir()] == ["out.safetensors"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--bundle", "nowhere"], "nowhere: is no folder"),
        (["--bundle", str(FOLDER)], "holds no batch.safetensors"),
        (
            ["--bundle", str(FOLDER / find("areal-2026-05/case_01")), "--tensors", "no/where.st"],
            "no/where.st: cannot be written",
        ),
        (
            [
                "--bundle",
                str(FOLDER / find("areal-2026-08/case_22")),
                "--conventions",
                "areal-2026-05",
            ],
            "areal-2026-05 has no CISPO loss",
        ),
    ],
)
def test_faults_are_one_line(
    arguments: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_command(["replay", *arguments]) == ExitCode.CANNOT_JUDGE
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    assert message in lines[0]
