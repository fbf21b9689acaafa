"""The form of a rule file: pydantic models, from which the JSON Schema is generated."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from analyzer.findings.model import Severity

KEBAB = r"^[a-z0-9]+(-[a-z0-9]+)*$"
Value = float | int | bool | str | None


class Strict(BaseModel):
    """Refuses unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class ParamSpec(Strict):
    """A number that a user may change."""

    default: float | int
    unit: str
    range: tuple[float | None, float | None] = (None, None)
    source: str = Field(alias="from", description="where the default comes from")


class Multiply(Strict):
    """A new value relative to the run's own."""

    multiply: float


class SetTo(Strict):
    """A fixed new value; `null` is a value."""

    set: Value | list[Value]


class Lower(Strict):
    """A lower bound for the key: applies while the value is above it."""

    at_most: float


class Raise(Strict):
    """An upper bound for the key: applies while the value is below it."""

    at_least: float


Change = Multiply | SetTo | Lower | Raise


class RemedySpec(Strict):
    """Something to do; the change is checked against the run's own configuration."""

    do: str
    config: dict[str, Change] = Field(default_factory=dict)
    unless: dict[str, Any] | None = Field(
        default=None,
        description="a condition; where it holds, the remedy is left out (already set)",
    )
    only_if: dict[str, Any] | None = Field(
        default=None, description="a condition; the remedy is listed only where it holds"
    )
    why: str = ""


class LimitLine(Strict):
    """A line drawn at a fixed value in a chart."""

    label: str
    value: float | None = None
    fact: str | None = Field(default=None, description="a fact of the run gives the value")
    param: str | None = Field(default=None, description="a parameter of the rule gives it")


class ChartSpec(Strict):
    """A series to draw with the finding, in this order."""

    series: str
    limits: tuple[LimitLine, ...] = ()


class ReplaySpec(Strict):
    """Which batches a replay should recompute."""

    series: str
    pick: Literal["worst", "first", "last"] = "worst"
    steps: int = Field(default=3, ge=1)


class TrajectorySpec(Strict):
    """Which sampled responses to show with the finding: up to five training samples."""

    where: str = Field(description="an SQL condition on the table `samples`")
    order: str = Field(description="an SQL order, the most telling first")
    one_per: Literal["prompt_hash", "completion_hash", "step"] = Field(
        default="prompt_hash", description="of those that share it only the first is shown"
    )


class Translation(Strict):
    """The sentences of a rule in another language; the same placeholders."""

    title: str
    headline: str
    summary: tuple[str, ...]
    why: str
    remedies: tuple[str, ...] = ()
    false_positives: str = ""


class RuleSpec(Strict):
    """A rule file as written. `when` is kept raw until parameters are known."""

    id: Annotated[str, Field(pattern=KEBAB)]
    version: Annotated[int, Field(ge=1)]
    status: Literal["experimental", "stable", "deprecated"] = "stable"
    replaced_by: str | None = None
    title: str
    headline: str = Field(description="what happened, for page one; may hold placeholders")
    summary: tuple[str, ...] = Field(
        min_length=1,
        description="sentences with placeholders; one whose number is not to be had is left out",
    )
    severity: Severity | None = None
    bands: dict[Severity, dict[str, float | int]] | None = Field(
        default=None, description="severity → parameter values; the highest that holds counts"
    )
    why: str
    confidence: float = Field(
        default=1.0, gt=0, le=1, description="how sure the reading is at most, when the rule fires"
    )
    needs: tuple[str, ...] = ()
    params: dict[str, ParamSpec] = Field(default_factory=dict)
    when: dict[str, Any]
    suppresses: tuple[str, ...] = Field(default=(), description="rules that are consequences")
    withdraws: tuple[str, ...] = Field(
        default=(), description="rules whose finding this one shows to be wrong"
    )
    remedies: tuple[RemedySpec, ...] = ()
    charts: tuple[ChartSpec, ...] = ()
    trajectories: TrajectorySpec | None = None
    replay: ReplaySpec | None = None
    caveats: tuple[str, ...] = ()
    false_positives: str
    runbook: str
    references: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    translations: dict[Literal["zh"], Translation] = Field(default_factory=dict)
