"""The command line: exit codes, one-line errors, the same bytes twice."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

import analyzer.findings
from analyzer.cli import run_command
from analyzer.errors import ExitCode
from analyzer.report import pdf

SCHEMA = json.loads(
    (Path(analyzer.findings.__path__[0]) / "findings.schema.json").read_text("utf-8")
)


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The default store and the reports land in a folder that is thrown away."""
    monkeypatch.chdir(tmp_path)


def errors_of(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, list[str]]:
    code = run_command([str(argument) for argument in arguments])
    return code, capsys.readouterr().err.splitlines()


# --- exit codes ---------------------------------------------------------------------------


def test_0_nothing_at_or_above_the_limit(sample_logs: Path) -> None:
    assert run_command(["check", str(sample_logs / "healthy")]) == ExitCode.JUDGED


def test_1_a_finding_at_or_above_the_limit(sample_logs: Path) -> None:
    assert run_command(["check", str(sample_logs / "length_truncation")]) == ExitCode.FINDINGS


def test_fail_on_moves_the_limit(sample_logs: Path) -> None:
    run = str(sample_logs / "length_truncation")
    for level in ("info", "warning", "error"):
        assert run_command(["check", run, "--fail-on", level]) == ExitCode.FINDINGS


def test_2_could_not_judge(tmp_path: Path) -> None:
    log = tmp_path / "main.log"
    log.write_text(
        "(AReaL) 20261129-14:59:09.000 RLTrainer INFO: starting\n"
        "(AReaL) 20261129-14:59:10.000 RLTrainer ERROR: CUDA out of memory\n"
    )
    assert run_command(["check", str(log)]) == ExitCode.CANNOT_JUDGE


def test_2_for_a_command_that_does_not_exist() -> None:
    assert run_command(["chekc"]) == ExitCode.CANNOT_JUDGE


def test_3_the_rule_files_are_wrong(sample_logs: Path, tmp_path: Path) -> None:
    rules = tmp_path / "mine" / "reward"
    rules.mkdir(parents=True)
    (rules / "mine.yaml").write_text("id: mine\n")
    run = str(sample_logs / "healthy")
    assert run_command(["check", run, "--rules", str(tmp_path / "mine")]) == ExitCode.RULES_WRONG


def test_70_a_defect_of_ours(
    sample_logs: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr("analyzer.pipeline.judge_run", broken)
    code, lines = errors_of(capsys, "check", sample_logs / "healthy")
    assert code == ExitCode.DEFECT
    assert len(lines) == 1
    assert "ZeroDivisionError: by zero" in lines[0]
    assert "--debug" in lines[0]


def test_a_traceback_is_for_debug(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, quiet = errors_of(capsys, "check", tmp_path / "nowhere")
    _, loud = errors_of(capsys, "check", tmp_path / "nowhere", "--debug")
    assert not any("Traceback" in line for line in quiet)
    assert any("Traceback" in line for line in loud)


# --- bad input: one line, with place and remedy -------------------------------------------


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("empty.log", b"", "empty"),
        ("one.log", b"x", "format"),
        ("binary.log", bytes(range(256)) * 40, "format"),
        ("other.txt", b"hello\nworld\n" * 50, "format"),
    ],
)
def test_a_file_that_is_no_log(
    tmp_path: Path, name: str, content: bytes, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    code, lines = errors_of(capsys, "check", path)
    assert code == ExitCode.CANNOT_JUDGE
    assert len(lines) == 1
    assert lines[0].startswith(f"{path}: ")
    assert says in lines[0]
    assert "(" in lines[0]


def test_a_directory_without_logs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "notes.txt").write_text("nothing here")
    code, lines = errors_of(capsys, "check", tmp_path / "run")
    assert (code, len(lines)) == (ExitCode.CANNOT_JUDGE, 1)
    assert "tensorboard" in lines[0]


def test_a_path_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, lines = errors_of(capsys, "check", tmp_path / "nowhere")
    assert (code, len(lines)) == (ExitCode.CANNOT_JUDGE, 1)
    assert "no such file or directory" in lines[0]


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every file; run the tests as a user")
def test_an_unreadable_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "main.log"
    path.write_text("x")
    path.chmod(0)
    code, lines = errors_of(capsys, "check", path)
    assert (code, len(lines)) == (ExitCode.CANNOT_JUDGE, 1)
    assert "permission denied" in lines[0]


