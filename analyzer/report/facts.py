"""The facts under the headline of page one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analyzer.findings.model import Coverage, Evidence, Finding, Movement
from analyzer.findings.numbers import format_value
from analyzer.findings.replayed import Replays
from analyzer.report.clock import Clock, Duration
from analyzer.report.page import FactBox
from analyzer.report.show import amount, hours_text, instant_text, signed, steps_text
from analyzer.report.source import SeriesSource
from analyzer.report.words import Words
from analyzer.tables.evidence import Series
from analyzer.tables.manifest import Manifest

REWARDS = ("task_reward", "rollout_reward", "eval_reward")
WINDOW = 20  # steps whose median is a level
AGAINST_LIMIT = ("level", "target", "spread", "spike", "shift")


@dataclass(frozen=True)
class Desk:
    """What every part of the page is written from."""

    manifest: Manifest
    source: SeriesSource
    clock: Clock
    words: Words
    replays: Replays | None = None

    @property
    def span(self) -> tuple[int, int]:
        """First and last step of the run; (0, 0) for a run without steps."""
        first, last = self.manifest.first_step, self.manifest.last_step
        return (first or 0, last if last is not None else 0)


def finding_facts(finding: Finding, coverage: Coverage, desk: Desk) -> tuple[FactBox, ...]:
    """Since when, how much of the run, the number against its limit, the reward, the checks."""
    return (
        _since(finding, desk),
        _affected(finding, desk),
        _measured(finding, desk),
        reward_fact(finding, desk),
        checks_fact(coverage, desk.words),
    )


def run_facts(coverage: Coverage, desk: Desk) -> tuple[FactBox, ...]:
    """Steps, length, attempts, reward and checks of a run with nothing wrong."""
    words, manifest = desk.words, desk.manifest
    planned = manifest.total_steps
    notes = [words("fact.planned", n=planned)] if planned else []
    if manifest.finished is not None:
        notes.append(words("fact.finished" if manifest.finished else "fact.unfinished"))
    steps = FactBox(words("fact.steps"), f"{manifest.step_count:,}", tuple(notes))
    attempts = len(manifest.attempts)
    again = [a.superseded for a in manifest.attempts if a.superseded]
    overlap = [words("fact.superseded", steps=", ".join(map(steps_text, again)))] if again else []
    return (
        steps,
        _length(desk),
        FactBox(words("fact.attempts"), str(attempts), tuple(overlap)),
        reward_fact(None, desk),
        checks_fact(coverage, words),
    )


def checks_fact(coverage: Coverage, words: Words) -> FactBox:
    """How many checks fired, were clear, could not be made."""
    notes = [
        words("fact.clear", n=coverage.clear),
        words("fact.not_checked", n=coverage.not_checked),
    ]
    if coverage.errors:
        notes.append(words("fact.broken", n=coverage.errors))
    return FactBox(words("fact.checks"), words("fact.fired", n=coverage.fired), tuple(notes))


def affected_span(finding: Finding, span: tuple[int, int]) -> tuple[int, int]:
    """From the onset (else the start) to the last step where it held (else the end)."""
    first = finding.onset.step if finding.onset else span[0]
    return first, finding.end if finding.end is not None else span[1]


def _since(finding: Finding, desk: Desk) -> FactBox:
    words, onset = desk.words, finding.onset
    if onset is None:
        return FactBox(words("fact.since"), words("fact.whole_run"), (words("fact.no_onset"),))
    notes = []
    if onset.low != onset.high:
        notes.append(words("fact.interval", steps=steps_text((onset.low, onset.high))))
    if moment := instant_text(desk.clock.at(onset.step), words("about")):
        notes.append(words("fact.utc", time=moment))
    if desk.manifest.steps_per_epoch:
        notes.append(words("fact.epoch", n=onset.step // desk.manifest.steps_per_epoch + 1))
    return FactBox(words("fact.since"), words("step", step=f"{onset.step:,}"), tuple(notes))


def _affected(finding: Finding, desk: Desk) -> FactBox:
    words = desk.words
    first, last = affected_span(finding, desk.span)
    held = sum(b - a + 1 for a, b in finding.windows) or last - first + 1
    notes = [_share(min(1.0, held / max(1, desk.manifest.step_count)), words)]
    if cost := _cost(desk.clock.hours(first, last), held / (last - first + 1), desk):
        hours, gpu_hours, method = cost
        notes += [words("list.comma").join(filter(None, (hours, gpu_hours))), method]
    return FactBox(words("fact.affected"), words("steps", n=held), tuple(notes))


def _share(share: float, words: Words) -> str:
    return words("fact.share", share=format_value(round(share, 2), "fraction"))


def _cost(duration: Duration, share: float, desk: Desk) -> tuple[str, str, str] | None:
    """Hours and GPU-hours ("" where unknown) of a stretch's share, and how they were found."""
    if duration.hours is None:
        return None
    words, hours = desk.words, duration.hours * min(1.0, share)
    gpus = desk.source.fact("gpus")
    gpu_hours = words("fact.gpu_hours", hours=amount(hours * gpus[0])) if gpus else ""
    return hours_text(hours), gpu_hours, words(f"fact.method.{duration.method}")


