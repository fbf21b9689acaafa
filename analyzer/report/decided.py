"""What procedures come to, as page one says it: the cause, or the experiments that tell it."""

from __future__ import annotations

from analyzer.compare.procedure_model import Cost, Decision, Experiment
from analyzer.report.page import RemedyView
from analyzer.report.show import amount, hours_text
from analyzer.report.words import Words


def decision_text(found: Decision, words: Words) -> str:
    """Which variable is the cause and what shows it; else the experiment that tells most for its
    cost, and the one that decides most.
    """
    if found.causes:
        names = words("decision.and").join(cause.variable for cause in found.causes)
        reasons = [words.phrase(cause.reason) for cause in found.causes]
        shown = words("list.semicolon").join(filter(None, reasons))
        return words("decision.cause", variables=names, reasons=shown)
    said = [" ".join(end.text.split()) for end in found.excluded]
    if found.experiments:
        first = found.experiments[0]
        most = max(found.experiments, key=lambda experiment: experiment.bits)
        key = "decision.open" if most is first else "decision.open_both"
        said.append(words(key, first=_named(first, words), most=_named(most, words)))
    return words("list.space").join(said)


def decision_remedies(found: Decision, words: Words) -> tuple[RemedyView, ...]:
    """What to do about the causes; where they are open, the experiments.

    Settings are told of the first alone: each is a run of its own, and their lines are not to be
    pasted together.
    """
    if found.causes:
        return tuple(RemedyView(" ".join(c.text.split()), "", "", "") for c in found.causes)
    return tuple(
        _remedy(experiment, experiment.yaml if place == 0 else "", words)
        for place, experiment in enumerate(found.experiments)
    )


def _remedy(experiment: Experiment, config: str, words: Words) -> RemedyView:
    note = f"{cost_text(experiment.cost, words)}{_stop(words)}"
    means = (words(f"decision.{answer}", means=text) for answer, text in experiment.outcomes)
    return RemedyView(experiment.do, words("list.space").join(means), note, config)


def _named(experiment: Experiment, words: Words) -> str:
    cost = cost_text(experiment.cost, words)
    return words("decision.experiment", do=experiment.do, cost=cost)


def cost_text(cost: Cost | None, words: Words) -> str:
    """Steps, hours and GPU-hours of an experiment."""
    if cost is None:
        return words("decision.no_cost")
    steps = words("decision.runs", n=cost.runs, steps=words("steps", n=cost.steps))
    parts = [steps, words("decision.about", hours=hours_text(cost.hours))]
    if cost.gpu_hours is not None:
        parts.append(words("fact.gpu_hours", hours=amount(cost.gpu_hours)))
    return words("list.comma").join(parts)


def _stop(words: Words) -> str:
    return words("list.stop").strip()
