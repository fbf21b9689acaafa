"""Do a rule's tests notice when one of its parameters is another?

Each parameter is nudged down and up, by a fifth and then by half; at least one nudge must make a
test of the rule fail. A parameter that can be anything is either not tested or not needed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from analyzer.rulebook.load import Band, Rule, Rulebook
from analyzer.rulebook.testing.cases import TestFile
from analyzer.rulebook.testing.runner import compare, judge_case
from analyzer.rulebook.vary import with_value
from analyzer.tables.catalog import Catalog

NUDGES = (0.8, 1.25, 0.5, 2.0)
Values = Mapping[str, float | int]


@dataclass(frozen=True, slots=True)
class Survivor:
    """A parameter that no test of the rule depends on."""

    rule: str
    param: str
    band: str | None  # of a banded parameter
    tried: tuple[float, ...]


def survivors(
    files: Sequence[TestFile], rulebook: Rulebook, catalog: Catalog
) -> Iterator[Survivor]:
    """Parameters of stable rules whose nudges no test notices."""
    by_rule = {file.rule: file for file in files}
    for rule in rulebook.rules:
        if rule.spec.status != "stable" or rule.id not in by_rule:
            continue
        for param in rule.spec.params:
            banded = [b for b in rule.bands if param in (rule.spec.bands or {}).get(b.severity, {})]
            targets: list[Band | None] = [*banded] or [None]
            for band in targets:
                tried = _tried(rule, param, band)
                mutants = (_mutant(rule, param, band, value) for value in tried)
                if not any(
                    m and _noticed(by_rule[rule.id], rule, m, rulebook, catalog) for m in mutants
                ):
                    yield Survivor(rule.id, param, band.severity if band else None, tried)


def _tried(rule: Rule, param: str, band: Band | None) -> tuple[float, ...]:
    value = (band or rule.bands[0]).values[param]
    if isinstance(value, int):
        steps = [
            value + sign * max(1, round(abs(value) * part))
            for part in (0.2, 0.5, 1)
            for sign in (-1, 1)
        ]
        return tuple(dict.fromkeys(max(step, 0) for step in steps if max(step, 0) != value))
    return tuple(value * nudge for nudge in NUDGES) if value else (-0.1, 0.1, 1.0)


def _mutant(rule: Rule, param: str, band: Band | None, value: float) -> Rule | None:
    """The rule with another value in one band, or in all; None where that is no valid rule."""
    bands = [band] if band is not None else rule.bands
    return with_value(rule, param, value, [each.severity for each in bands])


def _noticed(
    file: TestFile, rule: Rule, mutant: Rule, rulebook: Rulebook, catalog: Catalog
) -> bool:
    rules = tuple(mutant if r.id == rule.id else r for r in rulebook.rules)
    changed = replace(rulebook, rules=rules)
    return any(
        compare(file.rule, case, judge_case(file.rule, case, changed, catalog)) is not None
        for case in file.cases
    )
