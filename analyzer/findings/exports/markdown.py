"""Findings as a short Markdown comment."""

from __future__ import annotations

from analyzer.findings.model import Finding, Verdicts


def render_markdown(verdicts: Verdicts) -> str:
    """The verdict, each finding in a line, the remedies of the first as a block."""
    run, judgement = verdicts.run, verdicts.judgement
    coverage = judgement.coverage
    lines = [
        f"**{judgement.verdict}** · `{run.id}`",
        "",
        f"{coverage.fired} fired, {coverage.clear} clear, {coverage.not_checked} not checked, "
        f"{coverage.errors} in error, of {coverage.rules} checks.",
        "",
    ]
    for finding in judgement.findings:
        lines.append(_line(finding))
    first = next((f for f in judgement.findings if f.counts and not f.caused_by), None)
    if first is not None:
        lines += ["", *_remedies(first)]
    return "\n".join(lines).rstrip() + "\n"


def _line(finding: Finding) -> str:
    since = f", since step {finding.onset.step}" if finding.onset else ""
    indent = "  " if finding.caused_by else ""
    text = f"{indent}- {finding.severity}: {finding.headline} (`{finding.rule}`{since})"
    if finding.suppressed:
        text += f" — set aside by `{finding.suppressed.by}`"
    return text


def _remedies(finding: Finding) -> list[str]:
    lines = []
    for remedy in finding.remedies:
        if remedy.status == "already":
            continue
        lines.append(f"1. {remedy.do}")
        if remedy.changes:
            lines.append("   ```yaml")
            for change in remedy.changes:
                now = "not set" if change.now is None else change.now
                lines.append(f"   {change.key}: {change.to}  # now {now}")
            lines.append("   ```")
    return lines
