"""Procedures followed through a run's evidence: answers, the path, the conclusion, what is next."""

from __future__ import annotations

from collections.abc import Sequence

from analyzer.compare.experiments import ordered, plan
from analyzer.compare.model import Comparison
from analyzer.compare.procedure_files import LoadedProcedure
from analyzer.compare.procedure_model import (
    Branch,
    Cause,
    Conclusion,
    Decision,
    Procedure,
    Proof,
    Question,
    State,
)
from analyzer.compare.procedure_spec import (
    BranchSpec,
    ConclusionSpec,
    ProcedureSpec,
    QuestionSpec,
)
from analyzer.compare.proofs import Evidence, gather, prove
from analyzer.findings.model import Judgement
from analyzer.tables.run import RunTables


def follow(
    procedures: Sequence[LoadedProcedure],
    run: RunTables,
    judgement: Judgement,
    comparisons: Sequence[Comparison],
    language: str = "en",
) -> tuple[Procedure, ...]:
    """The procedures that apply to the run, those of the first findings first.

    `comparisons`: with the runs that stand beside it, one a role.
    """
    fired = [finding.rule for finding in judgement.findings if finding.counts]
    applying = [p for p in procedures if set(p.spec.applies_to) & set(fired)]
    applying.sort(
        key=lambda p: min(fired.index(rule) for rule in p.spec.applies_to if rule in fired)
    )
    known = gather(applying, run, judgement, comparisons)
    return tuple(_followed(p, spoken_in(p.spec, language), fired, known) for p in applying)


def decision(procedures: Sequence[Procedure], rule: str) -> Decision | None:
    """What the procedures about a finding come to; None where none of them says anything."""
    about = [procedure for procedure in procedures if rule in procedure.because]
    ends = [(p, found) for p in about if (found := p.conclusion) is not None]
    plans = ordered([experiment for procedure in about for experiment in procedure.experiments])
    if not ends and not plans:
        return None
    return Decision(
        tuple(Cause(end.variable, end.text, p.reason) for p, end in ends if end.variable),
        tuple(end for _, end in ends if not end.variable),
        plans,
        any(rule in procedure.instead_of_remedies for procedure in about),
    )


def _followed(
    procedure: LoadedProcedure, spec: ProcedureSpec, fired: Sequence[str], known: Evidence
) -> Procedure:
    asked: dict[str, Question] = {}
    concluded: str | None = None
    at: str | None = spec.questions[0].id
    while at is not None:
        question = spec.question(at)
        asked[at] = _answered(question, procedure, spec, known)
        taken = _branch(question, asked[at].state)
        concluded = (taken.conclude if taken else None) or concluded
        at = taken.ask if taken else None
    onset = _onset([rule for rule in fired if rule in spec.applies_to], known.judgement)
    still = [q for q in spec.questions if q.id in asked and asked[q.id].state == "open"]
    experiments = [
        plan(spec, question, question.experiment, known.run, onset, still[0])
        for question in still
        if question.experiment is not None
    ]
    return Procedure(
        spec.id,
        spec.title,
        tuple(rule for rule in fired if rule in spec.applies_to),
        tuple(asked.get(q.id) or _shown(q, "not-reached", "", ()) for q in spec.questions),
        tuple(asked),
        tuple(Conclusion(name, c.variable, c.text) for name, c in spec.conclusions.items()),
        concluded,
        ordered(experiments),
        spec.instead_of_remedies,
    )


def _onset(rules: Sequence[str], judgement: Judgement) -> int | None:
    """The first step at which one of the findings began."""
    found = [judgement.finding(rule) for rule in rules]
    return min((f.onset.step for f in found if f is not None and f.onset is not None), default=None)


def _answered(
    question: QuestionSpec, procedure: LoadedProcedure, spec: ProcedureSpec, known: Evidence
) -> Question:
    """The answer of the first evidence that gives one."""
    proofs: list[Proof] = []
    for way in procedure.ways[question.id]:
        proofs.append(prove(way, question, spec, known))
        if proofs[-1].answer != "open":
            return _shown(question, proofs[-1].answer, proofs[-1].text, proofs)
    reasons = dict.fromkeys(proof.text for proof in proofs if proof.text)
    return _shown(question, "open", "; ".join(reasons), proofs)


def _branch(question: QuestionSpec, state: State) -> BranchSpec | None:
    return dict(question.branches()).get(state) if state != "not-reached" else None


def _shown(question: QuestionSpec, state: State, reason: str, proofs: Sequence[Proof]) -> Question:
    branches = tuple(
        Branch(answer, branch.conclude, branch.ask, answer == state)
        for answer, branch in question.branches()
    )
    return Question(question.id, question.ask, question.why, state, reason, tuple(proofs), branches)


def spoken_in(spec: ProcedureSpec, language: str) -> ProcedureSpec:
    """The procedure with its sentences in that language, where it has them."""
    texts = spec.translations.get("zh") if language == "zh" else None
    if texts is None:
        return spec
    questions = []
    for question in spec.questions:
        said = texts.questions[question.id]
        experiment = question.experiment
        if experiment is not None:
            own = {"do": said.do, "yes": said.yes, "no": said.no, "assumes": said.assumes}
            update = {name: text for name, text in own.items() if text}
            experiment = experiment.model_copy(update=update)
        told = {"ask": said.ask, "why": said.why, "experiment": experiment}
        questions.append(question.model_copy(update=told))
    conclusions = {
        name: ConclusionSpec(variable=c.variable, text=c.text)
        for name, c in texts.conclusions.items()
    }
    return spec.model_copy(
        update={"title": texts.title, "questions": tuple(questions), "conclusions": conclusions}
    )
