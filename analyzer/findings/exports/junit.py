"""Findings as JUnit XML: a test case a check, not-checked ones skipped."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from analyzer.findings.model import CheckState, Judgement, Verdicts

# Characters that XML 1.0 cannot hold, not even escaped.
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render_junit(verdicts: Verdicts) -> str:
    """One suite for the run."""
    judgement = verdicts.judgement
    failed = sum(_fails(check, judgement) for check in judgement.checks)
    suite = ElementTree.Element(
        "testsuite",
        name=f"analyzer: {verdicts.run.id}",
        tests=str(judgement.coverage.rules),
        failures=str(failed),
        errors=str(judgement.coverage.errors),
        skipped=str(judgement.coverage.not_checked),
    )
    for check in judgement.checks:
        _case(suite, check, judgement)
    ElementTree.indent(suite)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + (
        ElementTree.tostring(suite, encoding="unicode") + "\n"
    )


def _fails(check: CheckState, judgement: Judgement) -> bool:
    finding = judgement.finding(check.rule)
    return finding is not None and finding.counts and finding.severity != "info"


def _case(suite: ElementTree.Element, check: CheckState, judgement: Judgement) -> None:
    case = ElementTree.SubElement(suite, "testcase", classname=check.topic, name=check.rule)
    finding = judgement.finding(check.rule)
    if check.state == "not-checked":
        ElementTree.SubElement(case, "skipped", message=_clean(check.reason))
    elif check.state == "error":
        ElementTree.SubElement(case, "error", message=_clean(check.reason))
    elif finding is not None and _fails(check, judgement):
        failure = ElementTree.SubElement(
            case, "failure", type=finding.severity, message=_clean(finding.headline)
        )
        failure.text = _clean(finding.summary)


def _clean(text: str) -> str:
    return _FORBIDDEN.sub("\ufffd", text)
