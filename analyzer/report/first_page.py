"""Page one: the answer, for someone who reads nothing else."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence

from analyzer.findings.model import Finding, Judgement
from analyzer.report.checks import closest, reason_lines
from analyzer.report.facts import Desk, checks_fact, finding_facts, run_facts
from analyzer.report.finding_views import FIRST_REMEDIES, FindingWriter
from analyzer.report.order import independent
from analyzer.report.page import Capped, FactBox, FirstPage, TimelineRow, cap
from analyzer.report.panels import healthy_chart
from analyzer.report.remedies import already_set, to_do
from analyzer.report.show import size_text, steps_text
from analyzer.report.timeline import event_rows

ALSO = 3
CAVEATS = 3
REASONS = 3
CLOSEST = 8
EVENTS = 6
LINE = 104  # letters of a line in print
EASY_LINES = 17  # of text leave room for a chart at full height
MOST_LINES = 24  # leave room for one at its least height
LEAST_SCALE = 0.6


def first_page(judgement: Judgement, desk: Desk, writer: FindingWriter) -> FirstPage:
    """The page for a run with a fault, without one, or that cannot be judged."""
    roots = independent(judgement)
    if judgement.verdict == "cannot-judge":
        return _cannot_judge(judgement, roots, desk, writer)
    if judgement.verdict in ("ok", "info") or not roots:
        return _healthy(judgement, roots, desk, writer)
    return _sick(judgement, roots, desk, writer)


def _sick(
    judgement: Judgement, roots: Sequence[Finding], desk: Desk, writer: FindingWriter
) -> FirstPage:
    words, primary = desk.words, roots[0]
    remedies = to_do(primary.remedies, words)[:FIRST_REMEDIES]
    if remedies or not primary.remedies:
        note = "" if remedies else words("first.no_remedy")
    else:
        note = words("first.all_set", n=len(already_set(primary.remedies, words)))
    also = cap([writer.line(f) for f in roots[1:]], ALSO)
    to_know, reasons = _to_know(judgement), cap(reason_lines(judgement, words), REASONS)
    texts = [primary.headline, primary.summary, *(f"{r.do} {r.why}" for r in remedies), note]
    texts += [line.text for line in also.rows] + list(to_know.rows) + list(reasons.rows)
    lines = text_lines(texts) + sum(r.config.count("\n") + 2 for r in remedies if r.config)
    lines += bool(also.more) + bool(to_know.more) + bool(reasons.more)
    return FirstPage(
        accent=primary.severity,
        kicker=f"{words(f'severity.{primary.severity}')} · {primary.title}",
        headline=primary.headline,
        summary=primary.summary,
        also=also,
        facts=finding_facts(primary, judgement.coverage, desk),
        chart=writer.first_chart(primary, chart_scale(lines)),
        remedies=remedies,
        remedies_note=note,
        closest=Capped(()),
        events=Capped(()),
        data=(),
        to_know=to_know,
        not_checked=reasons,
        alone=lines <= MOST_LINES,
    )


def _healthy(
    judgement: Judgement, roots: Sequence[Finding], desk: Desk, writer: FindingWriter
) -> FirstPage:
    words, coverage = desk.words, judgement.coverage
    summary = words("healthy.summary", n=coverage.clear, steps=steps_text(desk.span))
    if coverage.not_checked:
        summary += " " + words("healthy.not_checked", n=coverage.not_checked)
    if coverage.errors:
        summary += " " + words("healthy.broken", n=coverage.errors)
    return FirstPage(
        accent=judgement.verdict,
        kicker=words(f"verdict.{judgement.verdict}"),
        headline=words("healthy.headline"),
        summary=summary,
        also=cap([writer.line(f) for f in roots], ALSO),
        facts=run_facts(coverage, desk),
        chart=healthy_chart(desk),
        remedies=(),
        remedies_note="",
        closest=cap(closest(judgement), CLOSEST),
        events=Capped(()),
        data=_data(desk),
        to_know=_to_know(judgement),
        not_checked=cap(reason_lines(judgement, words), REASONS),
        alone=True,
    )


def _cannot_judge(
    judgement: Judgement, roots: Sequence[Finding], desk: Desk, writer: FindingWriter
) -> FirstPage:
    words, primary = desk.words, next(iter(roots), None)
    events = event_rows(desk)
    return FirstPage(
        accent="cannot-judge",
        kicker=words("verdict.cannot-judge"),
        headline=primary.headline if primary else words("cannot.headline"),
        summary=" ".join(filter(None, (primary.summary if primary else "", _why_not(desk)))),
        also=cap([writer.line(f) for f in roots[1:]], ALSO),
        facts=_cannot_facts(judgement, events, desk),
        chart=writer.first_chart(primary, LEAST_SCALE) if primary else None,
        remedies=to_do(primary.remedies, words)[:FIRST_REMEDIES] if primary else (),
        remedies_note="",
        closest=Capped(()),
        events=cap(events, EVENTS),
        data=_data(desk),
        to_know=_to_know(judgement),
        not_checked=cap(reason_lines(judgement, words), REASONS),
        alone=True,
    )


def text_lines(texts: Sequence[str]) -> int:
    """About how many lines the texts take in print; a Chinese letter is as wide as two."""
    widths = (
        sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)
        for text in texts
    )
    return sum(math.ceil(width / LINE) for width in widths)


def chart_scale(lines: int) -> float:
    """The height of the chart's panels beside so many lines of text, as a share of the full."""
    share = (MOST_LINES - lines) / (MOST_LINES - EASY_LINES)
    return LEAST_SCALE + (1 - LEAST_SCALE) * min(1.0, max(0.0, share))


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


def _to_know(judgement: Judgement) -> Capped[str]:
    """Caveats of the findings that count, each once."""
    caveats = [c for f in judgement.findings if f.counts for c in f.caveats]
    return cap(list(dict.fromkeys(caveats)), CAVEATS)
