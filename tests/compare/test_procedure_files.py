"""One test for each mistake in a procedure file; the example of the documentation has none."""

from __future__ import annotations

import re
from pathlib import Path

import jsonschema
import pytest
from compared_runs import CATALOG
from procedures_of import PROCEDURES, RULES

from analyzer import pipeline_rules
from analyzer.compare.procedure_files import load_procedures
from analyzer.compare.procedure_schema import procedure_schema
from analyzer.errors import RuleErrors
from analyzer.resources import rules_dir
from analyzer.strict_yaml import load_document, parse_document


@pytest.fixture
def example(repository: Path, tmp_path: Path) -> Path:
    """The procedure that docs/procedures.md writes, in a folder of its own."""
    page = (repository / "docs" / "procedures.md").read_text("utf-8")
    (text,) = re.findall(r"```yaml\n(# yaml-language-server.*?)```", page, re.S)
    path = tmp_path / "mine" / "procedures" / "is-it-the-temperature.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(text, "utf-8")
    return path


def faults(path: Path, *changes: tuple[str, str]) -> list[str]:
    text = path.read_text("utf-8")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    path.write_text(text, "utf-8")
    try:
        load_procedures([path.parent.parent], CATALOG, RULES)
    except RuleErrors as errors:
        return str(errors).splitlines()
    return []


def test_the_example_has_no_fault(example: Path) -> None:
    assert faults(example) == []
    (loaded,) = load_procedures([example.parent.parent], CATALOG, RULES)
    assert loaded.roles() == ("warmer",)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("id: is-it-the-temperature", "id: other"), "differs from the file's name"),
        (("version: 1", "version: 1\nversion: 2"), "key 'version' stands twice"),
        (("[entropy-collapse]", "[entropy-colapse]"), "unknown rule 'entropy-colapse' (did you"),
        (("ask: higher}\n    no", "ask: hihger}\n    no"), "unknown question 'hihger' (did you"),
        (("{ask: higher}", "{ask: low}"), "'low' stands before"),
        (("no: {conclude: not-temperature}", "no: {conclude: not-temp}"), "unknown conclusion"),
        (("    yes: {conclude: temperature}", "    yes: {}"), "leads to conclusion 'temperature'"),
        (
            ("yes: {ask: higher}\n    no: {conclude: not-temperature}\n    open: {ask: higher}",
             "yes: {conclude: temperature}\n    no: {conclude: not-temperature}"),
            "no branch leads to question 'higher'",
        ),
        (("series: task_reward, better", "series: task_rward, better"), "unknown series"),
        (("series: task_reward, better", "series: entropy, better"), "has no better and worse"),
        (("effect: {series: task_reward", "effect: {series: task_rward"), "unknown series"),
        (("times: reward_range}\n    yes", "times: reward_rang}\n    yes"), "unknown fact"),
        (("gconfig.temperature: {set", "gconfig.temprature: {set"), "unknown configuration key"),
        (("{set: 1.0}", "{set: warm}"), 'gconfig.temperature is float, not "warm"'),
        (("{set: 1.0}", "{set: true}"), "gconfig.temperature is float, not true"),
        (("{append: _warmer}", "{planned: steps}"), "trial_name is str, not 1"),
        (("{set: 1.0}", "{copy: trial_name}"), "gconfig.temperature is float, and the other str"),
        (("below: 1", "belwo: 1"), "unknown key 'belwo'"),
        (("config: {key", "confg: {key"), "unknown condition 'confg' (did you mean 'config'?)"),
        (("      - yes: {config", "      - in: x\n        finding: {rule: truncation}\n"
          "        yes: {config"), "evidence is one of compare, finding, or yes and no"),
        (("        no: otherwise", "        no: perhaps"), "otherwise"),
        (("      effect:", "      steps: 5\n      effect:"), "one of effect, steps, past_onset"),
        (("about: Where", "abuot: Where"), "unknown key 'abuot'"),
    ],
)  # fmt: skip
def test_a_mistake_is_told_with_its_line(example: Path, change: tuple[str, str], says: str) -> None:
    found = faults(example, change)
    assert any(says in line for line in found), found
    assert all(re.match(r"mine/procedures/is-it-the-temperature\.yaml:\d+:\d+: ", x) for x in found)


def test_the_line_is_that_of_the_key(example: Path) -> None:
    (fault,) = faults(example, ("gconfig.temperature: {set: 1.0}", "gconfig.temperature: {set: x}"))
    lines = example.read_text("utf-8").splitlines()
    line = 1 + next(i for i, text in enumerate(lines) if "{set: x}" in text)
    assert fault.startswith(f"mine/procedures/is-it-the-temperature.yaml:{line}:9: ")


def test_a_translation_is_whole(example: Path) -> None:
    text = "\ntranslations:\n  zh:\n    title: x\n    questions: {low: {ask: x, why: x}}\n"
    example.write_text(example.read_text("utf-8") + text + "    conclusions: {}\n", "utf-8")
    found = faults(example)
    assert any("question 'higher' is not in both languages" in line for line in found)
    assert any("conclusion 'temperature' is not in both" in line for line in found)


def test_one_id_twice(example: Path) -> None:
    with pytest.raises(RuleErrors, match="is defined twice"):
        load_procedures([example.parent.parent] * 2, CATALOG, RULES)


def test_lint_reads_procedures(example: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(example.parent)
    assert f"{len(PROCEDURES) + 1} procedures" in pipeline_rules.lint_rules([example.parent.parent])
    assert faults(example, ("version: 1", "version: none"))
    with pytest.raises(RuleErrors, match="version"):
        pipeline_rules.lint_rules([example.parent.parent])


def test_the_pack_is_in_both_languages_and_fits_the_schema() -> None:
    validator = jsonschema.Draft202012Validator(procedure_schema())
    paths = sorted((rules_dir() / "procedures").glob("*.yaml"))
    assert [path.stem for path in paths] == [procedure.spec.id for procedure in PROCEDURES]
    for path, procedure in zip(paths, PROCEDURES, strict=True):
        validator.validate(load_document(path).data)
        assert "zh" in procedure.spec.translations, procedure.spec.id
        for name, text in procedure.spec.translations["zh"].conclusions.items():
            assert bool(text.variable) == bool(procedure.spec.conclusions[name].variable)


def test_the_schema_refuses_a_typo() -> None:
    validator = jsonschema.Draft202012Validator(procedure_schema())
    good = load_document(rules_dir() / "procedures" / "truncation.yaml")
    assert validator.is_valid(good.data)
    for old, new in (("questions:", "qestions:"), ("past_onset: 20", "past_onset: x")):
        assert not validator.is_valid(parse_document(good.text.replace(old, new, 1), "x").data)
