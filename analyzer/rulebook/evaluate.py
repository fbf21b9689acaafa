"""Rules against a run: every check ends as fired, clear, not-checked or error."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace

from analyzer.errors import AnalyzerError, Location, RuleError, UsageError
from analyzer.findings.model import (
    ChartLine,
    CheckState,
    Coverage,
    Evidence,
    Finding,
    Judgement,
    Onset,
    Remedy,
    State,
    Trajectory,
)
from analyzer.findings.ordering import Relations, relate, verdict_of
from analyzer.rulebook.conditions.base import Condition
from analyzer.rulebook.context import RunView
from analyzer.rulebook.dialect import spoken
from analyzer.rulebook.load import Band, Rule, Rulebook
from analyzer.rulebook.model import ChartSpec, LimitLine
from analyzer.rulebook.narrative import Teller, Unfilled, movement
from analyzer.rulebook.outcome import Outcome, unknown
from analyzer.rulebook.remedies import judge_remedy
from analyzer.rulebook.tree import build_tree
from analyzer.statistics.fdr import survivors
from analyzer.strict_yaml import Document
from analyzer.tables.catalog import Catalog
from analyzer.tables.evidence import Absent, Series

FALSE_DISCOVERY_RATE = 0.01

WORDS = {
    "en": {
        "step": "step {}",
        "steps": "steps {}",
        "not set": "not set",
        "between sentences": " ",
    },
    "zh": {"step": "第 {} 步", "steps": "第 {} 步", "not set": "未设置", "between sentences": ""},
}


@dataclass(frozen=True)
class Judge:
    """Judges one run with a rulebook."""

    rulebook: Rulebook
    catalog: Catalog
    run: RunView
    run_id: str
    language: str = "en"

    def judgement(self, has_series: bool) -> Judgement:
        """The findings and the state of every check."""
        outcomes = self._all_outcomes()
        findings, checks = [], []
        for rule in self.rulebook.rules:
            state, finding = self._conclude(rule, outcomes)
            checks.append(state)
            if finding is not None:
                findings.append(finding)
        relations = {
            r.id: Relations(r.spec.suppresses, r.spec.withdraws) for r in self.rulebook.rules
        }
        ordered = relate(findings, relations, self.run.first_step)
        judged = has_series and any(c.state in ("fired", "clear") for c in checks)
        return Judgement(
            verdict_of(ordered, judged),
            coverage(checks),
            ordered,
            tuple(checks),
            self.rulebook.sha256,
        )

    # --- conditions -----------------------------------------------------------------------

    def _all_outcomes(self) -> dict[Condition, Outcome]:
        """Every condition of every rule judged once, false discoveries controlled over the run."""
        outcomes: dict[Condition, Outcome] = {}
        for rule in self.rulebook.rules:
            for band in rule.bands:
                for condition in band.tree.conditions():
                    if condition not in outcomes:
                        outcomes[condition] = self._ask(condition)
        return control_false_discoveries(outcomes)

    def _ask(self, condition: Condition) -> Outcome:
        return ask(condition, self.run)

    # --- one rule -------------------------------------------------------------------------

    def _conclude(
        self, rule: Rule, outcomes: Mapping[Condition, Outcome]
    ) -> tuple[CheckState, Finding | None]:
        spec = rule.spec
        title = self._texts(rule)[0]
        if spec.status == "deprecated":
            reason = (
                f"deprecated; replaced by {spec.replaced_by}" if spec.replaced_by else "deprecated"
            )
            return CheckState(spec.id, title, rule.topic, "not-checked", reason), None
        if rule.disabled:
            reason = f"disabled: {rule.disabled}"
            return CheckState(spec.id, title, rule.topic, "not-checked", reason), None
        missing = [self.run.series(name) for name in spec.needs]
        reasons = [series.reason for series in missing if isinstance(series, Absent)]
        if reasons:
            return CheckState(spec.id, title, rule.topic, "not-checked", "; ".join(reasons)), None
        results = [(band, band.tree.evaluate(outcomes.__getitem__)) for band in rule.bands]
        holding = [(band, outcome) for band, outcome in results if outcome.state == "holds"]
        if holding:
            finding = self._finding(rule, holding, outcomes)
            return CheckState(spec.id, title, rule.topic, "fired", finding.headline), finding
        outcome = results[0][1]
        if outcome.state == "unknown":
            state: State = "error" if outcome.reason.startswith("error: ") else "not-checked"
            return CheckState(spec.id, title, rule.topic, state, outcome.reason), None
        return CheckState(
            spec.id, title, rule.topic, "clear", "", outcome.margin, outcome.nearness
        ), None

    def _finding(
        self,
        rule: Rule,
        holding: Sequence[tuple[Band, Outcome]],
        outcomes: Mapping[Condition, Outcome],
    ) -> Finding:
        # The mildest band that holds says since when; the gravest says how bad it is.
        mild, (grave_band, grave) = holding[0][1], holding[-1]
        spec = rule.spec
        end = max((last for _, last in mild.windows), default=None)
        teller = self._teller(grave_band, outcomes, mild.onset, end)
        title, headline, summary, why, false_positives = self._texts(rule)
        series = self._drawn(spec.charts)
        said = [text for caveat in spec.caveats if (text := self._spoken(caveat))]
        caveats = dict.fromkeys(
            [*said, *(c for s in self._evidence_series(grave.evidence) for c in s.caveats)]
        )
        return Finding(
            id=spec.id,
            rule=spec.id,
            rule_version=spec.version,
            topic=rule.topic,
            severity=grave_band.severity,
            confidence=round(min(grave.confidence, spec.confidence), 3),
            title=title,
            headline=_headline(teller, headline, title),
            summary=teller.sentences(summary),
            why=" ".join(why.split()),
            onset=mild.onset,
            end=end,
            windows=mild.windows,
            evidence=grave.evidence,
            movements=tuple(m for s in series if (m := movement(s, mild.onset)) is not None),
            caveats=tuple(caveats),
            caused_by=(),
            suppressed=None,
            remedies=self._remedies(rule, teller),
            trajectories=self._trajectories(rule, mild.windows),
            parameters=grave_band.parameters,
            charts=self._charts(rule, grave_band, grave.evidence),
            false_positives=" ".join(false_positives.split()),
            runbook=rule.runbook,
            references=spec.references,
            rule_text=without_translations(rule.text),
            fingerprint=fingerprint(self.run_id, spec.id, grave.evidence),
        )

    def _texts(self, rule: Rule) -> tuple[str, str, tuple[str, ...], str, str]:
        spec = rule.spec
        title, headline, summary = spec.title, spec.headline, spec.summary
        why, false_positives = spec.why, spec.false_positives
        if self.language == "zh" and (t := spec.translations.get("zh")):
            title, headline, summary, why = t.title, t.headline, t.summary, t.why
            false_positives = t.false_positives or false_positives
        sentences = tuple(said for text in summary if (said := self._spoken(text)))
        return (
            self._spoken(title),
            self._spoken(headline),
            sentences,
            self._spoken(why),
            self._spoken(false_positives),
        )

    def _spoken(self, text: str) -> str:
        return spoken(text, self.run.framework).strip()

    def _teller(
        self,
        band: Band,
        outcomes: Mapping[Condition, Outcome],
        onset: Onset | None,
        end: int | None,
    ) -> Teller:
        labelled = {c.label: c for c in band.tree.conditions() if c.label}
        return Teller(
            self.run,
            onset,
            end,
            band.parameters,
            {label: outcomes[c] for label, c in labelled.items()},
            labelled,
            WORDS.get(self.language, WORDS["en"]),
        )

    def _evidence_series(self, evidence: Sequence[Evidence]) -> list[Series]:
        names = dict.fromkeys(name.strip() for e in evidence for name in e.metric.split(","))
        known = [n for n in names if n in self.catalog.metrics or n in self.catalog.derived]
        return [s for n in known if isinstance(s := self.run.series(n), Series)]

    def _remedies(self, rule: Rule, teller: Teller) -> tuple[Remedy, ...]:
        translation = rule.spec.translations.get("zh") if self.language == "zh" else None
        remedies = []
        for i, spec in enumerate(rule.spec.remedies):
            text = spec.do
            if translation and i < len(translation.remedies):
                text = translation.remedies[i]
            if spec.only_if is not None and not self._holds(rule, spec.only_if):
                continue
            text = self._spoken(text)
            if not text:
                continue  # a remedy of another framework
            try:
                do = teller.sentence(text)
            except Unfilled:
                continue
            why = self._spoken(spec.why)
            blocked = spec.unless is not None and self._holds(rule, spec.unless)
            remedies.append(
                judge_remedy(spec, do, why, self.run, self.catalog.config_keys, blocked)
            )
        return tuple(remedies)

    def _holds(self, rule: Rule, condition: dict[str, object]) -> bool:
        document = Document(rule.path, rule.text, condition)
        tree = build_tree(document, (), condition, rule.bands[0].values)
        return tree is not None and tree.evaluate(self._ask).state == "holds"

    def _trajectories(
        self, rule: Rule, windows: Sequence[tuple[int, int]]
    ) -> tuple[Trajectory, ...]:
        """Sampled responses from where the rule holds, or from anywhere where that has no steps."""
        wanted = rule.spec.trajectories
        if wanted is None:
            return ()
        span = (windows[0][0], windows[-1][1]) if windows else None
        try:
            found = self.run.responses(wanted.where, wanted.order, wanted.one_per, span)
        except UsageError as cause:
            raise RuleError(cause.message, at=Location(rule.path)) from cause
        return tuple(Trajectory(**asdict(response)) for response in found)

    # --- charts ---------------------------------------------------------------------------

    def _drawn(self, charts: Sequence[ChartSpec]) -> list[Series]:
        found = [self.run.series(chart.series) for chart in charts]
        return [series for series in found if isinstance(series, Series)]

    def _charts(
        self, rule: Rule, band: Band, evidence: Sequence[Evidence]
    ) -> tuple[ChartLine, ...]:
        judged = {name.strip() for e in evidence for name in e.metric.split(",")}
        lines = []
        for chart in rule.spec.charts:
            if isinstance(self.run.series(chart.series), Absent):
                continue
            limits = tuple(
                (limit.label, value)
                for limit in chart.limits
                if (value := self._limit(limit, band)) is not None
            )
            shown = chart.series in judged
            lines.append(ChartLine(chart.series, "evidence" if shown else "consequence", limits))
        return tuple(lines)

    def _limit(self, limit: LimitLine, band: Band) -> float | None:
        if limit.fact is not None:
            fact = self.run.fact(limit.fact)
            return fact[0] if fact else None
        if limit.param is not None:
            values = [p.value for p in band.parameters if p.name == limit.param]
            return float(values[0]) if values else None
        return limit.value


def ask(condition: Condition, run: RunView) -> Outcome:
    """The condition's answer; unknown, with the reason, where it cannot be made."""
    try:
        return condition.judge(run)
    except AnalyzerError as cause:
        return unknown(f"error: {cause}")
    except Exception as cause:  # a fault of one condition must not look like "clear"
        return unknown(f"error: {type(cause).__name__}: {cause}")


