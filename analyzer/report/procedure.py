"""Procedures as the page tells them: the tree, what it comes to, the experiments that decide."""

from __future__ import annotations

from collections.abc import Iterator

from analyzer.compare.procedure_model import Cost, Experiment, Power, Procedure
from analyzer.findings.numbers import format_value
from analyzer.report.page import ExperimentView, ProcedureView
from analyzer.report.procedure_tree import procedure_tree
from analyzer.report.show import amount, hours_text
from analyzer.report.words import Words

MINUTE = 1.0 / 60.0  # h


def procedure_view(procedure: Procedure, words: Words) -> ProcedureView:
    """The procedure in that language."""
    end = procedure.conclusion
    if end is None:
        count = len(procedure.open)
        lead, text = words("procedure.open", n=count) if count else "", ""
    elif end.variable:
        lead, text = words("procedure.cause", variable=end.variable), end.text
    else:
        lead, text = "", end.text
    return ProcedureView(
        f"procedure-{procedure.id}",
        procedure.title,
        lead,
        text,
        procedure_tree(procedure, words),
        tuple(_experiment(e, procedure, words) for e in procedure.experiments),
    )


def _experiment(found: Experiment, procedure: Procedure, words: Words) -> ExperimentView:
    asks = {question.id: question.ask for question in procedure.questions}
    return ExperimentView(
        found.do,
        asks[found.question],
        found.yaml,
        found.command,
        tuple(_facts(found, words)),
        tuple(
            words("procedure.outcome", answer=words(f"procedure.answer.{answer}"), meaning=meaning)
            for answer, meaning in found.outcomes
        ),
        (*(f"{key}: {why}" for key, why in found.left_out), *map(words.phrase, found.notes)),
    )


def _facts(found: Experiment, words: Words) -> Iterator[str]:
    yield words("procedure.give", role=found.role)
    if found.power is not None and found.power.steps is not None:
        yield _power(found.power, found.power.steps, words)
    if found.cost is not None:
        yield _cost(found.cost, words)


def _power(power: Power, steps: int, words: Words) -> str:
    def value(number: float) -> str:
        return format_value(number, power.unit)

    return words(
        "procedure.power",
        n=power.seeds,
        steps=f"{steps:,}",
        effect=value(power.effect),
        series=words.series(power.series),
        power=f"{power.power:.0%}",
        sigma=value(power.sigma),
        seeds=value(power.seed_spread),
    )


def _cost(cost: Cost, words: Words) -> str:
    text = words(
        "procedure.cost.runs" if cost.runs > 1 else "procedure.cost.steps",
        n=cost.runs if cost.runs > 1 else cost.steps,
        steps=f"{cost.steps:,}",
        step=format_value(cost.step_s, "s"),
        time=hours_text(cost.hours) if cost.hours >= MINUTE else words("procedure.moment"),
    )
    if cost.gpu_hours is not None:
        text += words("procedure.gpu", hours=amount(cost.gpu_hours))
    assumed = words("list.semicolon").join(map(words.phrase, cost.assumptions))
    text += words("procedure.assumed", what=assumed) if assumed else ""
    return text + words("list.stop").strip()
