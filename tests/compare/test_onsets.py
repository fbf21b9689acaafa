"""Findings of two runs side by side."""

from __future__ import annotations

from dataclasses import replace

from analyzer.compare.model import OnsetDifference
from analyzer.compare.onsets import onset_differences
from analyzer.findings.model import Coverage, Finding, Judgement, Onset, Suppression


def finding(rule: str, onset: int | None) -> Finding:
    return Finding(
        rule, rule, 1, "policy", "error", 0.9, f"title of {rule}", "", "", "",
        None if onset is None else Onset(onset, onset, onset), None, (), (), (), (), (), None, (),
        (), (), "", "", (), "", "",
    )  # fmt: skip


def judged(*findings: Finding) -> Judgement:
    return Judgement("error", Coverage(1, 1, 0, 0, 0), findings, (), "")


def test_rules_of_either_run_with_their_onsets() -> None:
    aside = replace(finding("aside", 1), suppressed=Suppression("me", "on purpose", None))
    mine = judged(finding("both", 40), finding("mine", None), aside)
    other = judged(finding("theirs", 7), finding("both", 90))
    assert onset_differences(mine, other) == (
        OnsetDifference("both", "title of both", True, True, 40, 90),
        OnsetDifference("mine", "title of mine", True, False, None, None),
        OnsetDifference("theirs", "title of theirs", False, True, None, 7),
    )
