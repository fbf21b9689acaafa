"""Procedures as the page tells them."""

from __future__ import annotations

from dataclasses import replace

from procedure_parts import ENDS, EXPERIMENT, decided, procedure

from analyzer.report.procedure import procedure_view
from analyzer.report.words import load_words

WORDS = load_words("en")
NARROW = "\u202f"


def test_an_open_one_counts_its_questions() -> None:
    view = procedure_view(procedure(), WORDS)
    assert (view.title, view.lead) == ("Why is it so?", "Not decided: 1 question is open.")


def test_a_conclusion_names_its_variable() -> None:
    view = procedure_view(decided(), WORDS)
    assert view.lead == "What it comes down to: the training data."
    assert view.text == "Look at the training data."
    excluded = replace(decided(), concluded=ENDS[1].id)
    assert procedure_view(excluded, WORDS).lead == ""
    assert procedure_view(excluded, WORDS).text == ENDS[1].text


def test_an_experiment_with_its_steps_its_hours_and_its_outcomes() -> None:
    (view,) = procedure_view(procedure(), WORDS).experiments
    assert view.asks == "Does it rise elsewhere?"
    assert view.command == "++train_dataset.split=test"
    give, power, cost = view.facts
    assert "--against testset=RUN" in give
    assert power.startswith("300 steps tell a difference of 0.050 in “Training reward”")
    assert "80%" in power and "0.010 is assumed between seeds" in power
    assert cost == (
        f"It takes 5.0{NARROW}h: 300 steps of 60{NARROW}s, 40 GPU-h; assumed: a step takes as long."
    )
    assert view.outcomes == ("yes: It is the data.", "no: It is not.")
    assert view.notes == ("a note",)


def test_several_seeds_and_a_step_of_seconds() -> None:
    assert EXPERIMENT.power is not None and EXPERIMENT.cost is not None
    changed = replace(
        EXPERIMENT,
        power=replace(EXPERIMENT.power, seeds=3),
        cost=replace(EXPERIMENT.cost, runs=5, gpu_hours=None, assumptions=()),
    )
    view = procedure_view(replace(procedure(), experiments=(changed,)), WORDS).experiments[0]
    assert view.facts[1].startswith("3 seeds a side of 300 steps")
    assert view.facts[2].startswith(f"It takes 5.0{NARROW}h: 5 runs of 300 steps, those of the ")
    short = replace(EXPERIMENT, power=None, cost=replace(EXPERIMENT.cost, steps=1, hours=0.001))
    view = procedure_view(replace(procedure(), experiments=(short,)), WORDS).experiments[0]
    assert view.facts[1].startswith("It takes less than a minute: 1 step of")