def control_false_discoveries(outcomes: Mapping[Condition, Outcome]) -> dict[Condition, Outcome]:
    """`holds` becomes `not` where a p-value does not survive Benjamini–Hochberg over the run."""
    tested = [c for c, outcome in outcomes.items() if outcome.p_value is not None]
    p_values = [p for c in tested if (p := outcomes[c].p_value) is not None]
    alive = survivors(p_values, FALSE_DISCOVERY_RATE)
    controlled = dict(outcomes)
    for condition, survives in zip(tested, alive, strict=True):
        outcome = outcomes[condition]
        if outcome.state == "holds" and not survives:
            margin = f"p = {outcome.p_value:.2g}, not below the false-discovery limit of this run"
            controlled[condition] = replace(outcome, state="not", margin=margin)
    return controlled


def coverage(checks: Sequence[CheckState]) -> Coverage:
    """How many checks ended how."""
    states = [check.state for check in checks]
    return Coverage(
        len(states),
        states.count("fired"),
        states.count("clear"),
        states.count("not-checked"),
        states.count("error"),
    )


def fingerprint(run_id: str, rule_id: str, evidence: Sequence[Evidence]) -> str:
    """The same for the same finding of the same run, also after a re-read or in a longer log."""
    metric = evidence[0].metric if evidence else ""
    return hashlib.sha256(f"{run_id}\0{rule_id}\0{metric}".encode()).hexdigest()[:16]


def without_translations(text: str) -> str:
    """A rule's YAML up to its translations, which are its last key and change no judgement."""
    return text.partition("\ntranslations:")[0].rstrip() + "\n"


def _headline(teller: Teller, headline: str, title: str) -> str:
    try:
        return teller.sentence(headline)
    except Unfilled:
        return title
