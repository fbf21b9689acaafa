"""The findings document (findings.schema.json): byte-identical for the same input."""

from __future__ import annotations

import json
from typing import Any

from analyzer.findings.exports.replays import replays_document, verdict_document
from analyzer.findings.exports.seen import seen_document
from analyzer.findings.model import (
    ConfigChange,
    DataNote,
    Evidence,
    Finding,
    Remedy,
    RunSummary,
    SourceSummary,
    Trajectory,
    Verdicts,
)
from analyzer.findings.numbers import number
from analyzer.findings.replayed import Replays

SCHEMA_VERSION = 1


def document(verdicts: Verdicts) -> dict[str, Any]:
    """The findings document as JSON-ready data."""
    judgement = verdicts.judgement
    coverage = judgement.coverage
    return {
        "schema_version": SCHEMA_VERSION,
        "tool": {
            "name": "analyzer",
            "version": verdicts.tool_version,
            "rules_sha256": judgement.rules_sha256,
        },
        "run": _run(verdicts.run),
        "verdict": judgement.verdict,
        "coverage": {
            "rules": coverage.rules,
            "fired": coverage.fired,
            "clear": coverage.clear,
            "not_checked": coverage.not_checked,
            "errors": coverage.errors,
        },
        "findings": [_finding(finding, verdicts.replays) for finding in judgement.findings],
        "checks": [
            {"rule": check.rule, "state": check.state, "reason": check.reason or check.margin}
            for check in judgement.checks
        ],
        "data_quality": [_note(note) for note in verdicts.data_quality],
        "replays": verdicts.replays and replays_document(verdicts.replays),
        "seen_before": verdicts.seen and seen_document(verdicts.seen),
    }


def render_json(verdicts: Verdicts) -> str:
    """The findings document as text, ending in a newline."""
    return json.dumps(document(verdicts), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _run(run: RunSummary) -> dict[str, Any]:
    return {
        "id": run.id,
        "sources": [_source(source) for source in run.sources],
        "framework": run.framework,
        "framework_version": run.framework_version,
        "steps": {"first": run.first_step, "last": run.last_step, "count": run.step_count},
        "attempts": run.attempts,
        "started": run.started,
        "ended": run.ended,
    }


def _source(source: SourceSummary) -> dict[str, Any]:
    return {
        "path": source.path,
        "format": source.format,
        "bytes": source.bytes,
        "sha256": source.sha256,
        "rows": source.rows,
        "notes": source.notes,
    }


def _finding(finding: Finding, replays: Replays | None) -> dict[str, Any]:
    replayed = replays.verdict(finding.id) if replays else None
    onset = finding.onset
    suppressed = finding.suppressed
    return {
        "id": finding.id,
        "rule": finding.rule,
        "severity": finding.severity,
        "confidence": finding.confidence,
        "title": finding.title,
        "headline": finding.headline,
        "summary": finding.summary,
        "onset": onset and {"step": onset.step, "low": onset.low, "high": onset.high},
        "end": finding.end,
        "windows": [list(window) for window in finding.windows],
        "evidence": [_evidence(evidence) for evidence in finding.evidence],
        "caveats": list(finding.caveats),
        "caused_by": list(finding.caused_by),
        "suppressed": suppressed
        and {"by": suppressed.by, "reason": suppressed.reason, "until": suppressed.until},
        "remedies": [_remedy(remedy) for remedy in finding.remedies],
        "trajectories": [_trajectory(trajectory) for trajectory in finding.trajectories],
        "parameters": {p.name: p.value for p in finding.parameters},
        "replay": replayed and verdict_document(replayed),
        "fingerprint": finding.fingerprint,
        "known": finding.known,
    }


def _evidence(evidence: Evidence) -> dict[str, Any]:
    return {
        "condition": evidence.condition,
        "metric": evidence.metric,
        "logged_as": evidence.logged_as,
        "unit": evidence.unit,
        "value": number(evidence.value),
        "limit": number(evidence.limit),
        "window": list(evidence.window) if evidence.window else None,
        "text": evidence.text,
        "needed": evidence.needed,
    }


def _remedy(remedy: Remedy) -> dict[str, Any]:
    return {
        "do": remedy.do,
        "config": {change.key: _change(change) for change in remedy.changes},
        "status": remedy.status,
    }


def _trajectory(trajectory: Trajectory) -> dict[str, Any]:
    return {
        "path": trajectory.path,
        "offset": trajectory.offset,
        "step": trajectory.step,
        "task_id": trajectory.task_id,
        "sample_idx": trajectory.sample_idx,
        "prompt_hash": trajectory.prompt_hash,
        "tokens": trajectory.tokens,
        "reward": number(trajectory.reward),
        "truncated": trajectory.truncated,
    }


def _change(change: ConfigChange) -> dict[str, Any]:
    return {
        "from": None if change.now is None else json.loads(change.now),
        "to": json.loads(change.to),
    }


def _note(note: DataNote) -> dict[str, Any]:
    return {
        "kind": note.kind,
        "detail": note.detail,
        "steps": list(note.steps) if note.steps else None,
        "source": note.source,
    }
