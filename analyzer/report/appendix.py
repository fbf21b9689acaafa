"""Sources, parameters, rule texts, runbooks, methods, versions: what an auditor needs."""

from __future__ import annotations

import hashlib

from analyzer.findings.model import Finding, Judgement
from analyzer.report.capped import cap
from analyzer.report.facts import Desk
from analyzer.report.page import Appendix, ParameterRow, QualityRow, RuleText, SourceRow
from analyzer.report.runbooks import runbook_html
from analyzer.report.show import format_parameter, size_text
from analyzer.report.words import Words
from analyzer.tables.manifest import Manifest

ROWS = 40
METHODS = ("reading", "trend", "together", "shift", "multiple", "cost", "chart")
FULL_PRECISION = 15  # digits; more are those of a binary number


def appendix(judgement: Judgement, desk: Desk, tool_version: str) -> Appendix:
    """The appendices of this run."""
    words, manifest = desk.words, desk.manifest
    findings = judgement.findings
    sources = [
        SourceRow(
            s.path, s.format, size_text(s.bytes), f"{s.rows:,}", _digits(s.digits, words), s.sha256
        )
        for s in manifest.sources
    ]
    skipped = [QualityRow("", words.phrase(s.reason), "", s.path) for s in manifest.skipped]
    parameters = [row for finding in findings for row in _parameters(finding)]
    return Appendix(
        cap(sources, ROWS),
        cap(skipped, ROWS),
        cap(parameters, ROWS),
        tuple(_rule(f) for f in findings if f.rule_text.strip()),
        tuple(_runbook(f) for f in findings if f.runbook.strip()),
        tuple(words(f"method.{name}") for name in METHODS),
        _versions(judgement, manifest, tool_version, words),
    )


def evidence_sha256(manifest: Manifest) -> str:
    """One hash for all that was read: SHA-256 over the lines `<sha256>  <path>`, by path."""
    lines = sorted((s.path, s.sha256) for s in manifest.sources)
    text = "".join(f"{sha256}  {path}\n" for path, sha256 in lines)
    return hashlib.sha256(text.encode()).hexdigest()


def short_hash(sha256: str) -> str:
    """The ends of a hash, enough to compare by eye."""
    return f"{sha256[:4]}…{sha256[-4:]}"


def _digits(digits: int, words: Words) -> str:
    return words("source.exact") if digits >= FULL_PRECISION else str(digits)


def _parameters(finding: Finding) -> list[ParameterRow]:
    return [
        ParameterRow(finding.rule, p.name, format_parameter(p.value, p.unit), p.source)
        for p in finding.parameters
    ]


def _rule(finding: Finding) -> RuleText:
    return RuleText(f"rule-{finding.rule}", finding.rule, finding.rule_text.strip("\n"))


def _runbook(finding: Finding) -> RuleText:
    return RuleText(f"runbook-{finding.rule}", finding.rule, runbook_html(finding.runbook))


def _versions(
    judgement: Judgement, manifest: Manifest, tool_version: str, words: Words
) -> tuple[tuple[str, str], ...]:
    unknown = words("unknown")
    framework = " ".join(filter(None, (manifest.framework, manifest.framework_version)))
    return (
        (words("version.tool"), tool_version),
        (words("version.rules"), judgement.rules_sha256),
        (words("version.evidence"), evidence_sha256(manifest)),
        (words("version.framework"), framework or unknown),
        (words("version.run"), manifest.run),
    )
