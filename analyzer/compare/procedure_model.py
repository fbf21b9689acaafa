"""What a procedure says: questions with their answers, the conclusion, experiments that decide."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from analyzer.findings.model import ConfigChange

Answer = Literal["yes", "no", "open"]
State = Literal["yes", "no", "open", "not-reached"]
ProofKind = Literal["condition", "comparison", "finding"]


@dataclass(frozen=True, slots=True)
class Proof:
    """What one piece of evidence says to a question; `answer` is open where it does not tell."""

    kind: ProofKind
    role: str | None  # of the run that it was read from or compared with; None: this run alone
    runs: tuple[str, ...]  # names of the runs in that role
    answer: Answer
    text: str  # measured, or why nothing can be told


@dataclass(frozen=True, slots=True)
class Branch:
    """Where an answer leads: to a conclusion, to the next question, to both, or to neither."""

    answer: Answer
    conclusion: str | None  # id
    ask: str | None  # id of the next question
    taken: bool


@dataclass(frozen=True, slots=True)
class Question:
    """A question of a procedure, as this run answers it."""

    id: str
    ask: str
    why: str  # which variable it isolates
    state: State
    reason: str  # of the answer, or of its being open
    proofs: tuple[Proof, ...]  # in the order tried; the last is the one that answered, if any did
    branches: tuple[Branch, ...]  # yes, no, and open where the procedure goes on without an answer

    @property
    def on_path(self) -> bool:
        """Was it asked?"""
        return self.state != "not-reached"


@dataclass(frozen=True, slots=True)
class Conclusion:
    """An end of a procedure. `variable` is the cause that it names; "": it only excludes."""

    id: str
    variable: str
    text: str


@dataclass(frozen=True, slots=True)
class Power:
    """How many steps an experiment needs, from this run's own noise.

    One run a side, where that is enough; else so many seeds of each, as long as this run.
    """

    series: str
    unit: str
    effect: float  # the difference that matters, in `unit`
    sigma: float  # of this run's noise from step to step, in `unit`
    rho: float  # its memory, of an AR(1)
    seed_spread: float  # standard deviation assumed of the last level between seeds, in `unit`
    steps: int | None  # None: the difference is too small to be told from noise and seeds
    seeds: int  # a side
    power: float
    confidence: float  # after allowing for all measures that are compared


@dataclass(frozen=True, slots=True)
class Cost:
    """What an experiment costs, from this run's own step times."""

    steps: int  # of each run
    runs: int  # of the experiment, and further seeds of this run
    step_s: float  # seconds of a step of the experiment
    hours: float
    gpu_hours: float | None  # None: the number of GPUs is not known
    assumptions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Experiment:
    """The run that would answer an open question."""

    procedure: str
    question: str
    do: str
    role: str  # to give it by: --against ROLE=RUN
    changes: tuple[ConfigChange, ...]  # by this framework's own keys
    left_out: tuple[tuple[str, str], ...]  # AReaL's keys that cannot be given here, and why
    yaml: str  # the changes, ready to paste; "" where there are none
    command: str  # the same as arguments of the command line; "" where its form is not known
    power: Power | None  # None where no number of steps is to be worked out
    cost: Cost | None  # None: this run has no step times
    outcomes: tuple[tuple[Answer, str], ...]  # what each answer would mean
    bits: float  # expected information on the cause; [0, 1]
    bits_per_gpu_hour: float | None  # per hour where the GPUs are not known
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Procedure:
    """A procedure that applies to this run, followed as far as the evidence goes."""

    id: str
    title: str
    because: tuple[str, ...]  # rules that fired
    questions: tuple[Question, ...]  # as written; the first is the root of the tree
    path: tuple[str, ...]  # ids of the questions asked, in order
    conclusions: tuple[Conclusion, ...]  # all that it can come to
    concluded: str | None  # id of the last one on the path
    experiments: tuple[Experiment, ...]  # for the open questions, most information first
    instead_of_remedies: tuple[str, ...] = ()  # rules whose remedies are its steps

    @property
    def conclusion(self) -> Conclusion | None:
        """What the path ended at, if at anything."""
        return next((c for c in self.conclusions if c.id == self.concluded), None)

    @property
    def reason(self) -> str:
        """The evidence that led to the conclusion; "" where there is none."""
        for question in self.questions:
            if any(b.taken and b.conclusion == self.concluded for b in question.branches):
                return question.reason if self.concluded is not None else ""
        return ""

    @property
    def open(self) -> tuple[Question, ...]:
        """The questions that were asked and not answered."""
        return tuple(question for question in self.questions if question.state == "open")


@dataclass(frozen=True, slots=True)
class Cause:
    """A variable that a procedure found to be the cause, what to do, and the evidence."""

    variable: str
    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class Decision:
    """What the procedures about one finding come to."""

    causes: tuple[Cause, ...]  # none: the cause is open
    excluded: tuple[Conclusion, ...]  # ends that name no cause
    experiments: tuple[Experiment, ...]  # of all their open questions, most information first
    is_remedy: bool  # it stands in the place of the finding's remedies
