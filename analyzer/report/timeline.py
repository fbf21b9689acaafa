"""What happened, in order: attempts, onsets, events."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from analyzer.findings.model import Finding
from analyzer.report.capped import Capped
from analyzer.report.clock import owner, parse_time
from analyzer.report.facts import Desk
from analyzer.report.page import TimelineRow
from analyzer.report.show import instant_text, steps_text, time_text
from analyzer.tables.evidence import Event

ROWS = 40
MESSAGE = 140  # letters of a message that are shown
WEIGHTS = {"CRITICAL": 2, "ERROR": 2, "WARNING": 1}
_DIGITS = re.compile(r"0x[0-9a-f]+|\d+")

Moment = tuple[int, float, int, int]  # attempt, step, order within the step, line


@dataclass(frozen=True, slots=True)
class Folded:
    """Events that say the same."""

    first: Event
    last: Event
    count: int


def timeline(findings: Sequence[Finding], desk: Desk) -> Capped[TimelineRow]:
    """Rows in order of time; where there are too many, the lightest are counted, not shown."""
    moments = [*_attempts(desk), *_onsets(findings, desk), *_events(desk)]
    rows = [row for _, row in sorted(moments, key=lambda moment: moment[0])]
    return _lightened(rows)


def event_rows(desk: Desk) -> list[TimelineRow]:
    """Events alone, the gravest first, each group in order."""
    rows = [row for _, row in sorted(_events(desk), key=lambda moment: moment[0])]
    return sorted(rows, key=lambda row: -row.weight)


def _lightened(rows: list[TimelineRow]) -> Capped[TimelineRow]:
    if len(rows) <= ROWS:
        return Capped(tuple(rows))
    by_weight = sorted(range(len(rows)), key=lambda i: (-rows[i].weight, i))
    kept = sorted(by_weight[:ROWS])
    return Capped(tuple(rows[i] for i in kept), len(rows) - ROWS)


def _attempts(desk: Desk) -> Iterator[tuple[Moment, TimelineRow]]:
    words, attempts = desk.words, desk.manifest.attempts
    for attempt in attempts:
        label = words("timeline.attempt", n=attempt.number + 1)
        started = time_text(parse_time(attempt.started)) if attempt.started else ""
        yield (
            (attempt.number, float(attempt.first_step), 0, 0),
            TimelineRow(started, f"{attempt.first_step:,}", label, words("timeline.start"), "", 3),
        )
        what = words("timeline.end")
        if attempt.superseded is not None:
            what += " " + words("timeline.superseded", steps=steps_text(attempt.superseded))
        elif attempt is attempts[-1] and desk.manifest.finished is not None:
            what += " " + words(
                "timeline.finished" if desk.manifest.finished else "timeline.unfinished"
            )
        ended = time_text(parse_time(attempt.ended)) if attempt.ended else ""
        yield (
            (attempt.number, float(attempt.last_step), 2, 1 << 60),
            TimelineRow(ended, f"{attempt.last_step:,}", label, what, "", 3),
        )


def _onsets(findings: Sequence[Finding], desk: Desk) -> Iterator[tuple[Moment, TimelineRow]]:
    for finding in findings:
        if finding.onset is None or not finding.counts:
            continue
        step = finding.onset.step
        attempt = owner(desk.manifest.attempts, step)
        time = instant_text(desk.clock.at(step), desk.words("about"))
        label = desk.words("timeline.onset")
        row = TimelineRow(time, f"{step:,}", label, finding.headline, finding.rule, 3)
        yield (attempt.number if attempt else 0, float(step), 1, 0), row


def _events(desk: Desk) -> Iterator[tuple[Moment, TimelineRow]]:
    before: dict[tuple[str, int], float] = {}
    for folded in _fold(desk.source.events()):
        event = folded.first
        place = (event.source, event.attempt)
        step = float(event.step) if event.step is not None else before.get(place, -1.0)
        before[place] = step
        yield (event.attempt, step, 1, event.line), _event_row(folded, desk)


def _fold(events: Sequence[Event]) -> list[Folded]:
    """Events of one attempt that differ in numbers alone, as one with a count."""
    groups: dict[tuple[object, ...], list[Event]] = {}
    for event in events:
        shape = _DIGITS.sub("#", event.message)
        groups.setdefault((event.attempt, event.level, event.logger, shape), []).append(event)
    return [Folded(g[0], g[-1], sum(e.repeats for e in g)) for g in groups.values()]


def _event_row(folded: Folded, desk: Desk) -> TimelineRow:
    first, last = folded.first, folded.last
    step = ""
    if first.step is not None:
        step = steps_text((first.step, max(first.step, last.step or first.step)))
    what = f"{first.logger}: {brief(first.message)}" if first.logger else brief(first.message)
    if folded.count > 1:
        what += " " + desk.words("timeline.times", n=folded.count)
    return TimelineRow(
        time_text(first.wall_time) if first.wall_time else "",
        step,
        desk.words.get(f"level.{first.level.lower()}", first.level.lower()),
        what,
        f"{first.source}:{first.line}",
        WEIGHTS.get(first.level.upper(), 0),
    )


def brief(message: str) -> str:
    """The first line of a message, and the last, where a traceback says what was raised."""
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    if not lines:
        return ""
    text = lines[0] if len(lines) == 1 else f"{lines[0]} … {lines[-1]}"
    return text if len(text) <= MESSAGE else text[: MESSAGE - 1].rstrip() + "…"
