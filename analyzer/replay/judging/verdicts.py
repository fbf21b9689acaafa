"""The verdict of a finding, and of a step: confirmed, metric-wrong, or cannot tell and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from analyzer.findings.numbers import format_value
from analyzer.findings.replayed import Compared, ReplayCause, ReplayOutcome
from analyzer.replay.judging.comparing import Sides, compare, compare_all, same, why_not_this
from analyzer.replay.judging.definitions import unweighted_mean
from analyzer.replay.question import Question


@dataclass(frozen=True, slots=True)
class Answer:
    """What one step says of a finding."""

    verdict: ReplayOutcome
    cause: ReplayCause | None
    why: str
    step: int


def compared_for(question: Question, both: Sides) -> tuple[Compared, ...]:
    """The numbers that a finding rests on, at one step: its series first."""
    names = dict.fromkeys((question.series, *question.metrics))
    found = [compared for name in names if (compared := compare(both, name)) is not None]
    return tuple(found)


def main_compared(question: Question, both: Sides) -> Compared | None:
    """The number that the verdict is about: best one on which the rule fires at this step."""
    found = [c for c in compared_for(question, both) if c.recomputed is not None]
    both_sides = [c for c in found if c.logged is not None]
    fires = [c for c in both_sides if _fires(question, c)]
    return next(iter(fires or both_sides or found), None)


def _fires(question: Question, compared: Compared) -> bool:
    limit = question.limit_of(compared.metric)
    return limit is not None and compared.logged is not None and limit.beyond(compared.logged)


def answer(question: Question, both: Sides) -> Answer:
    """What one step says of a finding."""
    step, error = both.batch.step, both.batch.found.error
    compared = main_compared(question, both)
    if compared is None:
        reason = f"the batch of step {step} does not give {question.series}"
        if error is not None:
            reason += f": AReaL raises in {error.stage}: {error.type}: {error.message}"
        elif both.batch.new is None:
            reason += ": new_logprobs were not recorded, which the update alone has"
        return Answer("cannot-tell", None, f"{_capital(reason)}.", step)
    if compared.logged is None:
        why = f"{compared.metric} is not logged at step {step}."
        return Answer("cannot-tell", None, why, step)
    if compared.agrees is False:
        return _disagrees(both, compared)
    if question.says_metric_wrong or _healthy_if_corrected(question, compared):
        return _misleads(both, compared)
    if compared.agrees is None and not _still_fires(question, both, compared):
        reason = why_not_this(both, compared.metric)
        why = f"At step {step} {compared.logged_as} cannot be compared: {reason}."
        return Answer("cannot-tell", None, why, step)
    return Answer("confirmed", None, _agreement(compared), step)


def _healthy_if_corrected(question: Question, compared: Compared) -> bool:
    """Does the rule fire on the logged number, and not on the one that its name promises?"""
    limit = question.limit_of(compared.metric)
    if limit is None or compared.corrected is None or compared.logged is None:
        return False
    return limit.beyond(compared.logged) and not limit.beyond(compared.corrected)


def _still_fires(question: Question, both: Sides, compared: Compared) -> bool:
    """Is the number beyond the limit by what its name promises, too, and of the whole batch?"""
    limit = question.limit_of(compared.metric)
    if both.incomparable or limit is None or compared.corrected is None:
        return False
    return limit.beyond(compared.corrected)


def _disagrees(both: Sides, compared: Compared) -> Answer:
    values = {"entropy": both.batch.bundle.tensors.get("entropy"), "new_logp": both.batch.new}
    value = values.get(compared.metric)
    assert compared.logged is not None and compared.recomputed is not None
    if value is not None:
        plain = unweighted_mean(both.batch, value)
        if plain is not None and same(compared.logged, plain, compared.tolerance):
            return Answer(
                "metric-wrong",
                "metric-definition",
                f"{_logged(compared)}: the plain mean over micro-batches, whatever their size. "
                f"Over tokens it is {_shown(compared.recomputed, compared)}.",
                compared.step,
            )
    off = abs(compared.logged - compared.recomputed)
    return Answer(
        "metric-wrong",
        "log-disagrees",
        f"{_logged(compared)}, and AReaL's own definition gives "
        f"{_shown(compared.recomputed, compared)} of the recorded batch: off by {off:.3g}, where "
        f"{compared.tolerance:.2g} is allowed.",
        compared.step,
    )


def _misleads(both: Sides, compared: Compared) -> Answer:
    if both.incomparable:
        why = f"At step {compared.step} {compared.logged_as} cannot be compared"
        return Answer("cannot-tell", None, f"{why}: {both.incomparable}.", compared.step)
    if compared.corrected is None:
        why = f"{_agreement(compared)} It is what its name says there."
        return Answer("cannot-tell", None, why, compared.step)
    why = (
        f"{_logged(compared)}{_as_areal(compared)}, but what its name promises is "
        f"{_shown(compared.corrected, compared)} ({compared.corrected_by})."
    )
    return Answer("metric-wrong", "metric-definition", why, compared.step)


def _as_areal(compared: Compared) -> str:
    return ", as AReaL computes it from the batch" if compared.agrees else ""


def _agreement(compared: Compared) -> str:
    assert compared.recomputed is not None
    extra = ""
    if compared.corrected is not None:
        corrected = _shown(compared.corrected, compared)
        extra = f"; {compared.corrected_by} it is {corrected}"
    return (
        f"{_logged(compared)}, and the recorded batch gives "
        f"{_shown(compared.recomputed, compared)}{extra}."
    )


def _logged(compared: Compared) -> str:
    assert compared.logged is not None
    return (
        f"At step {compared.step} the log says {_shown(compared.logged, compared)} "
        f"({compared.logged_as})"
    )


def _shown(value: float, compared: Compared) -> str:
    return format_value(value, compared.unit)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def weighed(answers: Sequence[Answer]) -> Answer:
    """One answer of several steps, the worst step first.

    A log that is wrong anywhere is wrong. Otherwise most steps decide, the earlier ones where two
    are level; what cannot be told counts only where nothing else is said.
    """
    for found in answers:
        if found.cause == "log-disagrees":
            return found
    telling = [found for found in answers if found.verdict != "cannot-tell"] or list(answers)
    counts = {found.verdict: 0 for found in telling}
    for found in telling:
        counts[found.verdict] += 1
    return max(telling, key=lambda found: counts[found.verdict])


@dataclass(frozen=True, slots=True)
class StepOutcome:
    """What a recorded batch says of the whole log at its step."""

    outcome: ReplayOutcome
    why: str
    compared: tuple[Compared, ...]


def step_outcome(both: Sides) -> StepOutcome:
    """Every logged number that the batch gives too."""
    compared = compare_all(both)
    comparable = [c for c in compared if c.agrees is not None]
    wrong = [c for c in comparable if not c.agrees]
    error = both.batch.found.error
    raised = f" AReaL raises on this batch: {error.type}: {error.message}" if error else ""
    if not comparable:
        reason = both.incomparable or "no number is both in the log and in the batch"
        return StepOutcome("cannot-tell", f"{_capital(reason)}.{raised}", compared)
    if not wrong:
        why = f"All {len(comparable)} logged numbers that the batch gives agree with it."
        return StepOutcome("confirmed", why + raised, compared)
    names = ", ".join(c.logged_as for c in wrong[:3]) + (" …" if len(wrong) > 3 else "")
    why = f"{len(wrong)} of {len(comparable)} logged numbers differ from the batch: {names}."
    return StepOutcome("metric-wrong", why + raised, compared)
