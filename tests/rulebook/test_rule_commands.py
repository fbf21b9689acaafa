"""`analyzer rules`: show, list, new, and the mutation check."""

from __future__ import annotations

from pathlib import Path

import pytest

from analyzer import pipeline_rules
from analyzer.cli import run_command
from analyzer.errors import ExitCode


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_rule_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["rules", "show", "length-driven-truncation"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "  - seq_len rises by at least 10 % of its start" in lines
    assert (
        "  - truncation_excess is above 0.05, for 5 logged steps in a row, 1 exceptions allowed"
        in lines
    )
    assert any("SELECT step, value FROM standing WHERE canonical = 'seq_len'" in x for x in lines)


def test_rules_of_every_topic_can_be_shown(capsys: pytest.CaptureFixture[str]) -> None:
    run_command(["rules", "list"])
    rules = [line.split()[1] for line in capsys.readouterr().out.splitlines()]
    assert len(rules) >= 30
    for rule in rules[::9]:  # every topic; each look loads the whole pack
        text = pipeline_rules.show_rule(rule, [])
        assert "## Mitigation" in text
        assert "when" in text


def test_the_list_is_filtered(capsys: pytest.CaptureFixture[str]) -> None:
    run_command(["rules", "list", "--topic", "sequence", "--severity", "error"])
    shown = {line.split()[1] for line in capsys.readouterr().out.splitlines()}
    assert {"truncation", "length-driven-truncation"} <= shown
    assert "length-growth" not in shown
    run_command(["rules", "list", "--metric", "grad_norm"])
    shown = {line.split()[1] for line in capsys.readouterr().out.splitlines()}
    assert "grad-nonfinite" in shown
    assert "truncation" not in shown


def test_a_new_rule_passes_lint_its_tests_and_the_mutation_check(tmp_path: Path) -> None:
    assert run_command(["rules", "new", "my-rule", "--rules", "mine", "--topic", "policy"]) == 0
    mine = [tmp_path / "mine"]
    assert pipeline_rules.lint_rules(mine).endswith(": no faults\n")
    assert pipeline_rules.test_rules(mine, "my-rule", None) == (True, "4 passed, 0 failed\n")
    written = tmp_path / "mine" / "policy" / "my-rule.yaml"
    written.write_text(written.read_text("utf-8").replace("experimental", "stable"))
    assert pipeline_rules.mutate_rules(mine, "my-rule")[0]


def test_a_new_rule_overwrites_nothing() -> None:
    assert run_command(["rules", "new", "my-rule", "--rules", "mine"]) == 0
    assert run_command(["rules", "new", "my-rule", "--rules", "mine"]) == ExitCode.CANNOT_JUDGE
    assert run_command(["rules", "new", "truncation", "--rules", "mine"]) == 2
    assert run_command(["rules", "new", "My_Rule", "--rules", "mine"]) == 2


def test_a_parameter_that_no_test_depends_on_is_told(tmp_path: Path) -> None:
    run_command(["rules", "new", "my-rule", "--rules", "mine"])
    written = tmp_path / "mine" / "policy" / "my-rule.yaml"
    text = written.read_text("utf-8").replace("experimental", "stable")
    text = text.replace("for: 5", "for: $steps").replace(
        "params:\n", "params:\n  steps: {default: 5, unit: steps, range: [1, 99], from: x}\n"
    )
    written.write_text(text)
    passed, told = pipeline_rules.mutate_rules([tmp_path / "mine"], "my-rule")
    assert not passed
    assert told.startswith("my-rule.steps: no test notices 4, 6, ")