def test_an_unreadable_file_as_another_user(tmp_path: Path, sample_logs: Path) -> None:
    """Root reads everything, so the reader runs as nobody."""
    if os.geteuid() != 0:
        pytest.skip("only root can become another user; the test above covers a user")
    path = tmp_path / "main.log"
    path.write_text("x")
    path.chmod(0)
    for parent in [tmp_path, *tmp_path.parents]:
        if parent != Path("/") and parent.stat().st_mode & 0o005 != 0o005:
            parent.chmod(parent.stat().st_mode | 0o055)
    code = (
        "import os, sys; os.setgid(65534); os.setuid(65534);"
        "from pathlib import Path; from analyzer.errors import RunError;"
        "from analyzer.sources.discover import discover\n"
        "try: discover(Path(sys.argv[1]))\n"
        "except RunError as error: print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", "import analyzer.sources.discover\n" + code, str(path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "permission denied" in done.stdout, done.stderr
    assert len(done.stdout.splitlines()) == 1


def test_a_store_that_cannot_be_written(
    sample_logs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    code, lines = errors_of(
        capsys, "check", sample_logs / "healthy", "--store", tmp_path / "file" / "store"
    )
    assert (code, len(lines)) == (ExitCode.CANNOT_JUDGE, 1)
    assert "--store" in lines[0]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--set", "truncation.limit"], "is not RULE.PARAM=NUMBER"),
        (["--set", "trunkation.limit=0.1"], "did you mean 'truncation'?"),
        (["--set", "truncation.limmit=0.1"], "did you mean 'limit'?"),
        (["--set", "truncation.limit=7"], "outside 0"),
        (["--rules", "nowhere"], "no such rules directory"),
    ],
)
def test_a_wrong_option(
    sample_logs: Path, arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, lines = errors_of(capsys, "check", sample_logs / "healthy", *arguments)
    assert code in (ExitCode.CANNOT_JUDGE, ExitCode.RULES_WRONG)
    assert len(lines) == 1
    assert says in lines[0]


def test_three_faults_of_a_rule_are_told_at_once(
    sample_logs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "mine" / "reward"
    folder.mkdir(parents=True)
    (folder / "mine.md").write_text("# Mine\n")
    (folder / "mine.yaml").write_text(
        "id: mine\n"
        "version: 1\n"
        "title: Mine\n"
        "headline: It happened\n"
        "summary: [It happened.]\n"
        "severity: warning\n"
        "why: Because.\n"
        "when:\n"
        "  all:\n"
        "    - level: {series: seq_lenn, above: 5}\n"
        "    - trend: {series: entropy, direction: upwards}\n"
        "remedies:\n"
        "  - do: Lower it\n"
        "    config: {gconfig.max_new_token: {multiply: 2}}\n"
        "false_positives: None.\n"
        "runbook: mine.md\n"
    )
    code, lines = errors_of(capsys, "check", sample_logs / "healthy", "--rules", tmp_path / "mine")
    assert code == ExitCode.RULES_WRONG
    assert any(
        line.startswith("mine/reward/mine.yaml:11:") and "direction" in line for line in lines
    ), lines
    (folder / "mine.yaml").write_text((folder / "mine.yaml").read_text().replace("upwards", "up"))
    code, lines = errors_of(capsys, "check", sample_logs / "healthy", "--rules", tmp_path / "mine")
    assert code == ExitCode.RULES_WRONG
    assert "mine/reward/mine.yaml:10:15: unknown series 'seq_lenn' (did you mean 'seq_len'?)" in (
        lines
    )
    assert any(
        line.startswith("mine/reward/mine.yaml:14:14: unknown configuration key")
        and "did you mean 'gconfig.max_new_tokens'?" in line
        for line in lines
    ), lines


# --- what check prints --------------------------------------------------------------------


def test_json_fits_its_schema_and_is_the_same_twice(
    sample_logs: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    outputs = []
    for store in ("first", "first", "second"):
        run_command(
            [
                "check",
                str(sample_logs / "length_truncation"),
                "--format",
                "json",
                "--store",
                store,
            ]
        )
        outputs.append(capsysbinary.readouterr().out)
    assert outputs[0] == outputs[1] == outputs[2]
    jsonschema.validate(json.loads(outputs[0]), SCHEMA)


def test_the_run_is_not_written_to(sample_logs: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(sample_logs / "healthy", run)
    before = sorted((p, p.stat().st_mtime_ns) for p in run.rglob("*"))
    run_command(["check", str(run)])
    assert sorted((p, p.stat().st_mtime_ns) for p in run.rglob("*")) == before


def test_data_goes_to_stdout_and_messages_to_stderr(
    sample_logs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = str(sample_logs / "healthy")
    assert run_command(["report", run, "--formats", "json", "--out", "out"]) == ExitCode.JUDGED
    printed = capsys.readouterr()
    assert printed.out == "out/postmortem.json\n"
    assert printed.err.startswith("reading ")
    run_command(["report", run, "--formats", "json", "--out", "out", "--quiet"])
    assert capsys.readouterr().err == ""


def test_a_compressed_log_is_the_same_run(
    sample_logs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (log,) = (sample_logs / "healthy").rglob("main.log")
    packed = tmp_path / "packed" / "main.log.gz"
    packed.parent.mkdir()
    packed.write_bytes(gzip.compress(log.read_bytes(), mtime=0))
    run_command(["sql", str(log), "SELECT count(*) AS n, sum(value) AS s FROM metrics"])
    plain = capsys.readouterr().out
    run_command(["sql", str(packed), "SELECT count(*) AS n, sum(value) AS s FROM metrics"])
    assert capsys.readouterr().out == plain


def test_an_override_is_told_with_the_finding(
    sample_logs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = str(sample_logs / "length_truncation")
    run_command(["check", run, "--format", "json", "--set", "truncation.limit=0.1"])
    findings = json.loads(capsys.readouterr().out)["findings"]
    (truncation,) = [f for f in findings if f["rule"] == "truncation"]
    assert 0.1 in truncation["parameters"].values() or 0.2 in truncation["parameters"].values()


def test_a_run_beside_is_in_the_report_with_its_role(sample_logs: Path, tmp_path: Path) -> None:
    code = run_command(
        [
            "report",
            str(sample_logs / "length_truncation"),
            "--against",
            f"sync={sample_logs / 'healthy'}",
            "--formats",
            "html",
            "--out",
            "out",
        ]
    )
    assert code == ExitCode.JUDGED
    page = (tmp_path / "out" / "postmortem.html").read_text("utf-8")
    assert "gsm8k-grpo/healthy-1" in page
    assert run_command(["report", str(sample_logs / "healthy"), "--against", "twin=x"]) == 2


def test_procedures_are_in_the_document_and_their_roles_are_known(
    sample_logs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, healthy = str(sample_logs / "length_truncation"), sample_logs / "healthy"
    asked = ["report", run, "--formats", "json", "--out", "out"]
    assert run_command([*asked, "--against", f"longer={healthy}"]) == ExitCode.JUDGED
    found = json.loads((tmp_path / "out" / "postmortem.json").read_text("utf-8"))
    jsonschema.validate(found, SCHEMA)
    first = found["procedures"][0]
    assert (first["id"], first["because"][0]) == ("truncation", "length-driven-truncation")
    longer = next(q for q in first["questions"] if q["id"] == "longer")
    # The two samples have the same limit, and so nothing is isolated.
    assert longer["state"] == "open" and "does not differ in gconfig" in longer["reason"]
    capsys.readouterr()
    assert run_command([*asked, "--against", f"longr={healthy}"]) == ExitCode.CANNOT_JUDGE
    assert "no such role (did you mean 'longer'?)" in capsys.readouterr().err


def test_a_report_without_pango_has_the_other_documents(
    sample_logs: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def missing(html: str) -> bytes:
        raise pdf.PdfUnavailable("no PDF: Pango is missing", hint="apt-get install pango")

    monkeypatch.setattr(pdf, "render_pdf", missing)
    assert run_command(["report", str(sample_logs / "healthy"), "--out", "out"]) == 0
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == [
        "postmortem.html",
        "postmortem.json",
        "postmortem.md",
    ]
    assert "no PDF: Pango is missing (apt-get install pango)" in capsys.readouterr().err


# --- the other commands -------------------------------------------------------------------


def test_doctor_names_the_reader(sample_logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (log,) = (sample_logs / "healthy").rglob("main.log")
    assert run_command(["doctor", str(log)]) == ExitCode.JUDGED
    assert "areal-text" in capsys.readouterr().out


def test_sql_refuses_to_write(sample_logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, lines = errors_of(capsys, "sql", sample_logs / "healthy", "DROP VIEW metrics")
    assert (code, len(lines)) == (ExitCode.CANNOT_JUDGE, 1)


def test_ingest_says_what_was_left_aside(
    sample_logs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(["ingest", str(sample_logs / "healthy")]) == ExitCode.JUDGED
    assert "left aside about.yaml" in capsys.readouterr().out


def test_metrics_show_takes_a_name_as_logged(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["metrics", "show", "ppo_actor/no_eos_ratios/avg"]) == ExitCode.JUDGED
    text = capsys.readouterr().out
    assert text.startswith("no_eos_ratio: ")
    assert "known defect A06" in text


def test_an_unknown_rule_is_told_with_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    code, lines = errors_of(capsys, "rules", "show", "truncatoin")
    assert code == ExitCode.CANNOT_JUDGE
    assert lines == ["unknown rule 'truncatoin' (did you mean 'truncation'?)"]


def test_doctor_takes_a_folder_that_is_one_source(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (run,) = (
        meta.parent
        for meta in (repository / "tests/sources/trackers/mlflow-3.17.2").glob(
            "mlruns/*/*/meta.yaml"
        )
        if "run_name: one" in meta.read_text()
    )
    assert run_command(["doctor", str(run)]) == ExitCode.JUDGED
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"{run}: mlflow (MLflow run (mlruns/<experiment>/<run>/))"
    assert lines[1:] == ["  13 rows of metrics", "  2 rows of config"]


def test_doctor_lists_the_sources_of_a_directory(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = repository / "tests/sources/trackers/swanlab-0.7.20"
    assert run_command(["doctor", str(folder)]) == ExitCode.JUDGED
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"exp/one: {folder}"
    assert lines[1].endswith("backup.swanlab: swanlab, 12,911 bytes")
    assert lines[2].endswith("/files/: left aside, what SwanLab keeps beside its run file")


def test_two_runs_compared(sample_logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs = str(sample_logs / "length_truncation"), str(sample_logs / "healthy")
    assert run_command(["compare", *runs, "--metric", "seq_len", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["runs"], found["against"]) == (
        ["gsm8k-grpo/truncation-1"],
        ["gsm8k-grpo/healthy-1"],
    )
    (metric,) = found["metrics"]
    assert (metric["metric"], metric["verdict"]) == ("seq_len", "higher")
    level = metric["measures"]["level"]
    assert level["difference"] == pytest.approx(level["here"] - level["there"])
    assert 0 < level["low"] < level["difference"] < level["high"]
    assert found["knows_seeds"] is False
    fired = {row["rule"]: row for row in found["findings"]}
    assert fired["truncation"]["here"]["fired"] and not fired["truncation"]["there"]["fired"]
    for form in ("text", "md"):
        assert run_command(["compare", *runs, "--metric", "seq_len", "--format", form]) == 0
        text = capsys.readouterr().out
        assert "seq_len" in text and "would have given is not known" in text


def test_a_run_is_the_same_as_itself(sample_logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = str(sample_logs / "healthy")
    assert run_command(["compare", run, run, "--format", "json", "--align", "time"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {metric["verdict"] for metric in found["metrics"]} == {"same"}
    assert found["config"] == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--metric", "task_rewrd"], "task_reward"),
        (["--metric", "eval_reward"], "not comparable"),
        (["--against", "sync=x"], "not for compare"),
    ],
)
def test_what_cannot_be_compared(
    sample_logs: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    run = str(sample_logs / "healthy")
    code, lines = errors_of(capsys, "compare", run, run, *arguments)
    assert code == ExitCode.CANNOT_JUDGE
    assert len(lines) == 1 and said in lines[0]
