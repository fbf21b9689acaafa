"""Which findings stand where: causes first, each followed by what follows from it."""

from __future__ import annotations

from collections.abc import Sequence

from analyzer.findings.model import SEVERITIES, Finding, Judgement

CONFIGURATION = "configuration"


def independent(judgement: Judgement) -> list[Finding]:
    """Findings that count and follow from no other that counts, the gravest first."""
    counting = [f for f in judgement.findings if f.counts]
    ids = {f.id for f in counting}
    roots = [f for f in counting if not ids & set(f.caused_by)]
    return sorted(roots or counting, key=lambda f: -SEVERITIES.index(f.severity))


def by_cause(findings: Sequence[Finding]) -> list[Finding]:
    """Each cause, then its consequences, then the next cause."""
    ids = {f.id for f in findings}
    placed: dict[str, Finding] = {}

    def put(finding: Finding) -> None:
        if finding.id not in placed:
            placed[finding.id] = finding
            for other in findings:
                if finding.id in other.caused_by:
                    put(other)

    for finding in findings:
        if not ids & set(finding.caused_by):
            put(finding)
    for finding in findings:
        put(finding)
    return list(placed.values())


def anchor(finding: Finding) -> str:
    """The id of the finding's place on the page."""
    return f"finding-{finding.id}"
