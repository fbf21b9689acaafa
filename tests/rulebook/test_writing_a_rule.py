"""The guide's example works as printed, and its reference names every condition and parameter."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from analyzer import pipeline, pipeline_rules
from analyzer.rulebook.conditions import BY_KIND
from analyzer.rulebook.lint import lint
from analyzer.rulebook.testing import load_tests

GUIDE = Path(__file__).parents[2] / "docs" / "writing-a-rule.md"
FILE = re.compile(r"`(my-rules/\S+?)`[^`]*?```(?:yaml|markdown)\n(.*?)```", re.S)
ID = "episodes-at-turn-limit"


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """The files of the example, below a fresh directory."""
    for name, text in FILE.findall(GUIDE.read_text("utf-8")):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return tmp_path / "my-rules"


def test_example_is_three_files(written: Path) -> None:
    names = sorted(path.name for path in written.rglob("*") if path.is_file())
    assert names == [f"{ID}.md", f"{ID}.test.yaml", f"{ID}.yaml"]


def test_example_has_no_faults(written: Path) -> None:
    catalog = pipeline.open_catalog()
    rulebook = pipeline.open_rulebook(catalog, pipeline.Settings(rules=(written,)))
    faults = lint(rulebook, load_tests([written], rulebook, catalog), catalog)
    assert [str(fault) for fault in faults if "my-rules" in str(fault)] == []


def test_example_passes(written: Path) -> None:
    passed, text = pipeline_rules.test_rules([written], ID, None)
    assert (passed, text) == (True, "7 passed, 0 failed\n")


@pytest.mark.parametrize("kind", sorted(BY_KIND))
def test_reference_names_every_parameter(kind: str) -> None:
    reference = GUIDE.read_text("utf-8").partition("### Conditions")[2].partition("### Severity")[0]
    assert f"| `{kind}` |" in reference
    fields = BY_KIND[kind].model_fields
    names = [field.alias or name for name, field in fields.items()]
    assert [name for name in names if f"`{name}" not in reference] == []
