"""Findings as SARIF 2.1.0, anchored on the run's first source."""

from __future__ import annotations

import json
from typing import Any

from analyzer.findings.model import CheckState, Finding, Verdicts

_LEVELS = {"info": "note", "warning": "warning", "error": "error"}


def render_sarif(verdicts: Verdicts) -> str:
    """One run; a result a finding, errors of rules as notifications."""
    judgement = verdicts.judgement
    sources = verdicts.run.sources
    place = sources[0].path if sources else "."
    log = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "analyzer",
                        "version": verdicts.tool_version,
                        "rules": [_rule(check) for check in judgement.checks],
                    }
                },
                "results": [_result(finding, place) for finding in judgement.findings],
                "invocations": [
                    {
                        "executionSuccessful": judgement.verdict != "cannot-judge",
                        "toolExecutionNotifications": [
                            {"level": "error", "message": {"text": f"{c.rule}: {c.reason}"}}
                            for c in judgement.checks
                            if c.state == "error"
                        ],
                    }
                ],
            }
        ],
    }
    return json.dumps(log, indent=2, ensure_ascii=False) + "\n"


def _rule(check: CheckState) -> dict[str, Any]:
    return {
        "id": check.rule,
        "shortDescription": {"text": check.title},
        "properties": {"topic": check.topic, "state": check.state},
    }


def _result(finding: Finding, place: str) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": finding.rule,
        "level": _LEVELS[finding.severity],
        "message": {"text": f"{finding.headline}. {finding.summary}".strip()},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": place},
                    "region": {"startLine": 1},
                }
            }
        ],
        "partialFingerprints": {"analyzer/v1": finding.fingerprint},
    }
    if finding.suppressed:
        result["suppressions"] = [{"kind": "external", "justification": finding.suppressed.reason}]
    return result
