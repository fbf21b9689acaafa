"""Evidence for the questions of procedures: conditions, comparisons and findings, as proofs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from analyzer.compare.configuration import SEEDS
from analyzer.compare.model import BETTER, CONFIDENCE, Comparison
from analyzer.compare.procedure_files import LoadedProcedure, Way
from analyzer.compare.procedure_model import Answer, Proof, ProofKind
from analyzer.compare.procedure_spec import (
    OTHERWISE,
    Append,
    ComparisonSpec,
    FindingSpec,
    Planned,
    ProcedureSpec,
    QuestionSpec,
)
from analyzer.compare.seed_spread import FREEDOM, assumed_spread
from analyzer.findings.model import Judgement
from analyzer.findings.numbers import format_value
from analyzer.rulebook.conditions.base import Condition
from analyzer.rulebook.conditions.wording import signed
from analyzer.rulebook.evaluate import ask, control_false_discoveries
from analyzer.rulebook.outcome import Outcome
from analyzer.statistics.bootstrap import Estimate, with_spread
from analyzer.statistics.curves import END
from analyzer.statistics.difference import few_difference
from analyzer.statistics.finite import finite
from analyzer.statistics.noise import difference_sigma
from analyzer.tables.evidence import Absent
from analyzer.tables.run import RunTables

Asked = Mapping[Condition, Outcome]
SHOWN = 2  # measurements of a condition that a reason names
FEW = 5  # values of this run that its noise needs, where the others have too few for curves
FEW_END = 3  # … and how many of its last ones are its level, at least


@dataclass(frozen=True)
class Evidence:
    """All that a run's procedures may look at: the run, its findings, runs beside it."""

    run: RunTables
    judgement: Judgement
    comparisons: Mapping[str, Comparison]  # by role
    asked: Mapping[tuple[str | None, int], Asked]  # role and place in it → outcomes


def gather(
    procedures: Sequence[LoadedProcedure],
    run: RunTables,
    judgement: Judgement,
    comparisons: Iterable[Comparison],
) -> Evidence:
    """Every condition of the procedures asked once of the run that it is about.

    The rate of false discoveries is held over all conditions that are asked of one run.
    """
    wanted: dict[str | None, list[Condition]] = {}
    for procedure in procedures:
        for ways in procedure.ways.values():
            for way in ways:
                conditions = wanted.setdefault(way.spec.role, [])
                conditions += [c for node in way.nodes() for c in node.conditions()]
    asked = {
        (role, place): control_false_discoveries({c: ask(c, of) for c in dict.fromkeys(conditions)})
        for role, conditions in wanted.items()
        for place, of in enumerate((run,) if role is None else run.others.get(role, ()))
    }
    return Evidence(run, judgement, {found.role: found for found in comparisons}, asked)


def prove(way: Way, question: QuestionSpec, procedure: ProcedureSpec, known: Evidence) -> Proof:
    """What one way says to the question."""
    if way.spec.finding is not None:
        return _by_finding(way.spec.finding, known)
    role = way.spec.compare.role if way.spec.compare is not None else way.spec.role
    kind: ProofKind = "comparison" if way.spec.compare is not None else "condition"
    names = tuple(run.manifest.run for run in known.run.others.get(role, ())) if role else ()
    if role is not None and not names:
        return Proof(kind, role, (), "open", f"no run was given in the role of {role}")
    if role is not None and (more := _also_differs(role, question, procedure, known)):
        text = f"{names[0]} differs in {more} as well, so that more than one variable changed"
        return Proof(kind, role, names, "open", text)
    if role is not None and (same := _does_not_differ(role, question, procedure, known)):
        text = f"{names[0]} does not differ in {same}, which the question is about"
        return Proof(kind, role, names, "open", text)
    if way.spec.compare is not None:
        answer, text = _by_comparison(way.spec.compare, known)
    else:
        answer, text = _by_conditions(way, known)
    return Proof(kind, role, names, answer, text)


def _by_finding(spec: FindingSpec, known: Evidence) -> Proof:
    finding = known.judgement.finding(spec.rule)
    if finding is not None and finding.counts:
        text = f"{spec.rule}: {finding.headline}"
        return Proof("finding", None, (), spec.fired or "open", text)
    state = next((check for check in known.judgement.checks if check.rule == spec.rule), None)
    if state is None or state.state in ("not-checked", "error"):
        reason = f": {state.reason}" if state is not None and state.reason else ""
        return Proof("finding", None, (), "open", f"{spec.rule} was not checked{reason}")
    if finding is not None:
        return Proof("finding", None, (), "open", f"{spec.rule} does not count")
    return Proof("finding", None, (), spec.clear or "open", f"{spec.rule} did not fire")


def _also_differs(
    role: str, question: QuestionSpec, procedure: ProcedureSpec, known: Evidence
) -> str:
    """Keys, beside those of the question's experiment, in which the runs differ; "" for none."""
    comparison = known.comparisons.get(role)
    if comparison is None or comparison.config is None:
        return ""
    experiment = question.experiment
    varied = (*experiment.config, *experiment.where_set) if experiment is not None else ()
    keys = [key for name in varied if (key := known.run.key_of(name)) is not None]
    free = (*keys, *procedure.may_differ)
    strange = [
        row.key
        for row in comparison.config
        if row.key.rpartition(".")[2] not in SEEDS
        and not any(_inside(row.key, name) or _inside(name, row.key) for name in free)
    ]
    return ", ".join(strange[:3])


