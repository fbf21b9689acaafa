"""Generated pages are in step; the pack passes its lint and its tests."""

from __future__ import annotations

from pathlib import Path

import jsonschema
import pytest

from analyzer import docs, pipeline_rules
from analyzer.cli import run_command
from analyzer.resources import rules_dir
from analyzer.rulebook.schema import json_schema
from analyzer.strict_yaml import load_document


@pytest.mark.parametrize(
    "name",
    ["docs/rules.md", "docs/metrics.md", "docs/sources.md", "docs/cli.md", "docs/procedures.md"],
)
def test_a_generated_page_is_in_step(name: str, repository: Path) -> None:
    assert (repository / name).read_text("utf-8") == docs.pages()[name], "run `make docs`"


@pytest.mark.parametrize("name", ["rules/rule.schema.json", "rules/procedure.schema.json"])
def test_a_schema_is_in_step(name: str, repository: Path) -> None:
    assert (repository / name).read_text("utf-8") == docs.pages()[name], "run `make docs`"


def test_the_list_of_ids_is_in_step(repository: Path) -> None:
    assert (repository / "rules" / "ids.txt").read_text("utf-8") == docs.pages()["rules/ids.txt"]


def test_the_pack_has_no_faults() -> None:
    assert pipeline_rules.lint_rules([]).endswith(": no faults\n")


def test_the_pack_passes_its_tests(tmp_path: Path) -> None:
    passed, text = pipeline_rules.test_rules([], None, tmp_path / "junit.xml")
    assert passed, text
    assert (tmp_path / "junit.xml").read_text("utf-8").startswith("<?xml")


def test_every_rule_fits_the_schema() -> None:
    validator = jsonschema.Draft202012Validator(json_schema())
    rules = [p for p in rules_dir().glob("*/*.yaml") if not p.name.endswith(".test.yaml")]
    checked = 0
    for path in rules:
        if path.parent.name in ("metrics", "config", "procedures"):
            continue
        validator.validate(load_document(path).data)
        checked += 1
    assert checked >= 30


def test_the_schema_refuses_a_typo_and_a_missing_key() -> None:
    validator = jsonschema.Draft202012Validator(json_schema())
    (rule,) = [p for p in rules_dir().glob("sequence/truncation.yaml")]
    good = load_document(rule).data
    assert validator.is_valid(good)
    assert not validator.is_valid({**good, "titel": "x"})
    assert not validator.is_valid({k: v for k, v in good.items() if k != "why"})
    assert not validator.is_valid({**good, "when": {"levle": {"series": "entropy", "above": 1}}})
    assert not validator.is_valid({**good, "when": {"level": {"serie": "entropy", "above": 1}}})
    assert validator.is_valid({**good, "when": {"level": {"series": "entropy", "above": "$limit"}}})


def test_every_command_has_help(capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("report", "check", "ingest", "sql", "doctor", "replay", "rules", "metrics"):
        assert run_command([command, "--help"]) == 0
        assert "Usage" in capsys.readouterr().out


def test_the_contract_names_every_command(repository: Path) -> None:
    text = (repository / "docs" / "contracts.md").read_text("utf-8")
    for command in ("report", "check", "ingest", "sql", "doctor", "replay", "rules", "metrics"):
        assert f"analyzer {command}" in text
