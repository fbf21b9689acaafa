"""Page one: the answer, for someone who reads nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from analyzer.compare.procedure import decision
from analyzer.compare.procedure_model import Decision, Procedure
from analyzer.findings.model import Coverage, Finding, Judgement
from analyzer.report.capped import Capped, cap, cut
from analyzer.report.checks import closest, reason_lines
from analyzer.report.decided import decision_remedies, decision_text
from analyzer.report.facts import Desk, checks_fact, finding_facts, run_facts
from analyzer.report.finding_views import FindingWriter
from analyzer.report.fitting import Fitted, Limits, fitted
from analyzer.report.order import independent
from analyzer.report.page import FactBox, FirstPage, Line, TimelineRow
from analyzer.report.panels import Picture, finding_picture, run_picture, whole_chart
from analyzer.report.remedies import already_set
from analyzer.report.replay_first import caveats, primary_page
from analyzer.report.replay_view import log_is_wrong, nothing_replayed
from analyzer.report.show import size_text, steps_text
from analyzer.report.timeline import event_rows


def first_page(
    judgement: Judgement, desk: Desk, writer: FindingWriter, procedures: Sequence[Procedure] = ()
) -> FirstPage:
    """The page for a run with a fault, without one, or that cannot be judged."""
    roots = sorted(independent(judgement), key=lambda f: log_is_wrong(f, desk.replays))
    if judgement.verdict == "cannot-judge":
        return _cannot_judge(judgement, roots, desk, writer)
    if judgement.verdict in ("ok", "info") or not roots:
        return _healthy(judgement, roots, desk, writer)
    return _sick(judgement, roots, desk, writer, decision(procedures, roots[0].rule))


def _sick(
    judgement: Judgement,
    roots: Sequence[Finding],
    desk: Desk,
    writer: FindingWriter,
    decided: Decision | None,
) -> FirstPage:
    words, primary = desk.words, roots[0]
    own, is_remedy = writer.remedies(primary), decided is not None and decided.is_remedy
    # What mends a known cause comes before what the rule advises for any.
    ahead = decision_remedies(decided, words) if decided and (is_remedy or decided.causes) else ()
    remedies = ahead if is_remedy and ahead else (*ahead, *own)
    facts = finding_facts(primary, judgement.coverage, desk)
    note = ""
    if not remedies and primary.remedies:
        note = words("first.all_set", n=len(already_set(primary.remedies, words)))
    elif not remedies:
        note = words("first.no_remedy")

    def build(limits: Limits) -> FirstPage:
        page = FirstPage(
            accent=primary.severity,
            kicker=f"{words(f'severity.{primary.severity}')} · {primary.title}",
            headline=primary.headline,
            summary=primary.summary,
            decision=decision_text(decided, words) if decided else "",
            also=_also(roots[1:], limits, writer),
            facts=facts,
            chart=None,
            remedies=remedies[: limits.remedies],
            remedies_note=note,
            closest=Capped(()),
            events=Capped(()),
            data=(),
            to_know=_to_know(judgement, primary, limits, desk),
            not_checked=_not_checked(judgement, limits, desk),
            alone=True,
        )
        return primary_page(page, primary, desk)

    whole = finding_picture(primary, desk)

    def picture_of(panels: int) -> Picture | None:
        return (
            run_picture(desk, panels) if whole is None else finding_picture(primary, desk, panels)
        )

    found = fitted(build, picture_of)
    told = len(own) if is_remedy and ahead else max(0, len(found.page.remedies) - len(ahead))
    told = 0 if log_is_wrong(primary, desk.replays) else told
    writer.tell_first(primary, told, drawn=_all_of(whole, found))
    return _drawn(found, desk)


def _all_of(own: Picture | None, found: Fitted) -> bool:
    """Does the page have the finding's whole picture?"""
    shown = found.picture
    return own is not None and shown is not None and len(shown.panels) == len(own.panels)


def _drawn(found: Fitted, desk: Desk) -> FirstPage:
    if found.picture is None:
        return found.page
    return replace(found.page, chart=whole_chart(found.picture, desk, found.scale))


def _healthy(
    judgement: Judgement, roots: Sequence[Finding], desk: Desk, writer: FindingWriter
) -> FirstPage:
    words, near = desk.words, closest(judgement, desk.words)
    facts, summary = run_facts(judgement.coverage, desk), _healthy_summary(judgement.coverage, desk)

    def build(limits: Limits) -> FirstPage:
        return FirstPage(
            accent=judgement.verdict,
            kicker=words(f"verdict.{judgement.verdict}"),
            headline=words("healthy.headline"),
            summary=summary,
            decision="",
            also=_also(roots, limits, writer),
            facts=facts,
            chart=None,
            remedies=(),
            remedies_note="",
            closest=cap(near, limits.closest),
            events=Capped(()),
            data=_data(desk),
            to_know=_to_know(judgement, None, limits, desk),
            not_checked=_not_checked(judgement, limits, desk),
            alone=True,
        )

    return _drawn(fitted(build, lambda panels: run_picture(desk, panels)), desk)


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
    summary = _why_not(desk) if primary is None else f"{primary.summary} {_why_not(desk)}"
    remedies = writer.remedies(primary) if primary else ()

    def build(limits: Limits) -> FirstPage:
        return FirstPage(
            accent="cannot-judge",
            kicker=words("verdict.cannot-judge"),
            headline=primary.headline if primary else words("cannot.headline"),
            summary=summary,
            decision="",
            also=_also(roots[1:], limits, writer),
            facts=_cannot_facts(judgement, every, desk),
            chart=None,
            remedies=remedies[: limits.remedies],
            remedies_note="",
            closest=Capped(()),
            events=cap(every, limits.events),
            data=_data(desk),
            to_know=_to_know(judgement, primary, limits, desk),
            not_checked=_not_checked(judgement, limits, desk),
            alone=True,
        )

    own = finding_picture(primary, desk) if primary else None

    def picture_of(panels: int) -> Picture | None:
        return finding_picture(primary, desk, panels) if primary and own else None

    found = fitted(build, picture_of)
    if primary:
        writer.tell_first(primary, len(found.page.remedies), drawn=_all_of(own, found))
    return _drawn(found, desk)


def _also(others: Sequence[Finding], limits: Limits, writer: FindingWriter) -> Capped[Line]:
    return cap([writer.line(finding) for finding in others], limits.also)


def _to_know(
    judgement: Judgement, primary: Finding | None, limits: Limits, desk: Desk
) -> Capped[str]:
    counting = [finding for finding in judgement.findings if finding.counts]
    said = caveats(counting, primary, desk) + [c for f in counting for c in f.caveats]
    return cut(list(dict.fromkeys(said)), limits.caveats)


def _not_checked(judgement: Judgement, limits: Limits, desk: Desk) -> Capped[str]:
    """Why checks could not be made, after the line on a replay that could not be."""
    reasons = cut(reason_lines(judgement, desk.words), limits.reasons)
    replay = nothing_replayed(desk.replays, desk.words)
    return Capped((replay, *reasons.rows), reasons.more) if replay else reasons


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
