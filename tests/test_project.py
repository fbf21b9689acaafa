"""analyzer.yaml, suppress.yaml and baselines, as a user has them in the folder of a command."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import analyzer.findings
from analyzer.cli import run_command
from analyzer.errors import ExitCode

SCHEMA = json.loads(
    (Path(analyzer.findings.__path__[0]) / "findings.schema.json").read_text("utf-8")
)
Check = Callable[..., tuple[int, dict[str, Any]]]


@pytest.fixture
def check(
    tmp_path: Path,
    sample_logs: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Check:
    """Runs `check --format json` on the truncation sample in a folder of its own."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> tuple[int, dict[str, Any]]:
        capsys.readouterr()
        sample = str(sample_logs / "length_truncation")
        code = run_command(["check", sample, "--format", "json", *arguments])
        data: dict[str, Any] = json.loads(capsys.readouterr().out)
        jsonschema.validate(data, SCHEMA)
        return code, data

    return run


def finding(data: dict[str, Any], rule: str) -> dict[str, Any]:
    found: list[dict[str, Any]] = [f for f in data["findings"] if f["rule"] == rule]
    assert len(found) == 1
    return found[0]


def test_parameters_count_below_the_command_line_and_above_the_rule(
    check: Check, tmp_path: Path
) -> None:
    (tmp_path / "analyzer.yaml").write_text("parameters:\n  truncation.steps: 7\n")
    assert finding(check()[1], "truncation")["parameters"]["steps"] == 7
    _, data = check("--set", "truncation.steps=9")
    assert finding(data, "truncation")["parameters"]["steps"] == 9


def test_the_text_says_where_a_parameter_was_set(
    check: Check, tmp_path: Path, sample_logs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "analyzer.yaml").write_text("parameters:\n  truncation.steps: 7\n")
    check()
    run = str(sample_logs / "length_truncation")
    assert run_command(["report", run, "--formats", "html", "--out", "out", "--quiet"]) == 0
    assert "analyzer.yaml:2" in (tmp_path / "out" / "postmortem.html").read_text("utf-8")


def test_a_disabled_rule_is_not_checked_with_its_reason(check: Check, tmp_path: Path) -> None:
    (tmp_path / "analyzer.yaml").write_text(
        "disabled:\n  - {rule: reward-collapse, reason: curriculum}\n"
    )
    _, data = check()
    assert "reward-collapse" not in [f["rule"] for f in data["findings"]]
    (state,) = [c for c in data["checks"] if c["rule"] == "reward-collapse"]
    assert state == {
        "rule": "reward-collapse",
        "state": "not-checked",
        "reason": "disabled: curriculum (analyzer.yaml:2)",
    }


def test_a_name_of_ones_own_is_an_alias(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sample_logs: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    (log,) = (sample_logs / "healthy").rglob("main.log")
    own = log.read_bytes().replace(b"ppo_actor/update/entropy/avg", b"my_actor/update/entropy/avg")
    (tmp_path / "main.log").write_bytes(own)
    query = "SELECT count(*) AS n FROM standing WHERE canonical = 'entropy'"
    for text, count in (("", 0), ("aliases:\n  entropy: [my_actor/update/entropy/avg]\n", 160)):
        (tmp_path / "analyzer.yaml").write_text(text or "rules: []\n")
        from analyzer.pipeline_documents import query_run

        answer = query_run(tmp_path / "main.log", query, tmp_path / "store", "json")
        assert json.loads(answer) == [{"n": count}]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("parametres: {}\n", "analyzer.yaml:1:1: unknown key 'parametres'"),
        ("parameters: {truncation.stepps: 7}\n", "did you mean 'steps'?"),
        ("disabled:\n  - {rule: truncatoin, reason: because}\n", "did you mean 'truncation'?"),
        ("disabled:\n  - {rule: truncation}\n", "analyzer.yaml:2:5: key 'reason' is missing"),
        ("aliases: {entropyy: [x]}\n", "did you mean 'entropy'?"),
    ],
)
def test_a_wrong_project_file_is_told(
    tmp_path: Path,
    sample_logs: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    text: str,
    says: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "analyzer.yaml").write_text(text)
    assert run_command(["check", str(sample_logs / "healthy")]) == ExitCode.RULES_WRONG
    assert says in capsys.readouterr().err


