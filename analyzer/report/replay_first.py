"""What the replay changes on page one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from analyzer.findings.model import Finding
from analyzer.findings.replayed import ReplayVerdict
from analyzer.report.facts import Desk
from analyzer.report.page import FactBox, FirstPage, RemedyView
from analyzer.report.replay_numbers import decisive_number, resolved
from analyzer.report.replay_view import batches, cause_view, lead, outcome
from analyzer.report.words import Words

NUMBER = 2  # the fact that is the number against its limit


def primary_page(page: FirstPage, primary: Finding, desk: Desk) -> FirstPage:
    """The page as the replay lets it be told: a confirmed finding says so, one whose number is
    wrong in the log does not sound like a fault of the run.
    """
    verdict, words = outcome(primary, desk.replays), desk.words
    if verdict is None or verdict.verdict == "cannot-tell":
        return page
    if verdict.verdict == "confirmed":
        if not (count := batches(verdict)):
            return page
        confirmed = words("replay.first.confirmed", n=count)
        return replace(page, summary=words("list.space").join((page.summary, confirmed)))
    told = words("replay.first.summary", summary=primary.summary)
    return replace(
        page,
        accent="log-wrong",
        kicker=words("replay.first.kicker", title=primary.title),
        headline=words("replay.first.headline", headline=primary.headline),
        summary=words("list.space").join((lead(verdict, words), told)),
        decision="",
        facts=_facts(page.facts, verdict, words),
        remedies=_instead(verdict, words),
        remedies_note="",
    )


def caveats(findings: Sequence[Finding], primary: Finding | None, desk: Desk) -> list[str]:
    """What the replay says that could change a reader's mind, beyond what the head tells."""
    words, said = desk.words, []
    for finding in findings:
        verdict = outcome(finding, desk.replays)
        if verdict is None or verdict.verdict == "confirmed":
            continue
        if verdict.verdict == "metric-wrong" and finding is primary:
            continue
        said.append(words("replay.first.know", title=finding.title, lead=lead(verdict, words)))
    return said


def _facts(facts: tuple[FactBox, ...], verdict: ReplayVerdict, words: Words) -> tuple[FactBox, ...]:
    """The corrected number where the logged one stood."""
    number = decisive_number(verdict.compared)
    value = None if number is None else number.corrected
    label = "replay.first.corrected"
    if number is not None and value is None:
        value, label = number.recomputed, "replay.first.recomputed"
    if number is None or value is None or number.logged is None:
        return facts
    notes = (
        words("replay.first.logged", value=resolved(number.logged, number.unit, number.tolerance)),
        words.series(number.metric),
    )
    box = FactBox(words(label), resolved(value, number.unit, number.tolerance), notes)
    return (*facts[:NUMBER], box, *facts[NUMBER + 1 :])


def _instead(verdict: ReplayVerdict, words: Words) -> tuple[RemedyView, ...]:
    """What to do about the log, in the place of what to do about the run."""
    cause = cause_view(verdict, words)
    return (RemedyView(cause.do, cause.means, "", ""),) if cause else ()
