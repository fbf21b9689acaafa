"""Findings for a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from analyzer.findings.model import CheckState, Finding, Verdicts
from analyzer.findings.seen import SeenBefore

WIDTH = 100


def render_text(verdicts: Verdicts) -> str:
    """The verdict first, then findings with their causes, then what was not checked."""
    lines = [*_head(verdicts)]
    shown = [f for f in verdicts.judgement.findings if not f.caused_by]
    for finding in shown:
        lines += ["", *_finding(finding), *_seen(finding, verdicts.seen)]
        for other in verdicts.judgement.findings:
            if finding.id in other.caused_by:
                lines.append(f"    follows: {other.headline} ({other.rule}{_since(other)})")
    lines += _not_checked(verdicts)
    if verdicts.data_quality:
        lines += ["", "Data:"]
        lines += [f"  {n.source}: {n.kind}: {n.detail}" for n in verdicts.data_quality]
    return "\n".join(lines) + "\n"


def _head(verdicts: Verdicts) -> Iterator[str]:
    run, coverage = verdicts.run, verdicts.judgement.coverage
    yield f"{verdicts.judgement.verdict}: {run.id}"
    if run.step_count:
        restarts = f", {run.attempts} attempts" if run.attempts > 1 else ""
        yield f"  steps {run.first_step}–{run.last_step} ({run.step_count} logged{restarts})"
    else:
        yield "  no training step in its logs"
    yield (
        f"  {coverage.rules} checks: {coverage.fired} fired, {coverage.clear} clear, "
        f"{coverage.not_checked} not checked, {coverage.errors} in error"
    )


def _since(finding: Finding) -> str:
    return f", since step {finding.onset.step}" if finding.onset else ""


def _finding(finding: Finding) -> Iterator[str]:
    known = ", known" if finding.known else ""
    place = f"({finding.rule}{_since(finding)}{known})"
    if finding.suppressed:
        yield f"set aside: {finding.headline} {place}"
        yield f"    by {finding.suppressed.by}: {finding.suppressed.reason}"
        return
    yield f"{finding.severity}: {finding.headline} {place}"
    yield from textwrap.wrap(
        finding.summary, WIDTH, initial_indent="    ", subsequent_indent="    "
    )
    for evidence in finding.evidence:
        window = f" (steps {evidence.window[0]}–{evidence.window[1]})" if evidence.window else ""
        yield f"    {evidence.condition}: {evidence.logged_as or evidence.metric}: " + (
            f"{evidence.text}{window}"
        )
    for remedy in finding.remedies:
        mark = {"apply": "do", "already": "already so", "unknown": "consider"}[remedy.status]
        yield f"    {mark}: {remedy.do}"
        if remedy.status == "already":
            continue
        for change in remedy.changes:
            now = "not set" if change.now is None else change.now
            yield f"        {change.key}: {change.to}    # now {now}"
    for caveat in finding.caveats:
        yield from textwrap.wrap(
            f"note: {caveat}", WIDTH, initial_indent="    ", subsequent_indent="      "
        )


def _seen(finding: Finding, seen: SeenBefore | None) -> Iterator[str]:
    if seen is None or not finding.counts:
        return
    runs = seen.of(finding.id)
    if not runs:
        yield f"    seen before: nothing alike in {seen.runs} past run{'s' * (seen.runs != 1)}"
    for run in runs:
        begun = f", {run.started[:10]}" if run.started else ""
        done = f": {run.note.done}" if run.note else ""
        yield f"    seen before: {run.run} ({run.path}{begun}, distance {run.distance:.2f}){done}"


def _not_checked(verdicts: Verdicts) -> list[str]:
    checks = verdicts.judgement.checks
    lines = []
    for state, title in (("not-checked", "Not checked:"), ("error", "In error:")):
        of_state = [check for check in checks if check.state == state]
        if of_state:
            lines += ["", title, *(_check(check) for check in of_state)]
    return lines


def _check(check: CheckState) -> str:
    return f"  {check.rule}: {check.reason}"