def test_a_suppressed_finding_does_not_count_but_is_told(check: Check, tmp_path: Path) -> None:
    code, before = check()
    rules = {f["rule"] for f in before["findings"] if f["severity"] != "info"}
    (tmp_path / "suppress.yaml").write_text(
        "suppress:\n"
        + "".join(f"  - {{rule: {r}, run: 'gsm8k*', reason: known incident}}\n" for r in rules)
    )
    code_after, after = check()
    assert (code, code_after) == (ExitCode.FINDINGS, ExitCode.JUDGED)
    assert {f["rule"] for f in after["findings"]} == {f["rule"] for f in before["findings"]}
    suppressed = finding(after, "truncation")["suppressed"]
    assert suppressed["reason"] == "known incident"
    assert suppressed["by"].startswith("suppress.yaml:")
    assert after["verdict"] in ("ok", "info")


@pytest.mark.parametrize(
    ("entry", "counts"),
    [
        ("run: other/*", True),
        ("steps: [0, 50]", True),
        ("steps: [0, 500]", False),
        ("until: 2999-01-01", False),
        ("until: 2020-01-01", True),
    ],
)
def test_runs_steps_and_dates_bound_a_suppression(
    check: Check, tmp_path: Path, entry: str, counts: bool
) -> None:
    (tmp_path / "suppress.yaml").write_text(
        f"suppress:\n  - rule: truncation\n    reason: known incident\n    {entry}\n"
    )
    _, data = check()
    assert (finding(data, "truncation")["suppressed"] is None) == counts


def test_an_expired_suppression_is_told(check: Check, tmp_path: Path) -> None:
    (tmp_path / "suppress.yaml").write_text(
        "suppress:\n  - {rule: truncation, reason: old story, until: 2020-01-01}\n"
    )
    _, data = check()
    (note,) = [n for n in data["data_quality"] if n["kind"] == "expired-suppression"]
    assert note["detail"] == "truncation was set aside until 2020-01-01: old story"


def test_a_baseline_marks_what_is_known_and_leaves_nothing_out(
    check: Check, tmp_path: Path
) -> None:
    code, first = check()
    assert all(f["known"] is None for f in first["findings"])
    (tmp_path / "findings.json").write_text(json.dumps(first))
    code_again, again = check("--baseline", "findings.json")
    assert (code, code_again) == (ExitCode.FINDINGS, ExitCode.JUDGED)
    assert [f["rule"] for f in again["findings"]] == [f["rule"] for f in first["findings"]]
    assert all(f["known"] for f in again["findings"])
    assert again["verdict"] == first["verdict"]
    first["findings"] = first["findings"][1:]
    (tmp_path / "findings.json").write_text(json.dumps(first))
    code_new, new = check("--baseline", "findings.json")
    assert code_new == ExitCode.FINDINGS
    assert next(f["known"] for f in new["findings"]) is False


def test_a_fingerprint_survives_a_longer_log(
    tmp_path: Path,
    sample_logs: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (log,) = (sample_logs / "length_truncation").rglob("main.log")
    whole = log.read_bytes()
    found = []
    for size in (len(whole) * 19 // 20, len(whole)):
        (tmp_path / "main.log").write_bytes(whole[:size])
        run_command(["check", "main.log", "--format", "json"])
        data = json.loads(capsys.readouterr().out)
        found.append({f["rule"]: (f["fingerprint"], f["end"]) for f in data["findings"]})
    earlier, later = (run["length-driven-truncation"] for run in found)
    assert earlier[1] < later[1]
    assert earlier[0] == later[0]


def test_a_baseline_that_is_none_is_told(
    tmp_path: Path, sample_logs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "x.json").write_text("[]")
    arguments = ["check", str(sample_logs / "healthy"), "--baseline", str(tmp_path / "x.json")]
    assert run_command([*arguments, "--store", str(tmp_path)]) == ExitCode.CANNOT_JUDGE
    assert "not a findings document" in capsys.readouterr().err
