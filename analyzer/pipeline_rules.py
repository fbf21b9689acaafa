"""What the commands about rules and metrics print."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path
from xml.etree import ElementTree

from analyzer.errors import RuleErrors, UsageError
from analyzer.pipeline import (
    Settings,
    open_catalog,
    open_procedures,
    open_rulebook,
    rule_folders,
)
from analyzer.project import load_project
from analyzer.resources import rules_dir
from analyzer.rulebook.english import METHODS, in_words, sql_of
from analyzer.rulebook.lint import lint
from analyzer.rulebook.load import Rule, Rulebook
from analyzer.rulebook.scaffold import write_scaffold
from analyzer.rulebook.schema import json_schema
from analyzer.rulebook.testing import Result, Survivor, load_tests, run_tests, survivors
from analyzer.strict_yaml import did_you_mean
from analyzer.tables.catalog import Catalog


def _open(rules: Sequence[Path]) -> tuple[Catalog, Rulebook]:
    project = load_project()
    catalog = open_catalog(project)
    return catalog, open_rulebook(catalog, Settings(rules=tuple(rules), project=project))


def list_rules(
    rules: Sequence[Path], topic: str | None, severity: str | None, metric: str | None
) -> str:
    """One line a rule; only those of a topic, of a severity, or that look at a metric."""
    _, rulebook = _open(rules)
    chosen = [
        rule
        for rule in rulebook.rules
        if (topic is None or rule.topic == topic)
        and (severity is None or severity in severities(rule).split(", "))
        and (metric is None or metric in _series_of(rule))
    ]
    width = max((len(rule.id) for rule in chosen), default=0)
    return "".join(
        f"{rule.topic:<14} {rule.id:<{width}}  {severities(rule):<15} {rule.spec.title}\n"
        for rule in chosen
    )


def severities(rule: Rule) -> str:
    """The severities that a rule can have: "warning, error"."""
    return ", ".join(band.severity for band in rule.bands)


def show_rule(rule_id: str, rules: Sequence[Path]) -> str:
    """A rule in words, what it computes, its parameters, YAML and runbook.

    Raises UsageError for an unknown id.
    """
    catalog, rulebook = _open(rules)
    rule = rulebook.rule(rule_id)
    if rule is None:
        hint = did_you_mean(rule_id, [r.id for r in rulebook.rules]) or "see `analyzer rules list`"
        raise UsageError(f"unknown rule {rule_id!r}", hint=hint)
    lines = [f"{rule.id} v{rule.spec.version} ({rule.topic}, {severities(rule)}, {rule.path})"]
    lines += [rule.spec.title, "", " ".join(rule.spec.why.split()), ""]
    for band in rule.bands:
        lines += [f"{band.severity} when", *in_words(band.tree), ""]
    lines += ["parameters", *_parameters(rule), "", "computes", *_computes(rule, catalog)]
    return "\n".join([*lines, "", rule.text.rstrip(), "", rule.runbook.rstrip(), ""])


def _parameters(rule: Rule) -> list[str]:
    return [
        f"  {band.severity}: {p.name} = {p.value:g} {p.unit} ({p.source})"
        for band in rule.bands
        for p in band.parameters
    ] or ["  none"]


def _computes(rule: Rule, catalog: Catalog) -> list[str]:
    lines = [f"  {name}: {sql_of(name, catalog)}" for name in sorted(_series_of(rule))]
    kinds = dict.fromkeys(c.kind for c in rule.bands[0].tree.conditions())
    return lines + [f"  {kind}: {METHODS[kind]}" for kind in kinds if kind in METHODS]


def lint_rules(rules: Sequence[Path]) -> str:
    """A line of what was linted. Raises RuleErrors with every fault."""
    catalog, rulebook = _open(rules)
    settings = Settings(rules=tuple(rules), project=load_project())
    procedures = open_procedures(catalog, rulebook, settings)
    tests = load_tests(rule_folders(settings), rulebook, catalog)
    faults = lint(rulebook, tests, catalog, published_ids())
    if faults:
        raise RuleErrors(faults)
    count = sum(len(file.cases) for file in tests)
    incidents = {name for file in tests for case in file.cases for name in case.cases}
    return (
        f"{len(rulebook.rules)} rules, {count} tests, {len(incidents)} known incidents in them, "
        f"{len(procedures)} procedures: no faults\n"
    )


def published_ids() -> list[str]:
    """The ids of all rules that were ever published (rules/ids.txt)."""
    return (rules_dir() / "ids.txt").read_text("utf-8").split()


def test_rules(rules: Sequence[Path], only: str | None, junit: Path | None) -> tuple[bool, str]:
    """Run the tests; (all passed, a diff for each that did not and a closing line)."""
    catalog, rulebook = _open(rules)
    files = load_tests([rules_dir(), *load_project().rules, *rules], rulebook, catalog)
    files = tuple(f for f in files if only is None or fnmatch(f.rule, only))
    results = list(run_tests(files, rulebook, catalog))
    if junit is not None:
        junit.write_text(_junit(results), "utf-8")
    failed = [result for result in results if result.failure]
    lines = [line for result in failed for line in _diff(result)]
    lines.append(f"{len(results) - len(failed)} passed, {len(failed)} failed")
    return not failed, "\n".join(lines) + "\n"


def mutate_rules(rules: Sequence[Path], only: str | None) -> tuple[bool, str]:
    """Nudge every parameter of every stable rule; (all noticed, one line for each that was not)."""
    catalog, rulebook = _open(rules)
    files = load_tests([rules_dir(), *load_project().rules, *rules], rulebook, catalog)
    files = tuple(f for f in files if only is None or fnmatch(f.rule, only))
    found = list(survivors(files, rulebook, catalog))
    lines = [_survivor(survivor) for survivor in found]
    parameters = sum(len(r.spec.params) for r in rulebook.rules if r.id in {f.rule for f in files})
    lines.append(f"{parameters} parameters, {len(found)} that no test depends on")
    return not found, "\n".join(lines) + "\n"


def _survivor(survivor: Survivor) -> str:
    band = f" (band {survivor.band})" if survivor.band else ""
    tried = ", ".join(f"{value:g}" for value in survivor.tried)
    return f"{survivor.rule}.{survivor.param}{band}: no test notices {tried}"


def _diff(result: Result) -> list[str]:
    assert result.failure is not None
    lines = [f"{result.file.path}: {result.case.name}"]
    for wanted, got in zip(result.failure.wanted, result.failure.got, strict=True):
        lines += [f"  - {wanted}", f"  + {got}"]
    return lines


def _junit(results: Sequence[Result]) -> str:
    suite = ElementTree.Element(
        "testsuite",
        name="analyzer rules test",
        tests=str(len(results)),
        failures=str(sum(1 for result in results if result.failure)),
    )
    for result in results:
        case = ElementTree.SubElement(
            suite, "testcase", classname=result.file.rule, name=result.case.name
        )
        if result.failure:
            failure = ElementTree.SubElement(case, "failure", message="findings differ")
            failure.text = "\n".join(_diff(result))
    ElementTree.indent(suite)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + (
        ElementTree.tostring(suite, encoding="unicode") + "\n"
    )


def new_rule(rule_id: str, topic: str, folder: Path) -> str:
    """Write a rule that passes lint, its tests and its runbook; the paths written."""
    _, rulebook = _open([])
    if rulebook.rule(rule_id) is not None:
        raise UsageError(f"rule {rule_id!r} exists already", hint="choose another id")
    return "".join(f"{path}\n" for path in write_scaffold(rule_id, topic, folder))


def rule_schema() -> str:
    """The JSON Schema of a rule file."""
    return json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n"


def list_metrics() -> str:
    """One line a metric or derived series."""
    catalog = open_catalog(load_project())
    width = max(len(name) for name in catalog.series_names)
    return "".join(
        f"{name:<{width}}  {catalog.unit(name):<9} {catalog.meaning(name)}\n"
        for name in catalog.series_names
    )


def show_metric(name: str) -> str:
    """All that is known of a metric. Raises UsageError for an unknown name."""
    catalog, rulebook = _open([])
    name = name if name in catalog.series_names else catalog.canonical(name) or name
    if name not in catalog.series_names:
        known = [*catalog.series_names, *catalog.aliases]
        hint = did_you_mean(name, known) or "see `analyzer metrics list`"
        raise UsageError(f"unknown metric {name!r}", hint=hint)
    low, high = catalog.range(name)
    lines = [f"{name}: {catalog.meaning(name)}", f"unit: {catalog.unit(name)}"]
    if (low, high) != (None, None):
        lines.append(f"range: {'−∞' if low is None else low} to {'∞' if high is None else high}")
    if name in catalog.metrics:
        lines += _names_of(name, catalog)
    else:
        derived = catalog.derived[name]
        lines += ["computed as:", *(f"  {e}" for e in derived.expressions or [derived.sql or ""])]
    users = [rule.id for rule in rulebook.rules if name in _series_of(rule)]
    lines.append(f"rules: {', '.join(users) or 'none'}")
    return "\n".join(lines) + "\n"


def _names_of(name: str, catalog: Catalog) -> Iterator[str]:
    """How each framework logs a metric, and what is wrong with it there."""
    own = [logged for logged, alias in catalog.further.items() if alias.canonical == name]
    if own:
        yield from ["named by the project as:", *(f"  {n}" for n in own)]
    for vocabulary in catalog.vocabularies.values():
        logged = vocabulary.names_of(name)
        if logged:
            yield from [f"logged by {vocabulary.title} as:", *(f"  {n}" for n in logged)]
        for defect in vocabulary.defects.get(name, ()):
            mended = f" (mended on {defect.fixed})" if defect.fixed else ""
            yield f"known defect {defect.id}: {defect.text}{mended}"
            yield from (f"  {reference}" for reference in defect.references)


def _series_of(rule: Rule) -> set[str]:
    names = {name for c in rule.bands[0].tree.conditions() for name in c.series_names()}
    return names | set(rule.spec.needs)
