"""Page one: the answer, for someone who reads nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from analyzer.findings.model import Coverage, Finding, Judgement
from analyzer.report.budget import (
    LEAST_SCALE,
    chart_scale,
    fits,
    further_notes,
    room_for_chart,
    table_lines,
    text_lines,
)
from analyzer.report.checks import closest, reason_lines
from analyzer.report.facts import Desk, checks_fact, finding_facts, run_facts
from analyzer.report.finding_views import FIRST_REMEDIES, FindingWriter
from analyzer.report.order import independent
from analyzer.report.page import Capped, FactBox, FirstPage, Line, RemedyView, TimelineRow, cap
from analyzer.report.panels import run_chart
from analyzer.report.remedies import already_set, to_do
from analyzer.report.show import size_text, steps_text
from analyzer.report.timeline import event_rows

ALSO = 3
CAVEATS = 3
REASONS = 2
CLOSEST = 5
CHECK_LETTERS = (21, 36, 42)  # of a line in each column of the table of checks
EVENTS = 5
EVENT_LETTERS = (56, 16)  # of a line in the columns of the message and its place


def first_page(judgement: Judgement, desk: Desk, writer: FindingWriter) -> FirstPage:
    """The page for a run with a fault, without one, or that cannot be judged."""
    roots = independent(judgement)
    if judgement.verdict == "cannot-judge":
        return _cannot_judge(judgement, roots, desk, writer)
    if judgement.verdict in ("ok", "info") or not roots:
        return _healthy(judgement, roots, desk, writer)
    return _sick(judgement, roots, desk, writer)


@dataclass(frozen=True)
class Ending:
    """The last part of each page one: what to know, and what was not checked."""

    to_know: Capped[str]
    not_checked: Capped[str]

    @property
    def lines(self) -> int:
        """Its height in print."""
        more = bool(self.to_know.more) + bool(self.not_checked.more)
        return text_lines([*self.to_know.rows, *self.not_checked.rows]) + more


def _ending(judgement: Judgement, desk: Desk) -> Ending:
    caveats = [c for f in judgement.findings if f.counts for c in f.caveats]
    return Ending(
        cap(list(dict.fromkeys(caveats)), CAVEATS),
        cap(reason_lines(judgement, desk.words), REASONS),
    )


def _sick(
    judgement: Judgement, roots: Sequence[Finding], desk: Desk, writer: FindingWriter
) -> FirstPage:
    words, primary = desk.words, roots[0]
    remedies = to_do(primary.remedies, words)[:FIRST_REMEDIES]
    if remedies or not primary.remedies:
        note = "" if remedies else words("first.no_remedy")
    else:
        note = words("first.all_set", n=len(already_set(primary.remedies, words)))
    also, ending = _also(roots[1:], writer), _ending(judgement, desk)
    lines = text_lines([primary.headline, primary.summary, note])
    lines += _also_lines(also) + _remedy_lines(remedies) + ending.lines
    facts = finding_facts(primary, judgement.coverage, desk)
    lines += further_notes([fact.notes for fact in facts])
    room = room_for_chart(lines, headings=2)
    panels = len(primary.charts) or 3
    scale = chart_scale(room, panels)
    chart = writer.first_chart(primary, scale) or run_chart(desk, scale)
    return FirstPage(
        accent=primary.severity,
        kicker=f"{words(f'severity.{primary.severity}')} · {primary.title}",
        headline=primary.headline,
        summary=primary.summary,
        also=also,
        facts=facts,
        chart=chart,
        remedies=remedies,
        remedies_note=note,
        closest=Capped(()),
        events=Capped(()),
        data=(),
        to_know=ending.to_know,
        not_checked=ending.not_checked,
        alone=fits(room, panels if chart else 0),
    )


def _healthy(
    judgement: Judgement, roots: Sequence[Finding], desk: Desk, writer: FindingWriter
) -> FirstPage:
    words = desk.words
    also, ending, data = _also(roots, writer), _ending(judgement, desk), _data(desk)
    near = cap(closest(judgement), CLOSEST)
    lines = 2 + _also_lines(also) + ending.lines + text_lines([" ".join(data)])
    room = room_for_chart(
        lines + table_lines([(row.rule, row.title, row.note) for row in near.rows], CHECK_LETTERS),
        headings=3,
    )
    chart = run_chart(desk, chart_scale(room))
    return FirstPage(
        accent=judgement.verdict,
        kicker=words(f"verdict.{judgement.verdict}"),
        headline=words("healthy.headline"),
        summary=_healthy_summary(judgement.coverage, desk),
        also=also,
        facts=run_facts(judgement.coverage, desk),
        chart=chart,
        remedies=(),
        remedies_note="",
        closest=near,
        events=Capped(()),
        data=data,
        to_know=ending.to_know,
        not_checked=ending.not_checked,
        alone=fits(room, 3 if chart else 0),
    )


def _healthy_summary(coverage: Coverage, desk: Desk) -> str:
    words = desk.words
    parts = [words("healthy.summary", n=coverage.clear, steps=steps_text(desk.span))]
    if coverage.not_checked:
        parts.append(words("healthy.not_checked", n=coverage.not_checked))
    if coverage.errors:
        parts.append(words("healthy.broken", n=coverage.errors))
    return words("list.space").join(parts)


def _cannot_judge(
    judgement: Judgement, roots: Sequence[Finding], desk: Desk, writer: FindingWriter
) -> FirstPage:
    words, primary = desk.words, next(iter(roots), None)
    every = event_rows(desk)
    events, also, ending, data = (
        cap(every, EVENTS),
        _also(roots[1:], writer),
        _ending(judgement, desk),
        _data(desk),
    )
    remedies = to_do(primary.remedies, words)[:FIRST_REMEDIES] if primary else ()
    summary = _why_not(desk) if primary is None else f"{primary.summary} {_why_not(desk)}"
    lines: float = (
        text_lines([summary, " ".join(data)]) + _also_lines(also) + _remedy_lines(remedies)
    )
    lines += (
        table_lines([(row.what, row.place) for row in events.rows], EVENT_LETTERS) + ending.lines
    )
    chart = writer.first_chart(primary, LEAST_SCALE) if primary else None
    return FirstPage(
        accent="cannot-judge",
        kicker=words("verdict.cannot-judge"),
        headline=primary.headline if primary else words("cannot.headline"),
        summary=summary,
        also=also,
        facts=_cannot_facts(judgement, every, desk),
        chart=chart,
        remedies=remedies,
        remedies_note="",
        closest=Capped(()),
        events=events,
        data=data,
        to_know=ending.to_know,
        not_checked=ending.not_checked,
        alone=fits(room_for_chart(lines, headings=4), 3 if chart else 0),
    )


def _also(others: Sequence[Finding], writer: FindingWriter) -> Capped[Line]:
    return cap([writer.line(finding) for finding in others], ALSO)


def _also_lines(also: Capped[Line]) -> int:
    return text_lines([f"{line.label} {line.text}" for line in also.rows]) + bool(also.more)


def _remedy_lines(remedies: Sequence[RemedyView]) -> int:
    configs = [remedy.config for remedy in remedies if remedy.config]
    return text_lines([f"{r.do} {r.why} {r.note}" for r in remedies]) + sum(
        config.count("\n") + 2 for config in configs
    )


def _why_not(desk: Desk) -> str:
    manifest, words = desk.manifest, desk.words
    if not manifest.sources:
        return words("cannot.no_sources")
    if not manifest.metrics:
        return words("cannot.no_series", n=len(manifest.sources))
    return words("cannot.too_little", n=manifest.step_count)


def _cannot_facts(
    judgement: Judgement, events: Sequence[TimelineRow], desk: Desk
) -> tuple[FactBox, ...]:
    words, manifest = desk.words, desk.manifest
    errors = sum(row.weight >= 2 for row in events)
    size = size_text(sum(s.bytes for s in manifest.sources))
    left = (words("fact.left_aside", n=len(manifest.skipped)),) if manifest.skipped else ()
    return (
        FactBox(words("fact.steps"), f"{manifest.step_count:,}", ()),
        FactBox(words("fact.read"), words("fact.files", n=len(manifest.sources)), (size, *left)),
        FactBox(words("fact.events"), str(len(events)), (words("fact.errors", n=errors),)),
        checks_fact(judgement.coverage, words),
    )


def _data(desk: Desk) -> tuple[str, ...]:
    """What was read, how often the process started, what was written twice."""
    words, manifest = desk.words, desk.manifest
    rows = sum(source.rows for source in manifest.sources)
    facts = [
        words("data.read", n=len(manifest.sources), rows=f"{rows:,}", metrics=manifest.metrics)
    ]
    facts += [
        words("data.superseded", attempt=a.number + 1, steps=steps_text(a.superseded))
        for a in manifest.attempts
        if a.superseded is not None
    ]
    if manifest.skipped:
        facts.append(words("data.skipped", n=len(manifest.skipped)))
    if manifest.notes:
        facts.append(words("data.notes", n=len(manifest.notes)))
    return tuple(facts)
