"""Causes before consequences, and findings that another rule withdraws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from analyzer.findings.model import SEVERITIES, Finding, Suppression, Verdict

SETTLING = 5  # an onset within so many steps of the first counts as the start


@dataclass(frozen=True, slots=True)
class Relations:
    """What a rule says of others: its consequences, and findings that it shows to be false."""

    suppresses: tuple[str, ...] = ()
    withdraws: tuple[str, ...] = ()


def relate(
    findings: Sequence[Finding], relations: Mapping[str, Relations], first_step: int = 0
) -> tuple[Finding, ...]:
    """Set `caused_by` and `suppressed`, and order.

    Causes first, the gravest first; then what changed during the run before what was so from its
    start, and the earliest first: a reader wants to know what happened, then what always was.
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
    return tuple(sorted(fired.values(), key=lambda finding: _rank(finding, first_step)))


def _can_follow(cause: Finding, consequence: Finding) -> bool:
    if cause.onset is None or consequence.end is None:
        return True
    return consequence.end >= cause.onset.low


def _rank(finding: Finding, first_step: int) -> tuple[bool, bool, int, int, int, str]:
    onset = finding.onset.step if finding.onset else 0
    return (
        finding.suppressed is not None,
        bool(finding.caused_by),
        -SEVERITIES.index(finding.severity),
        _kind(finding, first_step),
        onset,
        finding.rule,
    )


def _kind(finding: Finding, first_step: int) -> int:
    """0 what changed during the run, 1 what was so from the start, 2 what has no step."""
    if finding.onset is None:
        return 2
    return 0 if finding.onset.low > first_step + SETTLING else 1


def verdict_of(findings: Sequence[Finding], judged: bool) -> Verdict:
    """The gravest severity that counts; `judged` is false where nothing could be checked."""
    if not judged:
        return "cannot-judge"
    counting = [SEVERITIES.index(finding.severity) for finding in findings if finding.counts]
    return SEVERITIES[max(counting)] if counting else "ok"
