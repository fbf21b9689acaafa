"""What the pages tell, from the rows of a store."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from analyzer.fleet.reports import report_file
from analyzer.fleet.rows import Entry, Row, load_all, row_name
from analyzer.fleet.site.model import SiteFinding, SiteRule, SiteRun
from analyzer.pipeline_rules import severities
from analyzer.report.runbooks import runbook_html
from analyzer.rulebook.dialect import spoken
from analyzer.rulebook.english import in_words
from analyzer.rulebook.load import Rule, Rulebook
from analyzer.tables.catalog import AREAL


def collect_runs(store: Path) -> tuple[SiteRun, ...]:
    """Every run of the store, by path."""
    return tuple(_run(entry, store) for entry in load_all(store))


def _run(entry: Entry, store: Path) -> SiteRun:
    row, document = entry.row, entry.document or {}
    report = report_file(store, row.path, entry.key) if entry.key else None
    return SiteRun(
        row_name(row.path)[:12],
        row,
        tuple(_findings(document.get("findings", ()), row)),
        {check["rule"]: check["state"] for check in document.get("checks", ())},
        tuple((int(step), value) for step, value in entry.reward),
        report if report is not None and report.is_file() else None,
    )


def _findings(findings: Sequence[Mapping[str, Any]], row: Row) -> Iterator[SiteFinding]:
    for finding in findings:
        if finding["suppressed"] is not None:
            continue
        onset = finding["onset"] or {}
        step = onset.get("step")
        yield SiteFinding(
            finding["rule"],
            finding["severity"],
            finding["headline"],
            step,
            onset.get("low"),
            onset.get("high"),
            _place(step, row),
        )


def _place(step: int | None, row: Row) -> float | None:
    if step is None or row.first_step is None or row.last_step is None:
        return None
    length = row.last_step - row.first_step
    return min(1.0, max(0.0, (step - row.first_step) / length)) if length > 0 else None


def collect_rules(rulebook: Rulebook, runs: Sequence[SiteRun]) -> tuple[SiteRule, ...]:
    """The rules that are loaded, and those that only runs of the store still know, by id."""
    known = {rule.id: _rule(rule) for rule in rulebook.rules}
    found = {finding.rule for run in runs for finding in run.findings}
    return tuple(known.get(rule) or SiteRule(rule) for rule in sorted(found | known.keys()))


def _rule(rule: Rule) -> SiteRule:
    spec, gravest = rule.spec, rule.bands[-1]
    return SiteRule(
        rule.id,
        rule.topic,
        spoken(spec.title, AREAL),
        severities(rule),
        " ".join(spoken(spec.why, AREAL).split()),
        tuple(in_words(rule.bands[0].tree)),
        tuple((p.name, f"{p.value:g} {p.unit}", p.source) for p in gravest.parameters),
        " ".join(spoken(spec.false_positives, AREAL).split()),
        runbook_html(rule.runbook),
    )
