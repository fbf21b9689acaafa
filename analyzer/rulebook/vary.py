"""A rule with another value for one of its parameters, and which parameters are limits."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import Any

from analyzer.findings.model import Severity
from analyzer.rulebook.load import Rule
from analyzer.rulebook.tree import build_tree
from analyzer.strict_yaml import Document

# What a condition compares with, and which way of it fires less often.
STRICTER = {
    "above": 1,
    "below": -1,
    "min_change": 1,
    "min_change_ratio": 1,
    "min_effect": 1,
    "min_rho": 1,
    "tolerance": 1,
    "z": 1,
}


@dataclass(frozen=True, slots=True)
class Limit:
    """A parameter that a rule compares with; `sign`: +1 where a larger one fires less often."""

    param: str
    sign: int


def with_value(rule: Rule, param: str, value: float, bands: Collection[Severity]) -> Rule | None:
    """The rule with another value in these bands; None where that is no valid rule."""
    changed = []
    for band in rule.bands:
        if band.severity not in bands:
            changed.append(band)
            continue
        values = {**band.values, param: value}
        document = Document(rule.path, rule.text, rule.spec.when)
        tree = build_tree(document, (), rule.spec.when, values)
        if tree is None:
            return None
        changed.append(replace(band, tree=tree, values=values))
    return replace(rule, bands=tuple(changed))


def overridden(rule: Rule, param: str, value: float) -> Rule | None:
    """The rule as `--set` makes it: of a parameter that differs by band the mildest band's."""
    banded = rule.spec.bands or {}
    bands = [
        band.severity
        for i, band in enumerate(rule.bands)
        if i == 0 or param not in banded.get(band.severity, {})
    ]
    return with_value(rule, param, value, bands)


def limits_of(rule: Rule) -> tuple[Limit, ...]:
    """The parameters that conditions compare with: those that differ by band first."""
    signs: dict[str, int] = {}
    for param, sign in _compared(rule.spec.when, 1):
        signs.setdefault(param, sign)
    banded = {name for values in (rule.spec.bands or {}).values() for name in values}
    order = sorted(signs, key=lambda param: (param not in banded, list(signs).index(param)))
    return tuple(Limit(param, signs[param]) for param in order)


def _compared(data: Any, sign: int) -> Iterator[tuple[str, int]]:
    """Parameters behind the keys that compare, in the order written; `not` turns the sign."""
    if isinstance(data, list):
        for item in data:
            yield from _compared(item, sign)
    elif isinstance(data, dict):
        for key, inside in data.items():
            if isinstance(inside, str) and inside.startswith("$") and key in STRICTER:
                yield inside[1:], sign * STRICTER[key]
            elif isinstance(inside, dict | list):
                yield from _compared(inside, -sign if key == "not" else sign)
