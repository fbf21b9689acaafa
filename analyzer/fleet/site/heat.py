"""The map of runs × rules: which findings come together, and in how many runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analyzer.findings.model import SEVERITIES, Severity
from analyzer.fleet.site.model import SiteRun
from analyzer.fleet.site.order import rule_order, run_order

ROW = 20  # px, of a rule
_WIDE, _NARROW, _ROOM = 18, 3, 1040  # px: a run's column at most and at least, and all of them
# How a cell is drawn: from the bottom of its row upwards, so that grey print tells them apart.
_TALL: dict[Severity, int] = {"error": 16, "warning": 9, "info": 3}
COMBINATIONS = 20  # of rules, listed below the map


@dataclass(frozen=True, slots=True)
class Combination:
    """Runs that have exactly these rules."""

    rules: tuple[str, ...]
    runs: int


@dataclass(frozen=True, slots=True)
class HeatMap:
    """The drawing, and what its cells are."""

    rules: tuple[tuple[str, int], ...]  # rows: rule and in how many runs
    runs: tuple[SiteRun, ...]  # columns
    column: int  # px
    paths: tuple[tuple[Severity, str], ...]  # the `d` of all cells of a severity
    combinations: tuple[Combination, ...]  # the most frequent
    further: int  # combinations that are not listed

    @property
    def width(self) -> int:
        """px"""
        return self.column * len(self.runs)

    @property
    def height(self) -> int:
        """px"""
        return ROW * len(self.rules)

    def cells(self) -> list[list[list[int | None]]]:
        """Of each run, in the order of the columns: row, grade and onset of each finding."""
        rows = {rule: i for i, (rule, _) in enumerate(self.rules)}
        return [
            [[rows[f.rule], SEVERITIES.index(f.severity), f.onset] for f in run.findings]
            for run in self.runs
        ]


def heat_map(runs: Sequence[SiteRun]) -> HeatMap:
    """The map of the runs that have a finding; likes stand together in both directions."""
    sick = sorted((run for run in runs if run.findings), key=lambda run: run.row.path)
    names = sorted({finding.rule for run in sick for finding in run.findings})
    grades = np.zeros((len(sick), len(names)), dtype=np.int64)
    place = {name: i for i, name in enumerate(names)}
    for i, run in enumerate(sick):
        for finding in run.findings:
            grades[i, place[finding.rule]] = 1 + SEVERITIES.index(finding.severity)
    rules = rule_order(grades > 0)
    order = run_order(grades[:, rules], [run.row.path for run in sick])
    drawn = grades[np.ix_(order, rules)] if sick else grades
    column = min(_WIDE, max(_NARROW, _ROOM // max(1, len(sick))))
    counts = (drawn > 0).sum(axis=0).tolist()
    found = Counter(tuple(names[r] for r in rules if grades[i, r]) for i in range(len(sick)))
    ranked = sorted(found.items(), key=lambda item: (-item[1], item[0]))
    return HeatMap(
        tuple((names[rule], count) for rule, count in zip(rules, counts, strict=True)),
        tuple(sick[i] for i in order),
        column,
        tuple((severity, _cells(drawn, severity, column)) for severity in SEVERITIES),
        tuple(Combination(*item) for item in ranked[:COMBINATIONS]),
        max(0, len(ranked) - COMBINATIONS),
    )


def _cells(drawn: np.ndarray, severity: Severity, column: int) -> str:
    tall = _TALL[severity]
    wide = column - 1 if column > _NARROW else column
    wanted = 1 + SEVERITIES.index(severity)
    return "".join(
        f"M{x * column} {(y + 1) * ROW - 2}v-{tall}h{wide}v{tall}z"
        for x, y in np.argwhere(drawn == wanted).tolist()
    )
