"""A rule's sentences with this run's numbers in the places of the placeholders."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analyzer.findings.model import Movement, Onset, Parameter
from analyzer.findings.numbers import format_value
from analyzer.rulebook.conditions.base import Condition
from analyzer.rulebook.context import RunView
from analyzer.rulebook.outcome import Outcome
from analyzer.tables.evidence import Absent, Series

PLACEHOLDER = re.compile(r"\{([A-Za-z_][\w.:-]*)\}")
LEVELS = ("start", "onset", "held", "end", "min", "max", "peak", "low")


class Unfilled(Exception):
    """A placeholder whose number this run does not have."""


@dataclass(frozen=True)
class Teller:
    """What the sentences of one finding may refer to."""

    run: RunView
    onset: Onset | None
    end: int | None
    parameters: Sequence[Parameter]
    outcomes: dict[str, Outcome]  # by the label of the condition
    conditions: dict[str, Condition]
    words: dict[str, str]  # patterns and words in the language of the report, see evaluate.WORDS

    def sentence(self, text: str) -> str:
        """The text with its placeholders filled. Raises Unfilled."""
        filled = PLACEHOLDER.sub(lambda match: self._value(match[1]), text.strip())
        return filled.replace("{{", "{").replace("}}", "}")

    def sentences(self, texts: Sequence[str]) -> str:
        """Those of the sentences that can be filled, as one paragraph."""
        filled = []
        for text in texts:
            try:
                filled.append(self.sentence(text))
            except Unfilled:
                continue
        return self.words["between sentences"].join(filled)

    def _value(self, name: str) -> str:
        kind, colon, rest = name.partition(":")
        if colon:
            return self._named(kind, rest)
        subject, _, part = name.partition(".")
        if subject in ("onset", "end"):
            return self._place(subject, part)
        if subject in self.outcomes:
            return self._measured(subject, part)
        return self._level(subject, part)

    def _named(self, kind: str, name: str) -> str:
        if kind == "config":
            value = self.run.config(name)
            if value is None and self.run.key_of(name) is None:
                raise Unfilled(name)
            if value is None:
                return self.words["not set"]
            return value.value if isinstance(value.value, str) else json.dumps(value.value)
        if kind == "fact":
            fact = self.run.fact(name)
            if fact is None:
                raise Unfilled(name)
            return f"{fact[0]:,.0f}" if fact[0] == round(fact[0]) else f"{fact[0]:.4g}"
        for parameter in self.parameters:
            if kind == "param" and parameter.name == name:
                return format_value(float(parameter.value), parameter.unit)
        raise Unfilled(name)

    def _place(self, subject: str, part: str) -> str:
        if self.onset is None:
            raise Unfilled(subject)
        if part == "interval":
            return self.words["steps"].format(f"{self.onset.low}–{self.onset.high}")
        step = self.onset.step if subject == "onset" else self.end
        if step is None:
            raise Unfilled(subject)
        return self.words["step"].format(step)

    def _measured(self, label: str, part: str) -> str:
        evidence = self.outcomes[label].evidence
        if not evidence:
            raise Unfilled(label)
        if part == "text":
            return evidence[0].text
        if evidence[0].value is None:
            raise Unfilled(label)
        return format_value(evidence[0].value, evidence[0].unit)

    def _level(self, name: str, part: str) -> str:
        series = self.run.series(name)
        if isinstance(series, Absent):
            raise Unfilled(name)
        value = level(series, part, self.onset, self.end)
        if value is None:
            raise Unfilled(name)
        return format_value(value, series.unit)


def level(
    series: Series, part: str, onset: Onset | None, held_until: int | None = None
) -> float | None:
    """A level of a series: medians over a twentieth of the run, extremes of a running median.

    start: the first tenth; onset: the rows before the onset; end: the last twentieth; held: the
    twentieth up to `held_until`, the last step where the finding held; min and max: extremes of
    single rows; peak and low: extremes of the running median.
    """
    finite = np.isfinite(series.values)
    steps, values = series.steps[finite], series.values[finite]
    if not len(values):
        return None
    width = max(3, len(values) // 20)
    if part == "start":
        return float(np.median(values[: max(width, len(values) // 10)]))
    if part == "onset":
        if onset is None:
            return None
        before = values[steps <= onset.step][-width:]
        return float(np.median(before)) if len(before) else float(values[0])
    if part in ("end", "held"):
        until = values if part == "end" or held_until is None else values[steps <= held_until]
        return float(np.median(until[-width:])) if len(until) else None
    if part in ("min", "max"):
        return float(values.min() if part == "min" else values.max())
    windows = np.lib.stride_tricks.sliding_window_view(values, min(width, len(values)))
    medians = np.median(windows, axis=1)
    return float(medians.max() if part == "peak" else medians.min())


def movement(series: Series, onset: Onset | None) -> Movement | None:
    """What the series did from its level at the onset (or its start) to its end."""
    before = level(series, "onset" if onset else "start", onset)
    after = level(series, "end", onset)
    if before is None or after is None:
        return None
    return Movement(series.name, series.logged_as, series.unit, before, after)
