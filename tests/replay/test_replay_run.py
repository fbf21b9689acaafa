"""`analyzer replay RUN`, and what `report` makes of recorded batches."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import jsonschema
import needs_torch  # noqa: F401
import pytest
from golden_cases import FOLDER
from recorded_runs import Stretch, golden, write_run

import analyzer.findings
from analyzer import pipeline_replay
from analyzer.cli import run_command
from analyzer.errors import ExitCode

SCHEMA = json.loads(
    (Path(analyzer.findings.__path__[0]) / "findings.schema.json").read_text("utf-8")
)
ARTEFACT = "importance-weight-artefact"


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run whose importance weight is off because rejected tokens count as zeros."""
    return write_run(
        tmp_path_factory.mktemp("runs"),
        "masked",
        (
            Stretch(range(0, 20), golden("areal-2026-05/case_17"), (12,)),
            Stretch(range(20, 40), golden("areal-2026-05/case_34"), (25, 30)),
        ),
    )


@pytest.fixture
def run(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy to be spoilt, in a folder where the store and the reports may land."""
    monkeypatch.chdir(tmp_path)
    return Path(shutil.copytree(source, tmp_path / "masked"))


def printed(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> str:
    assert run_command(["replay", *map(str, arguments), "--quiet"]) == ExitCode.JUDGED
    out = capsys.readouterr()
    assert out.err == ""
    return out.out


def failure(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> str:
    assert run_command(["replay", *map(str, arguments), "--quiet"]) == ExitCode.CANNOT_JUDGE
    out = capsys.readouterr()
    assert out.out == ""
    return out.err


def test_json_has_a_verdict_a_finding(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(printed(capsys, run, "--format", "json"))
    assert found["verdicts"][ARTEFACT]["verdict"] == "metric-wrong"
    assert found["verdicts"][ARTEFACT]["cause"] == "metric-definition"
    assert [step["step"] for step in found["steps"]] == [12, 25, 30]
    assert [step["role"] for step in found["steps"]] == ["finding"] * 3  # the floor holds always
    assert found["steps"][0]["path"] == "recorded/step_00000012"
    assert (found["mode"], found["conventions"]) == ("math", "areal-2026-05")


def test_text_and_markdown_say_the_same(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, run)
    assert text.startswith("3 recorded steps as areal-2026-05, without a model\n")
    assert f"metric-wrong (metric-definition): {ARTEFACT}\n" in text
    assert "12 confirmed, stage 0, 8 rows: All 90 logged numbers that the batch gives" in text
    markdown = printed(capsys, run, "--format", "md")
    assert markdown.startswith("## Replay\n")
    assert f"**{ARTEFACT}: metric-wrong (metric-definition).**" in markdown
    assert "| 12 | confirmed | stage 0, 8 rows |" in markdown


def test_one_finding_and_some_steps(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("--finding", ARTEFACT, "--steps", "12,30", "--format", "json")
    found = json.loads(printed(capsys, run, *arguments))
    assert list(found["verdicts"]) == [ARTEFACT]
    assert [(step["step"], step["role"]) for step in found["steps"]] == [
        (12, "control"),
        (30, "finding"),
    ]


def test_a_log_beside_its_recordings(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(printed(capsys, run / "main.log", "--format", "json"))
    assert found["verdicts"][ARTEFACT]["verdict"] == "metric-wrong"


def test_a_broken_batch_is_told_and_does_not_stop_the_rest(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    batch = run / "recorded" / "step_00000025" / "batch.safetensors"
    batch.write_bytes(batch.read_bytes()[:-100])
    found = json.loads(printed(capsys, run, "--format", "json"))
    (note,) = found["notes"]
    assert note.startswith("recorded/step_00000025 is left out: recorded/step_00000025/")
    assert "is cut" in note
    assert [step["step"] for step in found["steps"]] == [12, 30]
    assert found["verdicts"][ARTEFACT]["verdict"] == "metric-wrong"


def test_changed_bytes_are_found_when_the_batch_is_opened(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    batch = run / "recorded" / "step_00000025" / "batch.safetensors"
    content = bytearray(batch.read_bytes())
    content[-1] ^= 1
    batch.write_bytes(content)
    found = json.loads(printed(capsys, run, "--format", "json"))
    (note,) = found["notes"]
    assert "sha256 differs" in note
    assert found["verdicts"][ARTEFACT]["verdict"] == "metric-wrong"


def test_some_rows_cannot_be_held_against_the_log(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for step in ("25", "30"):
        path = run / "recorded" / f"step_000000{step}" / "manifest.json"
        manifest = json.loads(path.read_text("utf-8"))
        manifest["rows"] = {"of": 16, "kept": list(range(8))}
        path.write_text(json.dumps(manifest), "utf-8")
    found = json.loads(printed(capsys, run, "--format", "json"))
    verdict = found["verdicts"][ARTEFACT]
    assert (verdict["verdict"], verdict["cause"]) == ("cannot-tell", None)
    assert "8 of 16 rows were recorded" in verdict["why"]
    outcomes = {step["step"]: step["outcome"] for step in found["steps"]}
    assert outcomes == {12: "confirmed", 25: "cannot-tell", 30: "cannot-tell"}


def test_a_part_of_the_step_cannot_be_held_against_the_log(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # A log of sixteen sequences beside a batch of eight, as one of two ranks has it.
    log = (run / "main.log").read_text("utf-8")
    (run / "main.log").write_text(log.replace("8.0000e+00", "1.6000e+01"), "utf-8")
    found = json.loads(printed(capsys, run, "--format", "json"))
    assert found["verdicts"][ARTEFACT]["verdict"] == "cannot-tell"
    assert "one data-parallel rank" in found["verdicts"][ARTEFACT]["why"]


def test_the_report_has_the_verdicts(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["report", str(run), "--formats", "json", "--out", "here", "--quiet"]
    assert run_command(arguments) == ExitCode.JUDGED
    document = json.loads(Path("here/postmortem.json").read_text("utf-8"))
    jsonschema.validate(document, SCHEMA)
    by_id = {finding["id"]: finding for finding in document["findings"]}
    assert by_id[ARTEFACT]["replay"]["verdict"] == "metric-wrong"
    (compared,) = [
        c
        for c in by_id[ARTEFACT]["replay"]["compared"]
        if (c["step"], c["metric"]) == (25, "importance_weight")
    ]
    assert compared["agrees"] is True
    assert compared["corrected"] == pytest.approx(0.9978, abs=1e-4)
    assert document["replays"]["steps"][0]["outcome"] == "confirmed"
    assert document["replays"]["record_next"] == ""


def test_the_report_can_do_without(run: Path) -> None:
    arguments = ["report", str(run), "--formats", "json", "--out", "here", "--replay", "off"]
    assert run_command([*arguments, "--quiet"]) == ExitCode.JUDGED
    document = json.loads(Path("here/postmortem.json").read_text("utf-8"))
    jsonschema.validate(document, SCHEMA)
    assert document["replays"] is None
    assert all(finding["replay"] is None for finding in document["findings"])


def test_the_report_says_what_to_record(run: Path) -> None:
    shutil.rmtree(run / "recorded")
    arguments = ["report", str(run), "--formats", "json", "--out", "here", "--quiet"]
    assert run_command(arguments) == ExitCode.JUDGED
    document = json.loads(Path("here/postmortem.json").read_text("utf-8"))
    jsonschema.validate(document, SCHEMA)
    lines = document["replays"]["record_next"]
    compile(lines, "record_next", "exec")
    assert "every=5," in lines  # four recordings in the shortest finding, of 20 steps
    assert '"temperature": 1.0, "top_p": 1.0, "top_k": None, "dtype": "bfloat16"' in lines
    assert 'trainer={"dtype": "bfloat16", "attention": "flash_attention_2"}' in lines
    assert "token ids of Qwen/Qwen2.5-1.5B-Instruct" in lines
    assert "part=part" not in lines  # one rank
    assert document["replays"]["steps"] == []


def test_several_ranks_are_told_to_say_which_share_they_record(run: Path) -> None:
    shutil.rmtree(run / "recorded")
    config = (run / "config.yaml").read_text("utf-8")
    (run / "config.yaml").write_text(config.replace("fsdp:d1p1t1", "fsdp:d4p1t1"), "utf-8")
    arguments = ["report", str(run), "--formats", "json", "--out", "here", "--quiet"]
    assert run_command(arguments) == ExitCode.JUDGED
    lines = json.loads(Path("here/postmortem.json").read_text("utf-8"))["replays"]["record_next"]
    compile(lines, "record_next", "exec")
    assert "This run has 4 data-parallel ranks" in lines
    assert "step=version, version=version, part=part)" in lines


def test_without_torch_findings_are_not_replayed(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline_replay, "NEEDED", ("no_such_package",))
    arguments = ["report", str(run), "--formats", "json", "--out", "here", "--quiet"]
    assert run_command(arguments) == ExitCode.JUDGED
    document = json.loads(Path("here/postmortem.json").read_text("utf-8"))
    jsonschema.validate(document, SCHEMA)
    by_id = {finding["id"]: finding for finding in document["findings"]}
    assert by_id[ARTEFACT]["replay"]["verdict"] == "not-run"
    assert "pip install 'rl-run-analyzer[replay]'" in by_id[ARTEFACT]["replay"]["why"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "give either a run or --bundle DIR"),
        (["masked", "--bundle", "x"], "give either a run or --bundle DIR"),
        (["masked", "--finding", "nothing"], "this run has no finding 'nothing'"),
        (["masked", "--steps", "13"], "--steps: no batch of step 13 is recorded (of 12, 25, 30)"),
        (["masked", "--steps", "x"], "--steps 'x' is not STEP,STEP"),
        (["masked", "--tensors", "x"], "--tensors is for a single batch"),
        (["--bundle", str(FOLDER), "--format", "md"], "--format md is for a run"),
        (["nowhere"], "nowhere: no such file or directory"),
    ],
)
def test_wrong_use_is_one_line(
    arguments: list[str], message: str, run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = failure(capsys, *arguments).splitlines()
    assert len(lines) == 1
    assert message in lines[0]


def test_nothing_recorded_says_how(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.rmtree(run / "recorded")
    text = printed(capsys, run)
    assert text.startswith("0 recorded steps, not replayed\n\nTo record next time:\n")
    assert "self.recorder.record(data, self.config, step=version, version=version)" in text
