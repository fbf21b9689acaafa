"""The form of rules/metrics/*.yaml: names and their meaning, derived series, facts of a run."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

NAME = r"^[a-z][a-z0-9_]*$"
Bound = float | None


class Strict(BaseModel):
    """Refuses unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class Defect(Strict):
    """A known fault in what a framework logs under a name."""

    id: str
    text: str
    fixed: date | None = Field(
        default=None, description="day of the framework's commit that mended it"
    )
    only_if: dict[str, Any] = Field(
        default_factory=dict, description="configuration key → value (or {match: regex})"
    )
    references: tuple[str, ...] = ()


class Spelling(Strict):
    """A name as logged whose values are made equal: offset + scale · value."""

    name: str
    scale: float = 1
    offset: float = 0


Logged = tuple[str | Spelling, ...]


class Metric(Strict):
    """A canonical name for something that a framework logs."""

    name: Annotated[str, Field(pattern=NAME)]
    meaning: str
    unit: str
    range: tuple[Bound, Bound] = (None, None)
    logged: Logged = Field(default=(), description="by the framework that the file is of")
    expressions: tuple[str, ...] = Field(
        default=(), description="over other series, where a framework does not log it"
    )
    defects: tuple[Defect, ...] = ()


class Names(Strict):
    """What a framework calls a series that another file describes."""

    logged: Logged = Field(min_length=1)
    defects: tuple[Defect, ...] = ()


class Build(Strict):
    """Names that only builds since a day write, so that their presence dates the build."""

    since: date
    logged: tuple[str, ...]
    reason: str


class MetricFile(Strict):
    """rules/metrics/<framework>.yaml"""

    framework: str
    builds: tuple[Build, ...] = ()
    marks: tuple[str, ...] = Field(
        default=(), description="names that only this framework logs, by which it is known"
    )
    first_step: int = Field(default=0, description="what the framework calls its first step")
    ignored: tuple[str, ...] = Field(
        default=(), description="names that are no series of the catalog"
    )
    roles: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    metrics: tuple[Metric, ...] = ()
    names: dict[str, Names | Logged | str] = Field(
        default_factory=dict, description="canonical name of another file → names as logged"
    )


class Derived(Strict):
    """A series computed from others."""

    name: Annotated[str, Field(pattern=NAME)]
    meaning: str
    unit: str
    range: tuple[Bound, Bound] = (None, None)
    expressions: tuple[str, ...] = ()
    sql: str | None = None
    logged_as: str | None = None


class DerivedFile(Strict):
    """rules/metrics/derived.yaml"""

    derived: tuple[Derived, ...]


class FactSource(Strict):
    """One way to learn a number of the run."""

    config: str | None = None
    match: str | None = None
    default: float | None = Field(
        default=None, description="what the framework takes where its configuration has no such key"
    )
    product: tuple[str, ...] | None = None
    series: str | None = None
    reduce: Literal["min", "max", "median", "early", "last"] | None = None
    round: bool = False
    manifest: Literal["total_steps", "steps_per_epoch", "progress", "attempts", "steps"] | None = (
        None
    )
    expression: str | None = None
    because: str = Field(default="", description="what an expression rests on, in words")
    frameworks: tuple[str, ...] = Field(
        default=(), description="only for runs of these; any: where the logs do not tell"
    )


class Fact(Strict):
    """A number of the run and the ways to learn it, best first."""

    name: Annotated[str, Field(pattern=NAME)]
    meaning: str
    unit: str
    ways: tuple[FactSource, ...] = Field(alias="from", min_length=1)


class FactFile(Strict):
    """rules/metrics/facts.yaml"""

    facts: tuple[Fact, ...]
