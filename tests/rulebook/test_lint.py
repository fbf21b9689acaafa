"""One test for each mistake that a rule's author makes; the scaffold is the rule without any."""

from __future__ import annotations

from pathlib import Path

import pytest

from analyzer import pipeline_rules
from analyzer.errors import RuleErrors
from analyzer.resources import rules_dir
from analyzer.rulebook.lint import lint
from analyzer.rulebook.scaffold import write_scaffold
from analyzer.tables.catalog import load_catalog

LEVEL = "level: {series: entropy, below: $limit, for: 5}"
WARNING = "severity: info", "severity: warning"


@pytest.fixture
def rule(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The scaffold's rule file, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    return write_scaffold("my-rule", "policy", tmp_path / "mine")[0]


def faults(rule: Path, *changes: tuple[str, str]) -> list[str]:
    """What is said of the rule with the texts changed."""
    text = rule.read_text("utf-8")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    rule.write_text(text)
    try:
        pipeline_rules.lint_rules([rule.parent.parent])
    except RuleErrors as errors:
        return str(errors).splitlines()
    return []


def test_the_scaffold_has_no_fault(rule: Path) -> None:
    assert faults(rule) == []


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (
            ("series: entropy", "series: entrpy"),
            "unknown series 'entrpy' (did you mean 'entropy'?)",
        ),
        ((LEVEL, "levle: {series: entropy}"), "unknown condition 'levle' (did you mean 'level'?)"),
        (("when:\n  level", "when:\n  all:\n  level"), "is one kind with its parameters, not 2"),
        (("version: 1", "version: 1\nversion: 2"), "key 'version' stands twice"),
        (("below: $limit", "below: $limt"), "unknown parameter '$limt' (did you mean 'limit'?)"),
        (("for: 5", "for: five"), "for: "),
        (("for: 5", 'for: "5"'), "'5' is text, not a number"),
        ((LEVEL, "level: {series: clip_ratio, above: 5, for: 5}"), "outside the series' range"),
        ((LEVEL, "level: {series: clip_ratio, above: 1, for: 5}"), "can never hold"),
        (("for: 5", "for: 900"), "longer than a usual run"),
        (("{param:limit}", "{param:limti}"), "unknown placeholder {param:limti}"),
        (("{entropy.start}", "{entropy.begin}"), "unknown placeholder {entropy.begin}"),
        (("runbook: my-rule.md", "runbook: nowhere.md"), "runbook 'nowhere.md' does not exist"),
        (("id: my-rule", "id: other-rule"), "differs from the file's name"),
        (
            ("params:\n", "params:\n  spare: {default: 1, unit: steps, range: [0, 9], from: x}\n"),
            "parameter 'spare' is not used",
        ),
        (("default: 0.05", "default: 50"), "default 50 outside 0 to 10"),
        (
            ("  - do: Say what to do first", "  - do: x\n    config: {actor.lr: {multiply: 2}}"),
            "unknown configuration key 'actor.lr'",
        ),
        (("status: experimental", "status: deprecated"), "is deprecated without replaced_by"),
        (("tags: [policy]", "suppresses: [truncatoin]"), "did you mean 'truncation'?"),
        (("tags: [policy]", "tags: [policy]\nwen: 1"), "unknown key 'wen' (did you mean 'when'?)"),
        (("severity: info", "severity: grave"), "severity: "),
    ],
)
def test_a_mistake_is_told_with_its_place(rule: Path, change: tuple[str, str], says: str) -> None:
    told = faults(rule, change)
    assert any(says in line for line in told), told
    assert all("my-rule.yaml" in line for line in told), told


def test_one_step_is_hasty_for_a_warning(rule: Path) -> None:
    told = faults(rule, (", for: 5", ""), WARNING)
    assert any("one step is enough" in line for line in told), told


@pytest.mark.parametrize("calm", [", for: 3", ", after: 20", ", share: 0.2", ", smooth: 5"])
def test_what_makes_it_calm(rule: Path, calm: str) -> None:
    assert faults(rule, (", for: 5", calm), WARNING) == []


def test_two_limits_that_no_value_meets(rule: Path) -> None:
    both = (
        "all:\n    - level: {series: entropy, below: $limit, for: 5}\n"
        "    - level: {series: entropy, above: 0.5, for: 5}"
    )
    told = faults(rule, (LEVEL, both))
    assert any("cannot be above 0.5 and below 0.05" in line for line in told), told
    assert faults(rule, ("all:", "any:")) == []


def test_an_extreme_where_the_mean_is_meant(rule: Path) -> None:
    told = faults(rule, (LEVEL, "level: {series: importance_weight_max, above: $limit, for: 5}"))
    assert any("the rule speaks of no extreme (importance_weight?)" in line for line in told), told


def test_tests_of_every_kind_are_wanted(rule: Path) -> None:
    tests = rule.with_name("my-rule.test.yaml")
    tests.write_text(tests.read_text("utf-8").replace("kind: boundary", "kind: clear"))
    assert faults(rule) == ["mine/policy/my-rule.test.yaml: has no test of kind 'boundary'"]
    tests.unlink()
    (told,) = faults(rule)
    assert told.endswith("has no tests (write my-rule.test.yaml beside it)")


def test_an_empty_expectation_does_not_hide_that_nothing_was_checked(rule: Path) -> None:
    """`expect: []` of a clear case fails where the rule was not checked at all."""
    tests = rule.with_name("my-rule.test.yaml")
    text = tests.read_text("utf-8").replace('{entropy: "0.4-0.001x100~0.01"}', '{seq_len: "1x99"}')
    tests.write_text(text)
    passed, told = pipeline_rules.test_rules([rule.parent.parent], "my-rule", None)
    assert not passed
    assert "my-rule: not-checked (entropy is not logged in this run)" in told


def test_a_runbook_needs_its_parts(rule: Path) -> None:
    runbook = rule.with_name("my-rule.md")
    runbook.write_text(runbook.read_text("utf-8").replace("## Impact", "## Effect"))
    (told,) = faults(rule)
    assert "runbook my-rule.md has no part 'Impact'" in told


def test_an_id_that_was_published_must_live_on() -> None:
    catalog = load_catalog(rules_dir())
    from analyzer.rulebook.load import Rulebook

    (fault,) = lint(Rulebook((), ""), [], catalog, ["old-rule"])
    assert str(fault).startswith("rule 'old-rule' was published and is gone")


def test_a_cycle_of_causes(rule: Path) -> None:
    other = write_scaffold("other-rule", "policy", rule.parent.parent)[0]
    other.write_text(other.read_text("utf-8").replace("tags:", "suppresses: [my-rule]\ntags:"))
    told = faults(rule, ("tags:", "suppresses: [other-rule]\ntags:"))
    assert any("cycle of causes: " in line for line in told), told
