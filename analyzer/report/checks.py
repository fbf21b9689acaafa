"""Checks that did not fire: how close they came, and why some could not be made."""

from __future__ import annotations

import re

from analyzer.findings.model import CheckState, Judgement
from analyzer.report.page import CheckRow, ReasonGroup
from analyzer.report.words import Words

SHOWN = 4  # rules or names in a line of page one
_NAMED = re.compile(r"([a-z][a-z0-9_]*) ([^;]+)")  # "entropy is not logged in this run"


def clear_rows(judgement: Judgement, words: Words) -> list[CheckRow]:
    """Checks that were clear, with their margin."""
    return [
        _row(c, _unbroken(words.phrase(c.margin))) for c in judgement.checks if c.state == "clear"
    ]


def broken_rows(judgement: Judgement) -> tuple[CheckRow, ...]:
    """Checks that failed by the rule's own fault."""
    return tuple(_row(c, c.reason) for c in judgement.checks if c.state == "error")


def reason_groups(judgement: Judgement) -> tuple[ReasonGroup, ...]:
    """Checks that could not be made, by reason, the commonest first."""
    groups: dict[str, list[str]] = {}
    for check in judgement.checks:
        if check.state == "not-checked":
            groups.setdefault(check.reason, []).append(check.rule)
    ordered = sorted(groups.items(), key=lambda group: -len(group[1]))
    return tuple(ReasonGroup(reason, tuple(rules)) for reason, rules in ordered)


def reason_lines(judgement: Judgement, words: Words) -> list[str]:
    """The same in few lines: reasons that differ in the series' name alone share one."""
    shared: dict[str, list[tuple[str, ReasonGroup]]] = {}
    for group in reason_groups(judgement):
        named = _NAMED.fullmatch(group.reason)
        name, what = named.groups() if named else ("", group.reason)
        shared.setdefault(what, []).append((name, group))
    ordered = sorted(shared.items(), key=lambda item: -sum(len(g.rules) for _, g in item[1]))
    return [_line(what, groups, words) for what, groups in ordered]


def _line(what: str, groups: list[tuple[str, ReasonGroup]], words: Words) -> str:
    if len(groups) == 1:
        ((_, group),) = groups
        reason = words.phrase(group.reason).rstrip(".")
        return words("first.reason", rules=words.listed(group.rules, SHOWN), reason=reason)
    needed = tuple(
        words("first.needed", name=name, rules=words.listed(group.rules, SHOWN))
        for name, group in groups
    )
    what = what.removeprefix("is ").rstrip(".")
    what = words.phrase(what[:1].upper() + what[1:])
    return words("first.lacking", what=what, names=words.listed(needed, SHOWN))


def closest(judgement: Judgement, words: Words) -> list[CheckRow]:
    """Clear checks of a series against a limit, the one nearest to it first."""
    clear = [check for check in judgement.checks if check.state == "clear"]
    rows = zip(clear, clear_rows(judgement, words), strict=True)
    near = [(check.nearness, row) for check, row in rows if check.nearness is not None]
    return [row for _, row in sorted(near, key=lambda item: -item[0])]


def _unbroken(margin: str) -> str:
    """The margin with its limit held together."""
    return margin.replace("> ", ">\u00a0").replace("< ", "<\u00a0")


def _row(check: CheckState, note: str) -> CheckRow:
    return CheckRow(check.rule, check.title, note)
