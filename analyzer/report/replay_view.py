"""What the replay says, told under each finding, on page one and in a section of its own."""

from __future__ import annotations

from collections.abc import Sequence

from analyzer.findings.model import Finding
from analyzer.findings.numbers import format_value
from analyzer.findings.replayed import (
    Compared,
    ReplayedStep,
    Replays,
    ReplayVerdict,
    WorstSequence,
)
from analyzer.report.capped import Capped, cap
from analyzer.report.excerpt import excerpt
from analyzer.report.order import anchor
from analyzer.report.replay_chart import weights_chart
from analyzer.report.replay_numbers import compared_row
from analyzer.report.replay_page import (
    CauseView,
    ComparedRow,
    LeftRow,
    ReplaySection,
    ReplayView,
    SequenceText,
    StepRow,
    WorstRow,
)
from analyzer.report.replay_what_if import what_ifs
from analyzer.report.words import Words

COMPARED = 8  # rows under a finding
DIFFERING = 12
STEPS = 40
WORST = 6
TEXTS = 3


def outcome(finding: Finding, replays: Replays | None) -> ReplayVerdict | None:
    """What the replay says of the finding; None where it says nothing."""
    verdict = replays.verdict(finding.id) if replays is not None else None
    return verdict if verdict is not None and verdict.verdict != "not-run" else None


def log_is_wrong(finding: Finding, replays: Replays | None) -> bool:
    """Does the replay say that the finding's number is not so?"""
    verdict = outcome(finding, replays)
    return verdict is not None and verdict.verdict == "metric-wrong"


def lead(verdict: ReplayVerdict, words: Words) -> str:
    """The verdict in a sentence, and why."""
    return words("list.space").join((words(f"replay.lead.{verdict.verdict}"), verdict.why))


def batches(verdict: ReplayVerdict) -> int:
    """How many recorded batches the verdict rests on."""
    return len({one.step for one in verdict.compared})


def cause_view(verdict: ReplayVerdict, words: Words) -> CauseView | None:
    """The cause, what it means and what to do about it."""
    if verdict.cause is None:
        return None
    return CauseView(
        *(words(f"replay.cause.{verdict.cause}.{part}") for part in ("name", "means", "do"))
    )


def replay_view(finding: Finding, replays: Replays | None, words: Words) -> ReplayView | None:
    """What stands under the finding; None where the replay says nothing of it."""
    verdict = outcome(finding, replays)
    if verdict is None or replays is None:
        return None
    return ReplayView(
        outcome=verdict.verdict,
        lead=words(f"replay.lead.{verdict.verdict}"),
        why=verdict.why,
        cause=cause_view(verdict, words),
        compared=_compared(verdict.compared, COMPARED, words),
        notes=_definitions(verdict.compared, words),
        picture=weights_chart(verdict.pictures, words),
        worst=tuple(_worst(one, words) for one in verdict.pictures.worst[:WORST]),
        texts=_texts(verdict.pictures.worst, words),
        what_if=what_ifs(finding, replays, words),
    )


def replay_section(
    replays: Replays | None, findings: Sequence[Finding], words: Words
) -> ReplaySection | None:
    """The section on the whole replay; None where none was asked for."""
    if replays is None:
        return None
    differing = [one for step in replays.steps for one in step.compared if one.agrees is False]
    return ReplaySection(
        lead=_section_lead(replays, words),
        steps=cap([_step(step, words) for step in replays.steps], STEPS),
        differing=_compared(differing, DIFFERING, words),
        left=_left(replays, findings) if replays.steps else (),
        notes=replays.notes if replays.steps else replays.notes[1:],
        record_next=replays.record_next.strip("\n"),
    )


def nothing_replayed(replays: Replays | None, words: Words) -> str:
    """Why nothing was replayed, in a line; "" where something was, or none was asked for."""
    if replays is None or replays.steps:
        return ""
    if not replays.notes:
        return words("replay.nothing")
    return words("replay.not_made", why=replays.notes[0].rstrip("."))


def _section_lead(replays: Replays, words: Words) -> str:
    if not replays.steps:
        return nothing_replayed(replays, words)
    texts = [words("replay.steps", n=len(replays.steps))]
    if replays.conventions:
        texts.append(words("replay.conventions", name=replays.conventions))
    texts.append(words(f"replay.mode.{replays.mode}"))
    return words("list.space").join(texts)


def _compared(compared: Sequence[Compared], limit: int, words: Words) -> Capped[ComparedRow]:
    """Those where the log is wrong come first, so that they are never among the rows left out."""
    wrong = [one for one in compared if one.agrees is False or one.corrected is not None]
    rest = [one for one in compared if one not in wrong]
    return cap([compared_row(one, words) for one in [*wrong, *rest]], limit)


def _definitions(compared: Sequence[Compared], words: Words) -> tuple[str, ...]:
    said = {
        words("replay.definition", metric=words.series(one.metric), by=one.corrected_by): None
        for one in compared
        if one.corrected is not None and one.corrected_by
    }
    return tuple(said)


def _worst(one: WorstSequence, words: Words) -> WorstRow:
    return WorstRow(
        f"{one.step:,}",
        f"{one.row:,}",
        format_value(one.share, "fraction"),
        f"{one.tokens:,}",
        format_value(one.mean_weight, "1"),
        words("none") if one.reward is None else format_value(one.reward, "reward"),
    )


def _texts(worst: Sequence[WorstSequence], words: Words) -> tuple[SequenceText, ...]:
    left_out = words("replay.left_out", n="{n}")
    told = [one for one in worst if one.prompt is not None or one.completion is not None]
    return tuple(
        SequenceText(
            words("replay.sequence", step=f"{one.step:,}", row=f"{one.row:,}"),
            excerpt(one.prompt or "", left_out),
            excerpt(one.completion or "", left_out),
        )
        for one in told[:TEXTS]
    )


def _step(step: ReplayedStep, words: Words) -> StepRow:
    judged = [one.agrees for one in step.compared if one.agrees is not None]
    agree = words("replay.agree", n=sum(judged), of=len(judged)) if judged else ""
    return StepRow(
        f"{step.step:,}",
        step.path,
        words(f"replay.role.{step.role}"),
        words("replay.rows", rows=f"{step.rows:,}", of=f"{step.rows_of:,}"),
        words(f"replay.stage.{step.stage}"),
        words(f"replay.outcome.{step.outcome}"),
        words("list.semicolon").join(filter(None, (agree, step.why))),
    )


def _left(replays: Replays, findings: Sequence[Finding]) -> tuple[LeftRow, ...]:
    left = {v.finding: v.why for v in replays.verdicts if v.verdict == "not-run"}
    return tuple(LeftRow(anchor(f), f.title, left[f.id]) for f in findings if f.id in left)
