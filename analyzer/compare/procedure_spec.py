"""The form of a procedure file: pydantic models, from which the JSON Schema is generated."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from analyzer.compare.procedure_model import Answer
from analyzer.rulebook.model import KEBAB, Change, Strict

Id = Annotated[str, Field(pattern=KEBAB)]
Known = Literal["yes", "no"]
OTHERWISE = "otherwise"


class ComparisonSpec(Strict):
    """The verdict on a series against the runs of a role; it must be one whose direction is good
    or bad."""

    role: Id = Field(alias="with")
    series: str
    better: Literal["this", "other"] = Field(
        description="yes where this side is better; no where it is better by less than `by`"
    )
    by: float = Field(gt=0, description="the difference that matters, in the series' unit")
    times: str | None = Field(default=None, description="a fact that `by` is multiplied with")


class FindingSpec(Strict):
    """What it answers that a rule fired, or was clear; where it says neither, nothing is told."""

    rule: Id
    fired: Known | None = None
    clear: Known | None = None


class EvidenceSpec(Strict):
    """One way to answer: a comparison, a finding, or conditions as in a rule."""

    compare: ComparisonSpec | None = None
    finding: FindingSpec | None = None
    role: Id | None = Field(
        default=None, alias="in", description="the conditions are asked of that run, not of this"
    )
    only_if: dict[str, Any] | None = Field(
        default=None, description="a condition; where it does not hold, yes and no are not asked"
    )
    yes: dict[str, Any] | None = Field(default=None, description="a condition; where it holds: yes")
    no: dict[str, Any] | Literal["otherwise"] | None = Field(
        default=None, description="a condition; or `otherwise`: no where `yes` is known not to hold"
    )

    @model_validator(mode="after")
    def _one_way(self) -> EvidenceSpec:
        conditions = self.yes is not None or self.no is not None
        if (self.compare is not None) + (self.finding is not None) + conditions != 1:
            raise ValueError("evidence is one of compare, finding, or yes and no")
        if (self.role is not None or self.only_if is not None) and not conditions:
            raise ValueError("`in` and `only_if` go with yes and no")
        if self.no == OTHERWISE and self.yes is None:
            raise ValueError("`no: otherwise` needs a condition below yes")
        return self


class BranchSpec(Strict):
    """Where an answer leads; to nothing where it has neither."""

    ask: Id | None = None
    conclude: Id | None = None


class CopyOf(Strict):
    """The value of another key of the same configuration."""

    copy_of: str = Field(alias="copy")


class Append(Strict):
    """The present text with another behind it."""

    append: str


class Planned(Strict):
    """The number of steps that the experiment needs."""

    planned: Literal["steps"]


ExperimentChange = Change | CopyOf | Append | Planned


class EffectSpec(Strict):
    """The difference that the experiment must be able to show."""

    series: str
    size: float = Field(gt=0, description="in the series' unit")
    times: str | None = Field(default=None, description="a fact that `size` is multiplied with")


class ExperimentSpec(Strict):
    """The run that answers the question where nothing else does."""

    role: Id = Field(description="to give the run by: --against ROLE=RUN")
    do: str
    config: dict[str, ExperimentChange] = Field(
        default_factory=dict, description="AReaL's keys; other frameworks' names are looked up"
    )
    where_set: dict[str, ExperimentChange] = Field(
        default_factory=dict,
        description="keys of older versions: where this run sets one, these take the place",
    )
    effect: EffectSpec | None = None
    steps: int | None = Field(default=None, ge=1, description="a fixed number, without an effect")
    past_onset: int | None = Field(
        default=None, ge=1, description="as long as it took here to begin, and so many steps more"
    )
    step_time: float = Field(default=1.0, gt=0, description="times a step of this run")
    once: str | None = Field(default=None, description="a series of seconds that is spent once")
    assumes: tuple[str, ...] = Field(default=(), description="what the cost takes for granted")
    yes: str = Field(description="what the answer yes would mean")
    no: str = Field(description="what the answer no would mean")

    @model_validator(mode="after")
    def _one_length(self) -> ExperimentSpec:
        if sum(way is not None for way in (self.effect, self.steps, self.past_onset)) != 1:
            raise ValueError("an experiment has one of effect, steps, past_onset")
        return self


class QuestionSpec(Strict):
    """A question, the evidence for it in the order in which it is looked at, and what follows."""

    id: Id
    ask: str
    why: str = Field(description="which variable the question isolates")
    evidence: tuple[EvidenceSpec, ...] = Field(min_length=1)
    yes: BranchSpec
    no: BranchSpec
    open: BranchSpec | None = Field(
        default=None, description="where it goes on without an answer; left out: it stops"
    )
    experiment: ExperimentSpec | None = None

    def branches(self) -> tuple[tuple[Answer, BranchSpec], ...]:
        """Each answer that leads on, with where to."""
        found: list[tuple[Answer, BranchSpec]] = [("yes", self.yes), ("no", self.no)]
        return (*found, ("open", self.open)) if self.open is not None else tuple(found)


class ConclusionSpec(Strict):
    """An end of the procedure."""

    variable: str = Field(default="", description="the cause; empty where it only excludes one")
    text: str


class QuestionTranslation(Strict):
    """The sentences of a question in another language."""

    ask: str
    why: str
    do: str = ""
    assumes: tuple[str, ...] = ()
    yes: str = ""
    no: str = ""


class ProcedureTranslation(Strict):
    """The sentences of a procedure in another language."""

    title: str
    questions: dict[str, QuestionTranslation]
    conclusions: dict[str, ConclusionSpec]


class ProcedureSpec(Strict):
    """A procedure file as written."""

    id: Id
    version: Annotated[int, Field(ge=1)]
    title: str
    applies_to: tuple[Id, ...] = Field(min_length=1, description="rules; one of them must fire")
    instead_of_remedies: tuple[Id, ...] = Field(
        default=(), description="rules whose remedies are the steps of this procedure"
    )
    about: str = Field(description="where the procedure comes from and what it assumes")
    may_differ: tuple[str, ...] = Field(
        default=(),
        description="keys, or sections of them, in which a run of a role may differ and still "
        "isolate one variable; those of the experiment, names and seeds may anyway",
    )
    conclusions: dict[Id, ConclusionSpec] = Field(min_length=1)
    questions: tuple[QuestionSpec, ...] = Field(
        min_length=1, description="the first is asked first"
    )
    references: tuple[str, ...] = ()
    translations: dict[Literal["zh"], ProcedureTranslation] = Field(default_factory=dict)

    def question(self, id_: str) -> QuestionSpec:
        """The question of that id, which is one of its own."""
        return next(question for question in self.questions if question.id == id_)
