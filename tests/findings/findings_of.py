"""Findings for tests, with the fields that a test does not care for filled in."""

from __future__ import annotations

from typing import Any

from analyzer.findings.model import (
    CheckState,
    Coverage,
    DataNote,
    Evidence,
    Finding,
    Judgement,
    Onset,
    RunSummary,
    SourceSummary,
    Verdicts,
)


def finding(rule: str, severity: str = "warning", onset: int | None = None, **more: Any) -> Finding:
    """A finding of that rule."""
    fields: dict[str, Any] = {
        "id": rule,
        "rule": rule,
        "rule_version": 1,
        "topic": "reward",
        "severity": severity,
        "confidence": 0.9,
        "title": f"title of {rule}",
        "headline": f"headline of {rule}",
        "summary": "It happened.",
        "why": "",
        "onset": None if onset is None else Onset(onset, onset - 2, onset + 2),
        "end": None if onset is None else onset + 50,
        "windows": () if onset is None else ((onset, onset + 50),),
        "evidence": (
            Evidence("level", "seq_len", "a/seq_len/avg", "tokens", 5.0, 4.0, (1, 2), "5", "> 4"),
        ),
        "movements": (),
        "caveats": (),
        "caused_by": (),
        "suppressed": None,
        "remedies": (),
        "parameters": (),
        "charts": (),
        "false_positives": "",
        "runbook": "",
        "references": (),
        "rule_text": "",
        "fingerprint": "0" * 16,
    }
    return Finding(**{**fields, **more})


def verdicts(*findings: Finding, **more: Any) -> Verdicts:
    """A run with those findings, one clear, one not-checked and one broken check."""
    checks = [
        *(CheckState(f.rule, f.title, f.topic, "fired", f.headline) for f in findings),
        CheckState("calm", "Calm", "reward", "clear", "", "largest 0.1 of limit 0.5"),
        CheckState("blind", "Blind", "policy", "not-checked", "entropy is not logged"),
        CheckState("broken", "Broken", "data", "error", "error: ZeroDivisionError"),
    ]
    fired = len(findings)
    judgement = Judgement(
        more.get("verdict", "warning"),
        Coverage(fired + 3, fired, 1, 1, 1),
        tuple(findings),
        tuple(checks),
        "a" * 64,
    )
    run = RunSummary(
        "experiment/trial",
        (SourceSummary("main.log", "areal-text", 10, "b" * 64, 100, 1),),
        "AReaL",
        None,
        0,
        99,
        100,
        2,
        "2026-11-29T14:00:00Z",
        "2026-11-29T15:00:00Z",
    )
    return Verdicts("0.1.0", run, judgement, (DataNote("cut-table", "cut", (5, 5), "main.log"),))
