"""Procedures as JSON holds them (docs/contracts.md)."""

from __future__ import annotations

import json

from analyzer.compare.procedure_model import Cost, Experiment, Power, Procedure, Question
from analyzer.findings.numbers import number


def procedure_document(found: Procedure) -> dict[str, object]:
    """A procedure with its questions, conclusions and experiments."""
    return {
        "id": found.id,
        "title": found.title,
        "because": list(found.because),
        "path": list(found.path),
        "concluded": found.concluded,
        "questions": [_question(question) for question in found.questions],
        "conclusions": [
            {"id": end.id, "variable": end.variable or None, "text": end.text}
            for end in found.conclusions
        ],
        "experiments": [_experiment(experiment) for experiment in found.experiments],
    }


def _question(question: Question) -> dict[str, object]:
    return {
        "id": question.id,
        "ask": question.ask,
        "why": question.why,
        "state": question.state,
        "reason": question.reason,
        "evidence": [
            {
                "kind": proof.kind,
                "role": proof.role,
                "runs": list(proof.runs),
                "answer": proof.answer,
                "text": proof.text,
            }
            for proof in question.proofs
        ],
        "branches": [
            {
                "answer": branch.answer,
                "conclusion": branch.conclusion,
                "ask": branch.ask,
                "taken": branch.taken,
            }
            for branch in question.branches
        ],
    }


def _experiment(found: Experiment) -> dict[str, object]:
    return {
        "question": found.question,
        "do": found.do,
        "role": found.role,
        "config": {change.key: json.loads(change.to) for change in found.changes},
        "yaml": found.yaml,
        "command": found.command,
        "left_out": [{"key": key, "reason": reason} for key, reason in found.left_out],
        "power": found.power and _power(found.power),
        "cost": found.cost and _cost(found.cost),
        "outcomes": dict(found.outcomes),
        "bits": number(found.bits),
        "bits_per_gpu_hour": number(found.bits_per_gpu_hour),
        "notes": list(found.notes),
    }


def _power(power: Power) -> dict[str, object]:
    return {
        "series": power.series,
        "unit": power.unit,
        "effect": number(power.effect),
        "sigma": number(power.sigma),
        "rho": number(power.rho),
        "seed_spread": number(power.seed_spread),
        "steps": power.steps,
        "seeds": power.seeds,
        "power": power.power,
        "confidence": number(power.confidence),
    }


def _cost(cost: Cost) -> dict[str, object]:
    return {
        "steps": cost.steps,
        "runs": cost.runs,
        "step_s": number(cost.step_s),
        "hours": number(cost.hours),
        "gpu_hours": number(cost.gpu_hours),
        "assumptions": list(cost.assumptions),
    }
