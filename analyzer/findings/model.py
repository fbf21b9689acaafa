"""Findings, the states of checks, and the verdict: what the rulebook says of a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from analyzer.findings.replayed import Replays
from analyzer.findings.seen import SeenBefore

Severity = Literal["info", "warning", "error"]
Verdict = Literal["error", "warning", "info", "ok", "cannot-judge"]
State = Literal["fired", "clear", "not-checked", "error"]
SEVERITIES: tuple[Severity, ...] = ("info", "warning", "error")


@dataclass(frozen=True, slots=True)
class Onset:
    """The step where a condition began to hold, with the interval it may lie in."""

    step: int
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class Evidence:
    """One condition's measurement."""

    condition: str  # level, trend, together …
    metric: str  # canonical or derived name; a config key; "log"
    logged_as: str
    unit: str
    value: float | None
    limit: float | None
    window: tuple[int, int] | None  # first and last step, inclusive
    text: str  # measured, in words: "+152 % (Theil–Sen), p < 0.001"
    needed: str = ""  # needed, in words: "rises by at least 10 %"


@dataclass(frozen=True, slots=True)
class ConfigChange:
    """A configuration key that a remedy sets. Values are JSON text."""

    key: str
    now: str | None  # None: this run's configuration does not have the key
    to: str


@dataclass(frozen=True, slots=True)
class Remedy:
    """Something to do about a finding."""

    do: str
    status: Literal["apply", "already", "unknown"]
    changes: tuple[ConfigChange, ...] = ()
    why: str = ""


@dataclass(frozen=True, slots=True)
class Suppression:
    """Why a finding does not count for the verdict."""

    by: str  # rule id or suppression file
    reason: str
    until: str | None = None


@dataclass(frozen=True, slots=True)
class Parameter:
    """A rule's parameter as it took effect."""

    name: str
    value: float | int | str | bool
    unit: str
    source: str  # "default; <from>", "--set", "band error"


@dataclass(frozen=True, slots=True)
class Movement:
    """What a series did from before the onset to now; for the sentences and the five facts."""

    metric: str
    logged_as: str
    unit: str
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class ChartLine:
    """A series to draw for a finding, with its limits."""

    series: str
    role: Literal["evidence", "moves-with", "consequence"]
    limits: tuple[tuple[str, float], ...] = ()  # (label, value)


@dataclass(frozen=True, slots=True)
class Trajectory:
    """A sampled response that shows what a finding means; its text stays where it is."""

    path: str  # of the dump file, relative to the run
    offset: int  # of its record there: bytes, row or index
    step: int | None
    task_id: str | None
    sample_idx: int | None
    prompt_hash: str
    tokens: int | None  # of the response
    chars: int
    reward: float | None
    truncated: bool | None


@dataclass(frozen=True, slots=True)
class Finding:
    """A rule that fired."""

    id: str  # the rule id; one finding a rule and run
    rule: str
    rule_version: int
    topic: str
    severity: Severity
    confidence: float
    title: str  # what the rule is about
    headline: str  # what happened in this run
    summary: str  # two or three sentences with this run's numbers
    why: str
    onset: Onset | None
    end: int | None  # last step where it held
    windows: tuple[tuple[int, int], ...]
    evidence: tuple[Evidence, ...]
    movements: tuple[Movement, ...]
    caveats: tuple[str, ...]
    caused_by: tuple[str, ...]
    suppressed: Suppression | None
    remedies: tuple[Remedy, ...]
    parameters: tuple[Parameter, ...]
    charts: tuple[ChartLine, ...]
    false_positives: str
    runbook: str  # Markdown text
    references: tuple[str, ...]
    rule_text: str  # the YAML as read
    fingerprint: str
    trajectories: tuple[Trajectory, ...] = ()
    known: bool | None = None  # in the baseline that was given; None: none was

    @property
    def counts(self) -> bool:
        """Does it bear on the verdict?"""
        return self.suppressed is None


@dataclass(frozen=True, slots=True)
class CheckState:
    """How a rule ended, and why; `margin` says how close a clear one came."""

    rule: str
    title: str
    topic: str
    state: State
    reason: str
    margin: str = ""
    nearness: float | None = None  # of a clear one: 0 at its usual level, 1 at the limit


@dataclass(frozen=True, slots=True)
class Coverage:
    """How many checks ended how."""

    rules: int
    fired: int
    clear: int
    not_checked: int
    errors: int


@dataclass(frozen=True, slots=True)
class Judgement:
    """All that the rules say of one run."""

    verdict: Verdict
    coverage: Coverage
    findings: tuple[Finding, ...]  # causes first, then by severity and onset
    checks: tuple[CheckState, ...]
    rules_sha256: str

    def finding(self, rule: str) -> Finding | None:
        """The finding of that rule, if it fired."""
        return next((f for f in self.findings if f.rule == rule), None)


@dataclass(frozen=True, slots=True)
class DataNote:
    """A data-quality note."""

    kind: str
    detail: str
    steps: tuple[int, int] | None
    source: str


@dataclass(frozen=True, slots=True)
class SourceSummary:
    """A file that was read."""

    path: str
    format: str
    bytes: int
    sha256: str
    rows: int
    notes: int


@dataclass(frozen=True, slots=True)
class RunSummary:
    """The run that was judged."""

    id: str
    sources: tuple[SourceSummary, ...]
    framework: str | None
    framework_version: str | None
    first_step: int | None
    last_step: int | None
    step_count: int
    attempts: int
    started: str | None
    ended: str | None


@dataclass(frozen=True, slots=True)
class Verdicts:
    """A judgement with the run and the tool it belongs to: what the exports write."""

    tool_version: str
    run: RunSummary
    judgement: Judgement
    data_quality: tuple[DataNote, ...]
    replays: Replays | None = None  # None: no replay was asked for
    seen: SeenBefore | None = None  # None: no history was given
