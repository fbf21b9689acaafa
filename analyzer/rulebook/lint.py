"""What is wrong with rules that load: missing tests, runbooks without their parts, bad limits."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from analyzer.errors import Location, RuleError
from analyzer.rulebook.load import Rule, Rulebook
from analyzer.rulebook.narrative import LEVELS, PLACEHOLDER
from analyzer.rulebook.testing.cases import KINDS, TestFile
from analyzer.tables.catalog import Catalog

RUNBOOK_PARTS = ("Meaning", "Impact", "Diagnosis", "Mitigation")


def lint(rulebook: Rulebook, tests: Sequence[TestFile], catalog: Catalog) -> list[RuleError]:
    """Every fault of every rule, in the order of the rules."""
    by_rule = {file.rule: file for file in tests}
    faults = []
    for rule in rulebook.rules:
        faults += list(_tests(rule, by_rule))
        for check in CHECKS:
            faults += [
                RuleError(message, at=Location(rule.path), hint=hint)
                for message, hint in check(rule, catalog)
            ]
    return faults


def _tests(rule: Rule, by_rule: Mapping[str, TestFile]) -> Iterator[RuleError]:
    """Each rule has at least one firing, clear, not-checked and boundary case."""
    place = Location(rule.path)
    if rule.id not in by_rule:
        yield RuleError("has no tests", at=place, hint=f"write {rule.id}.test.yaml beside it")
        return
    kinds = {case.kind for case in by_rule[rule.id].cases}
    for kind in KINDS:
        if kind not in kinds:
            where = Location(by_rule[rule.id].path)
            yield RuleError(f"has no test of kind {kind!r}", at=where)


Fault = tuple[str, str]


def _runbook(rule: Rule, catalog: Catalog) -> Iterator[Fault]:
    headings = re.findall(r"^## (.+)$", rule.runbook, re.M)
    for part in RUNBOOK_PARTS:
        if part not in headings:
            yield f"runbook {rule.spec.runbook} has no part {part!r}", f"add `## {part}`"


def _placeholders(rule: Rule, catalog: Catalog) -> Iterator[Fault]:
    spec = rule.spec
    texts = [spec.headline, *spec.summary, *(remedy.do for remedy in spec.remedies)]
    for translation in spec.translations.values():
        texts += [translation.headline, *translation.summary, *translation.remedies]
    for text in texts:
        for name in PLACEHOLDER.findall(text):
            if not _known(name, rule, catalog):
                yield f"unknown placeholder {{{name}}}", "see docs/writing-a-rule.md"


def _known(name: str, rule: Rule, catalog: Catalog) -> bool:
    kind, colon, rest = name.partition(":")
    if colon:
        return {
            "config": rest in catalog.config_keys,
            "fact": rest in catalog.facts,
            "param": rest in rule.spec.params,
        }.get(kind, False)
    subject, _, part = name.partition(".")
    labels = {c.label for band in rule.bands for c in band.tree.conditions() if c.label}
    if subject in ("onset", "end"):
        return part in ("", "interval")
    if subject in labels:
        return part in ("", "value", "text")
    return subject in catalog.series_names and part in LEVELS


def _ranges(rule: Rule, catalog: Catalog) -> Iterator[Fault]:
    """A limit outside the values that the series can take; 5 where 0.05 is meant."""
    for band in rule.bands:
        for condition in band.tree.conditions():
            names = condition.series_names()
            if len(names) != 1:
                continue
            low, high = catalog.range(names[0])
            for field in ("above", "below", "value"):
                limit = getattr(condition, field, None)
                if not isinstance(limit, int | float) or condition.kind not in ("level", "target"):
                    continue
                if (high is not None and limit > high) or (low is not None and limit < low):
                    yield (
                        f"{condition.kind} {names[0]}: {field} {limit:g} lies outside the series' "
                        f"range {low} to {high}",
                        f"the unit is {catalog.unit(names[0])}",
                    )


def _parameters(rule: Rule, catalog: Catalog) -> Iterator[Fault]:
    text = str(rule.spec.when)
    for name, param in rule.spec.params.items():
        low, high = param.range
        if f"'${name}'" not in text and not _in_texts(name, rule):
            yield f"parameter {name!r} is not used", "use it in when: or remove it"
        if (low is not None and param.default < low) or (high is not None and param.default > high):
            yield f"parameter {name!r}: default {param.default:g} outside {low} to {high}", ""


def _in_texts(name: str, rule: Rule) -> bool:
    drawn = {limit.param for chart in rule.spec.charts for limit in chart.limits}
    unless = " ".join(str(remedy.unless) for remedy in rule.spec.remedies)
    return name in drawn or f"'${name}'" in unless


def _remedies(rule: Rule, catalog: Catalog) -> Iterator[Fault]:
    for translation in rule.spec.translations.values():
        if len(translation.remedies) != len(rule.spec.remedies):
            yield (
                f"{len(rule.spec.remedies)} remedies, {len(translation.remedies)} translated",
                "one sentence a remedy, in the same order",
            )


CHECKS: tuple[Callable[[Rule, Catalog], Iterator[Fault]], ...] = (
    _runbook,
    _placeholders,
    _ranges,
    _parameters,
    _remedies,
)
