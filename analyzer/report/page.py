"""What the page says, part by part: plain text and SVG, nothing left to compute."""

from __future__ import annotations

from dataclasses import dataclass

from analyzer.report.capped import Capped
from analyzer.report.charts import ChartView
from analyzer.report.replay_page import ReplaySection, ReplayView
from analyzer.report.seen import SeenSection
from analyzer.report.trajectories import TrajectoryView


@dataclass(frozen=True, slots=True)
class FactBox:
    """One of the facts under the headline."""

    label: str
    value: str
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RemedyView:
    """Something to do, with the lines to paste ("" where it has none)."""

    do: str
    why: str
    note: str
    config: str


@dataclass(frozen=True, slots=True)
class EvidenceRow:
    """One condition's measurement."""

    condition: str
    metric: str
    logged_as: str
    measured: str
    needed: str
    steps: str


@dataclass(frozen=True, slots=True)
class ConsequenceRow:
    """A finding that follows from another."""

    anchor: str
    title: str
    onset: str
    what: str


@dataclass(frozen=True, slots=True)
class Line:
    """One line that points to a place further down."""

    anchor: str
    label: str
    text: str


@dataclass(frozen=True, slots=True)
class FindingView:
    """A finding as the page tells it."""

    number: int
    anchor: str
    rule: str
    severity: str
    severity_label: str
    title: str
    headline: str
    summary: str
    why: str
    span: str
    causes: tuple[Line, ...]
    evidence: tuple[EvidenceRow, ...]
    chart: ChartView | None
    chart_elsewhere: str
    trajectories: tuple[TrajectoryView, ...]
    consequences: tuple[ConsequenceRow, ...]
    caveats: tuple[str, ...]
    told_first: bool  # headline, summary and the first remedies stand on page one
    remedies: tuple[RemedyView, ...]  # those not on page one
    remedies_from: int  # the number of the first of them
    remedies_note: str  # what to know before them
    already: tuple[RemedyView, ...]
    replay: ReplayView | None
    false_positives: str
    rule_line: str
    references: tuple[str, ...]
    runbook_anchor: str
    rule_anchor: str


@dataclass(frozen=True, slots=True)
class SetAsideRow:
    """A finding that does not count, by what and why."""

    rule: str
    headline: str
    by: str
    reason: str
    until: str
    evidence: str


@dataclass(frozen=True, slots=True)
class CheckRow:
    """A check that did not fire."""

    rule: str
    title: str
    note: str


@dataclass(frozen=True, slots=True)
class ReasonGroup:
    """Checks that could not be made, for one reason."""

    reason: str
    rules: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TimelineRow:
    """Something that happened. `weight`: 3 attempts and onsets, 2 errors, 1 warnings, 0 others."""

    time: str
    step: str
    label: str
    what: str
    place: str
    weight: int


@dataclass(frozen=True, slots=True)
class ExperimentView:
    """A run that would decide an open question."""

    do: str
    asks: str  # the question
    config: str  # lines to paste; "" where there are none
    command: str  # the same as arguments; "" where the form is not known
    facts: tuple[str, ...]  # how to give it, steps, hours, what it assumes
    outcomes: tuple[str, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ProcedureView:
    """A procedure, followed as far as the evidence goes."""

    anchor: str
    title: str
    lead: str  # the variable that is the cause, or that the question is open
    text: str
    tree: ChartView
    experiments: tuple[ExperimentView, ...]


@dataclass(frozen=True, slots=True)
class QualityRow:
    """A data-quality note."""

    kind: str
    detail: str
    steps: str
    source: str


@dataclass(frozen=True, slots=True)
class ConfigDifference:
    """A configuration key that differs between two runs; JSON text, "" where it is not set."""

    key: str
    here: str
    there: str


@dataclass(frozen=True, slots=True)
class LevelDifference:
    """A metric's level in two runs, and what is to be said of the difference.

    `measure`: "" for the level, else another that tells them apart where the level does not.
    """

    metric: str
    measure: str
    here: str
    there: str
    difference: str
    seeds: str  # the spread assumed; "" where seeds are known
    verdict: str
    told: bool


@dataclass(frozen=True, slots=True)
class OnsetRow:
    """A finding of either run, and since when."""

    title: str
    here: str
    there: str


@dataclass(frozen=True, slots=True)
class ComparisonView:
    """Another run, or several seeds, beside this one. `role`: sync, testset, baseline …"""

    role: str
    run: str
    lead: tuple[str, ...]  # what is told apart and what is not, in sentences
    seeds: str  # what the intervals know of seeds
    charts: tuple[ChartView, ...]
    levels: Capped[LevelDifference]
    assumed: bool  # a spread of seeds is assumed
    config: Capped[ConfigDifference]
    config_note: str  # said instead where there is no difference to list
    onsets: Capped[OnsetRow]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SourceRow:
    """A file that was read."""

    path: str
    format: str
    size: str
    rows: str
    digits: str
    sha256: str


@dataclass(frozen=True, slots=True)
class ParameterRow:
    """A parameter as it took effect."""

    rule: str
    name: str
    value: str
    source: str


@dataclass(frozen=True, slots=True)
class RuleText:
    """A rule as read, or its runbook (as HTML)."""

    anchor: str
    rule: str
    text: str


@dataclass(frozen=True, slots=True)
class FirstPage:
    """What stands on page one."""

    accent: str  # a severity, "ok" or "cannot-judge"
    kicker: str
    headline: str
    summary: str
    decision: str  # which variable is the cause, or which experiment tells it; "" for neither
    also: Capped[Line]
    facts: tuple[FactBox, ...]
    chart: ChartView | None
    remedies: tuple[RemedyView, ...]
    remedies_note: str
    closest: Capped[CheckRow]
    events: Capped[TimelineRow]
    data: tuple[str, ...]
    to_know: Capped[str]
    not_checked: Capped[str]
    alone: bool  # it fits on one page, so that the findings begin on the next


@dataclass(frozen=True, slots=True)
class Appendix:
    """What an auditor needs to compute it again."""

    sources: Capped[SourceRow]
    skipped: Capped[QualityRow]
    parameters: Capped[ParameterRow]
    rules: tuple[RuleText, ...]
    runbooks: tuple[RuleText, ...]
    methods: tuple[str, ...]
    versions: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class PostmortemView:
    """The whole document."""

    run: str
    verdict: str
    ended: str | None  # ISO 8601, UTC: the date of the document
    footer: str
    first: FirstPage
    findings: tuple[FindingView, ...]
    configuration: tuple[FindingView, ...]
    set_aside: tuple[SetAsideRow, ...]
    replay: ReplaySection | None  # None: no replay was asked for
    seen: SeenSection | None  # None: no history was given
    procedures: tuple[ProcedureView, ...]
    timeline: Capped[TimelineRow]
    broken: tuple[CheckRow, ...]
    clear: Capped[CheckRow]
    not_checked: tuple[ReasonGroup, ...]
    quality: Capped[QualityRow]
    comparisons: tuple[ComparisonView, ...]
    appendix: Appendix
    coverage: str
