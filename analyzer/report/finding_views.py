"""Findings as the page tells them: order, links between cause and consequence, evidence."""

from __future__ import annotations

from collections.abc import Sequence

from analyzer.findings.model import Evidence, Finding, Judgement, Movement
from analyzer.findings.numbers import format_value
from analyzer.report.charts import ChartView
from analyzer.report.facts import Desk
from analyzer.report.order import CONFIGURATION, anchor, by_cause
from analyzer.report.page import (
    ConsequenceRow,
    EvidenceRow,
    FindingView,
    Line,
    RemedyView,
    SetAsideRow,
)
from analyzer.report.panels import finding_chart
from analyzer.report.remedies import already_set, to_do
from analyzer.report.replay_view import log_is_wrong, replay_view
from analyzer.report.replay_what_if import supported
from analyzer.report.show import format_parameter, steps_text, windows_text
from analyzer.report.trajectories import trajectory_views
from analyzer.report.words import Words


class FindingWriter:
    """Writes the findings of one run, each chart once."""

    def __init__(self, judgement: Judgement, desk: Desk) -> None:
        self._judgement = judgement
        self._desk = desk
        self._counting = [f for f in judgement.findings if f.counts]
        ordered = by_cause(self._counting)
        self._run = [f for f in ordered if f.topic != CONFIGURATION]
        self._config = [f for f in ordered if f.topic == CONFIGURATION]
        self._numbers = {f.id: n for n, f in enumerate([*self._run, *self._config], 1)}
        self._first: Finding | None = None  # the one that page one tells
        self._told = 0  # remedies of it that page one tells
        self._drawn: dict[tuple[object, ...], str] = {}  # picture → where it is

    def tell_first(self, finding: Finding, remedies: int, *, drawn: bool) -> None:
        """Page one tells this finding with so many of its remedies, and has its whole chart
        where `drawn`: they are not told again.
        """
        self._first, self._told = finding, remedies
        if drawn:
            self._drawn[_picture(finding)] = self._desk.words("chart.first_page")

    def remedies(self, finding: Finding) -> tuple[RemedyView, ...]:
        """What is still to be done, with what a replay says for it."""
        replays, words = self._desk.replays, self._desk.words
        support = supported(finding, replays, words) if replays is not None else {}
        return to_do(finding.remedies, words, support)

    def findings(self) -> tuple[FindingView, ...]:
        """Those that count, each cause followed by its consequences; configuration apart."""
        return tuple(self._view(f) for f in self._run)

    def configuration(self) -> tuple[FindingView, ...]:
        """Those that count and rest on the configuration alone."""
        return tuple(self._view(f) for f in self._config)

    def set_aside(self) -> tuple[SetAsideRow, ...]:
        """Those that do not count, by what and why."""
        rows = []
        for finding in self._judgement.findings:
            if (by := finding.suppressed) is not None:
                evidence = self._desk.words("list.semicolon").join(
                    self._desk.words.phrase(e.text) for e in finding.evidence
                )
                until = self._desk.words("until", date=by.until) if by.until else ""
                rows.append(
                    SetAsideRow(finding.rule, finding.headline, by.by, by.reason, until, evidence)
                )
        return tuple(rows)

    def line(self, finding: Finding) -> Line:
        """A pointer to the finding."""
        wrong = log_is_wrong(finding, self._desk.replays)
        label = self._desk.words("replay.first.also" if wrong else f"severity.{finding.severity}")
        text = finding.headline
        if finding.onset is not None:
            text += f" ({self._desk.words('from_step', step=f'{finding.onset.step:,}')})"
        return Line(anchor(finding), label, text)

    def _view(self, finding: Finding) -> FindingView:
        words, wrong = self._desk.words, log_is_wrong(finding, self._desk.replays)
        elsewhere = self._drawn.get(_picture(finding), "")
        place = words("chart.elsewhere", number=self._numbers[finding.id])
        first = finding is self._first
        remedies = self.remedies(finding)
        told = self._told if first else 0
        return FindingView(
            number=self._numbers[finding.id],
            anchor=anchor(finding),
            rule=finding.rule,
            severity="log-wrong" if wrong else finding.severity,
            severity_label=words("replay.first.also" if wrong else f"severity.{finding.severity}"),
            title=finding.title,
            headline=finding.headline,
            summary=finding.summary,
            why=finding.why,
            span=self._span(finding),
            causes=tuple(self._cause(f) for f in self._counting if f.id in finding.caused_by),
            evidence=tuple(evidence_row(e, words) for e in finding.evidence),
            chart=None if elsewhere else self._chart(finding, place),
            chart_elsewhere=elsewhere,
            trajectories=trajectory_views(finding, self._desk.source, words),
            consequences=self._consequences(finding),
            caveats=finding.caveats,
            told_first=first,
            remedies=remedies[told:],
            remedies_from=told + 1,
            # A note is about the log itself, and so are its remedies.
            remedies_note=words("replay.first.remedies")
            if wrong and finding.severity != "info"
            else "",
            already=already_set(finding.remedies, words),
            replay=replay_view(finding, self._desk.replays, words),
            false_positives=finding.false_positives,
            rule_line=self._rule_line(finding),
            references=finding.references,
            runbook_anchor=f"runbook-{finding.rule}" if finding.runbook.strip() else "",
            rule_anchor=f"rule-{finding.rule}" if finding.rule_text.strip() else "",
        )

    def _chart(self, finding: Finding, place: str) -> ChartView | None:
        chart = finding_chart(finding, self._desk)
        if chart is not None:
            self._drawn[_picture(finding)] = place
        return chart

    def _span(self, finding: Finding) -> str:
        words = self._desk.words
        parts = []
        if finding.onset is not None:
            parts.append(words("from_step", step=f"{finding.onset.step:,}"))
            if finding.onset.low != finding.onset.high:
                onset = (finding.onset.low, finding.onset.high)
                parts.append(words("fact.interval", steps=steps_text(onset)))
        if finding.windows:
            parts.append(words("finding.held", steps=windows_text(finding.windows)))
        parts.append(
            words("finding.confidence", share=format_value(finding.confidence, "fraction"))
        )
        return words("list.semicolon").join(parts)

    def _cause(self, finding: Finding) -> Line:
        return Line(anchor(finding), str(self._numbers[finding.id]), finding.title)

    def _consequences(self, cause: Finding) -> tuple[ConsequenceRow, ...]:
        return tuple(
            ConsequenceRow(
                anchor(finding),
                finding.title,
                f"{finding.onset.step:,}" if finding.onset else "",
                movements_text(finding.movements, self._desk.words) or finding.headline,
            )
            for finding in self._counting
            if cause.id in finding.caused_by
        )

    def _rule_line(self, finding: Finding) -> str:
        words = self._desk.words
        parameters = words("list.semicolon").join(
            f"{p.name} {format_parameter(p.value, p.unit)} ({p.source.partition(';')[0]})"
            for p in finding.parameters
        )
        key = "finding.rule_parameters" if parameters else "finding.rule"
        return words(key, rule=finding.rule, version=finding.rule_version, parameters=parameters)


def evidence_row(evidence: Evidence, words: Words) -> EvidenceRow:
    """A measurement as a table row."""
    return EvidenceRow(
        words.get(f"condition.{evidence.condition}", evidence.condition),
        words.series(evidence.metric) if evidence.condition not in ("config", "log") else "",
        evidence.logged_as or evidence.metric,
        words.phrase(evidence.text),
        words.phrase(evidence.needed),
        steps_text(evidence.window),
    )


def movements_text(movements: Sequence[Movement], words: Words) -> str:
    """What series did, in one line."""
    return words("list.semicolon").join(
        f"{words.series(m.metric)} {format_value(m.before, m.unit)} → "
        f"{format_value(m.after, m.unit)}"
        for m in movements
    )


def _picture(finding: Finding) -> tuple[object, ...]:
    return (tuple(line.series for line in finding.charts), finding.onset, finding.windows)