def _does_not_differ(
    role: str, question: QuestionSpec, procedure: ProcedureSpec, known: Evidence
) -> str:
    """The keys that the experiment changes, where the runs are alike in all of them; "" else."""
    comparison, experiment = known.comparisons.get(role), question.experiment
    if comparison is None or comparison.config is None or experiment is None:
        return ""
    told = [
        known.run.key_of(key) or key
        for key, change in experiment.config.items()
        if not isinstance(change, Append | Planned)
        and not any(_inside(key, free) for free in procedure.may_differ)
    ]
    keys = {*told, *experiment.where_set}
    changed = any(
        _inside(row.key, k) or _inside(k, row.key) for row in comparison.config for k in keys
    )
    return "" if changed else ", ".join(told[:3])


def _inside(key: str, section: str) -> bool:
    return key == section or key.startswith(f"{section}.")


def _by_comparison(spec: ComparisonSpec, known: Evidence) -> tuple[Answer, str]:
    """yes: better, by the verdict; no: better by less than what matters, whatever the noise."""
    comparison = known.comparisons[spec.role]
    metric = next((m for m in comparison.metrics if m.metric == spec.series), None)
    # Where all rewards of this run are alike, their range is that of the runs beside it.
    ranges = (scaled(spec.by, spec.times, of) for of in (known.run, *known.run.others[spec.role]))
    matters = next((found for found in ranges if found is not None), None)
    if matters is None and metric is not None and metric.verdict == "same":
        return "no", f"{spec.series} is the same in both"
    if matters is None:
        return "open", f"{spec.times} is not known, so that no difference can be said to matter"
    gain = BETTER[spec.series] * (1 if spec.better == "this" else -1)
    if metric is None:
        few = _by_few(spec.series, known.run, known.run.others[spec.role])
        if few is None:
            reasons = dict(comparison.left_out)
            return "open", reasons.get(spec.series, f"{spec.series} was not compared")
        found, mine, other = few
        stands = found.low > 0.0 if gain > 0 else found.high < 0.0
    else:
        found, mine, other = metric.level.difference, metric.level.mine, metric.level.other
        stands = metric.level.verdict == ("better" if spec.better == "this" else "worse")
    unit = known.run.catalog.unit(spec.series)
    text = (
        f"{spec.series} at the end {format_value(mine, unit)} against "
        f"{format_value(other, unit)}: {signed(found.value, unit)} "
        f"({signed(found.low, unit)} to {signed(found.high, unit)}), "
        f"where {format_value(matters, unit)} would matter"
    )
    if not comparison.knows_seeds:
        text += "; one run a side, a spread of seeds is assumed"
    if max(gain * found.low, gain * found.high) <= matters:
        return "no", text
    return ("yes" if stands else "open"), text


def _by_few(
    name: str, run: RunTables, others: Sequence[RunTables]
) -> tuple[Estimate, float, float] | None:
    """The difference where the others have too few values for curves, as one evaluation is."""
    found = [run.series(name), *(other.series(name) for other in others)]
    curves = [finite(s.steps, s.values).values for s in found if not isinstance(s, Absent)]
    if len(curves) < len(found) or len(curves[0]) < FEW:
        return None
    end = curves[0][-max(FEW_END, len(curves[0]) // END) :]
    theirs = np.concatenate(curves[1:])
    if not len(theirs):
        return None
    own = curves[0]
    pair = few_difference(end, theirs, difference_sigma(own), len(own), CONFIDENCE)
    places = np.arange(float(len(own)))
    # The model before training has no seeds that could have made it another one.
    spread = assumed_spread(name, "level", places, own[None])
    difference = with_spread(pair, spread, FREEDOM, CONFIDENCE)
    return difference, float(end.mean()), float(theirs.mean())


def scaled(size: float, times: str | None, run: RunTables) -> float | None:
    """The size times that fact of the run; None where the fact is not known or not positive."""
    if times is None:
        return size
    fact = run.fact(times)
    return size * fact[0] if fact is not None and fact[0] > 0.0 else None


def _by_conditions(way: Way, known: Evidence) -> tuple[Answer, str]:
    """The answer on which all runs of the role agree."""
    role = way.spec.role
    runs = (known.run,) if role is None else known.run.others[role]
    answers = [_one(way, known.asked[role, place]) for place in range(len(runs))]
    said = {answer for answer, _ in answers}
    parts = [
        text if role is None else f"{of.manifest.run}: {text}"
        for of, (_, text) in zip(runs, answers, strict=True)
    ]
    return (said.pop() if len(said) == 1 else "open"), "; ".join(parts)


def _one(way: Way, asked: Asked) -> tuple[Answer, str]:
    if way.only_if is not None:
        first = way.only_if.evaluate(asked.__getitem__)
        if first.state != "holds":
            return "open", _said(first)
    yes = way.yes.evaluate(asked.__getitem__) if way.yes is not None else None
    no = way.no.evaluate(asked.__getitem__) if way.no is not None else None
    if yes is not None and yes.state == "holds":
        return "yes", _said(yes)
    if no is not None and no.state == "holds":
        return "no", _said(no)
    if yes is not None and yes.state == "not" and way.spec.no == OTHERWISE:
        return "no", _said(yes)
    return "open", _said(yes or no or Outcome("unknown"))


def _said(outcome: Outcome) -> str:
    if outcome.state == "unknown":
        return outcome.reason
    if outcome.state == "not" and outcome.margin:
        return outcome.margin
    told = (
        e.text if e.text.startswith(e.metric) else f"{e.metric}: {e.text}"
        for e in outcome.evidence[:SHOWN]
    )
    return "; ".join(told)
