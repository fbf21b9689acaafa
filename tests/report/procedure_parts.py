"""A procedure made by hand: three questions, the second passed over by a yes to the first."""

from __future__ import annotations

from dataclasses import replace

from analyzer.compare.procedure_model import (
    Branch,
    Conclusion,
    Cost,
    Experiment,
    Power,
    Procedure,
    Proof,
    Question,
)
from analyzer.findings.model import ConfigChange

ENDS = (
    Conclusion("data", "the training data", "Look at the training data."),
    Conclusion("other", "", "It is something else. Look on."),
)
EXPERIMENT = Experiment(
    procedure="why",
    question="second",
    do="Train on the test set",
    role="testset",
    changes=(ConfigChange("train_dataset.split", '"train"', '"test"'),),
    left_out=(),
    yaml='train_dataset:\n  split: "test"',
    command="++train_dataset.split=test",
    power=Power("task_reward", "reward", 0.05, 0.03, 0.2, 0.01, 300, 1, 0.8, 0.99),
    cost=Cost(300, 1, 60.0, 5.0, 40.0, ("a step takes as long",)),
    outcomes=(("yes", "It is the data."), ("no", "It is not.")),
    bits=1.0,
    bits_per_gpu_hour=0.025,
    notes=("a note",),
)


def procedure() -> Procedure:
    """The first question answered no, the second open, the third not reached."""
    proof = Proof("condition", None, (), "no", "it fell")
    return Procedure(
        id="why",
        title="Why is it so?",
        because=("reward-stagnation",),
        questions=(
            Question("first", "Did it rise?", "w", "no", "it fell", (proof,), (
                Branch("yes", None, "third", False), Branch("no", None, "second", True))),
            Question("second", "Does it rise elsewhere?", "w", "open", "no run was given", (), (
                Branch("yes", "data", "third", False), Branch("no", "other", None, False))),
            Question("third", "Are <all> groups equal?", "w", "not-reached", "", (), (
                Branch("yes", "data", None, False), Branch("no", "other", None, False))),
        ),
        path=("first", "second"),
        conclusions=ENDS,
        concluded=None,
        experiments=(EXPERIMENT,),
    )  # fmt: skip


def decided() -> Procedure:
    """The same with the second answered yes, which names the data."""
    found = procedure()
    second = replace(
        found.questions[1],
        state="yes",
        branches=(Branch("yes", "data", "third", True), found.questions[1].branches[1]),
    )
    questions = (found.questions[0], second, found.questions[2])
    return replace(found, questions=questions, concluded="data", experiments=())
