"""Which findings two runs have, and when they began."""

from __future__ import annotations

from analyzer.compare.model import OnsetDifference
from analyzer.findings.model import Finding, Judgement


def onset_differences(mine: Judgement, other: Judgement) -> tuple[OnsetDifference, ...]:
    """Rules that fired in one run or in both, in the order of this run's findings; those that
    are set aside are left out."""
    left = {finding.rule: finding for finding in mine.findings if finding.counts}
    right = {finding.rule: finding for finding in other.findings if finding.counts}
    return tuple(_row(left.get(rule), right.get(rule)) for rule in [*left, *(right.keys() - left)])


def _row(mine: Finding | None, other: Finding | None) -> OnsetDifference:
    known = mine or other
    assert known is not None
    return OnsetDifference(
        known.rule, known.title, mine is not None, other is not None, _step(mine), _step(other)
    )


def _step(finding: Finding | None) -> int | None:
    return finding.onset.step if finding is not None and finding.onset is not None else None
