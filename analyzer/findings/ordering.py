"""Causes before consequences, and findings that another rule withdraws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from analyzer.findings.model import SEVERITIES, Finding, Suppression, Verdict


@dataclass(frozen=True, slots=True)
class Relations:
    """What a rule says of others: its consequences, and findings that it shows to be false."""

    suppresses: tuple[str, ...] = ()
    withdraws: tuple[str, ...] = ()


def relate(findings: Sequence[Finding], relations: Mapping[str, Relations]) -> tuple[Finding, ...]:
    """Set `caused_by` and `suppressed`, and order: causes first, the gravest and earliest first.

    A consequence must hold at or after its cause's onset; what ended before is its own finding.
    """
    fired = {finding.rule: finding for finding in findings}
    for finding in findings:
        for other in relations[finding.rule].withdraws:
            if other in fired:
                why = Suppression(finding.rule, finding.headline)
                fired[other] = replace(fired[other], suppressed=why)
    for finding in findings:
        if fired[finding.rule].suppressed is not None:
            continue
        for other in relations[finding.rule].suppresses:
            if other in fired and _can_follow(finding, fired[other]):
                caused_by = (*fired[other].caused_by, finding.id)
                fired[other] = replace(fired[other], caused_by=caused_by)
    return tuple(sorted(fired.values(), key=_rank))


def _can_follow(cause: Finding, consequence: Finding) -> bool:
    if cause.onset is None or consequence.end is None:
        return True
    return consequence.end >= cause.onset.low


def _rank(finding: Finding) -> tuple[bool, bool, int, int, str]:
    onset = finding.onset.step if finding.onset else -1
    return (
        finding.suppressed is not None,
        bool(finding.caused_by),
        -SEVERITIES.index(finding.severity),
        onset,
        finding.rule,
    )


def verdict_of(findings: Sequence[Finding], judged: bool) -> Verdict:
    """The gravest severity that counts; `judged` is false where nothing could be checked."""
    if not judged:
        return "cannot-judge"
    counting = [SEVERITIES.index(finding.severity) for finding in findings if finding.counts]
    return SEVERITIES[max(counting)] if counting else "ok"