def _length(desk: Desk) -> FactBox:
    cost = _cost(desk.clock.hours(*desk.span), 1.0, desk)
    if cost is None:
        return FactBox(desk.words("fact.length"), desk.words("unknown"), ())
    hours, gpu_hours, method = cost
    return FactBox(desk.words("fact.length"), hours, tuple(filter(None, (gpu_hours, method))))


def decisive(finding: Finding) -> Evidence | None:
    """The measurement that stands against a limit: the first of a level or target that came with
    the onset, not before; else the first that has a limit.
    """
    limited = [e for e in finding.evidence if e.value is not None and e.limit is not None]
    kinds = [e for e in limited if e.condition in AGAINST_LIMIT and _came_with(finding, e)]
    return next(iter(kinds or limited), None)


def _came_with(finding: Finding, evidence: Evidence) -> bool:
    if finding.onset is None:
        return True
    return evidence.window is not None and evidence.window[0] >= finding.onset.low


def _measured(finding: Finding, desk: Desk) -> FactBox:
    words, evidence = desk.words, decisive(finding)
    if evidence is not None and evidence.value is not None and evidence.limit is not None:
        at_end = evidence.window is not None and evidence.window[1] == desk.span[1]
        label = words("fact.now" if at_end else "fact.measured")
        value = format_value(evidence.value, evidence.unit)
        limit = words("fact.limit", limit=format_value(evidence.limit, evidence.unit))
        return FactBox(label, value, (limit, words.series(evidence.metric)))
    if finding.movements:
        move = finding.movements[0]
        before = words("fact.was", value=format_value(move.before, move.unit))
        return FactBox(
            words("fact.now"),
            format_value(move.after, move.unit),
            (before, words.series(move.metric)),
        )
    return FactBox(words("fact.measured"), words("none"), (words("fact.no_limit"),))


def reward_fact(finding: Finding | None, desk: Desk) -> FactBox:
    """What the reward did from before the onset (else the start) to the end."""
    words, label = desk.words, desk.words("fact.reward")
    move = reward_movement(finding, desk)
    if move is None:
        return FactBox(label, words("none"), (words("fact.no_reward"),))
    arrow = f"{format_value(move.before, move.unit)} → {format_value(move.after, move.unit)}"
    when = words("fact.since_onset" if finding and finding.onset else "fact.since_start")
    change = signed(move.after - move.before, move.unit)
    return FactBox(label, change, (arrow, words.series(move.metric), when))


def reward_movement(finding: Finding | None, desk: Desk) -> Movement | None:
    """The finding's own movement of a reward, else medians of the steps before and at the end."""
    for name in REWARDS:
        for move in finding.movements if finding else ():
            if move.metric == name:
                return move
    for name in REWARDS:
        series = desk.source.series(name)
        found = _movement(series, finding) if isinstance(series, Series) else None
        if found is not None:
            return found
    return None


def _movement(series: Series, finding: Finding | None) -> Movement | None:
    good = series.select(np.isfinite(series.values))
    steps, values = good.steps, good.values
    if finding is not None and finding.onset is not None:
        end = finding.end if finding.end is not None else np.inf
        before = values[steps < finding.onset.low][-WINDOW:]
        after = values[(steps >= finding.onset.step) & (steps <= end)][-WINDOW:]
    else:
        half = min(WINDOW, len(values) // 2)
        before, after = values[:half], values[len(values) - half :]
    if not len(before) or not len(after):
        return None
    levels = float(np.median(before)), float(np.median(after))
    return Movement(series.name, series.logged_as, series.unit, *levels)
