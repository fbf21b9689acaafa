"""Findings by the week in which their runs began."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from analyzer.findings.model import Verdict
from analyzer.fleet.site.model import SiteRun

WEEKS = 104  # at most; earlier ones are left out, and the page says so
VERDICTS: tuple[Verdict, ...] = ("error", "warning", "info", "ok", "cannot-judge")


@dataclass(frozen=True, slots=True)
class RuleTrend:
    """How many of each week's runs have a rule's finding."""

    rule: str
    runs: tuple[int, ...]

    @property
    def total(self) -> int:
        """In the weeks shown."""
        return sum(self.runs)


@dataclass(frozen=True, slots=True)
class Weeks:
    """Weeks from the first to the last that has a run, those without one too."""

    mondays: tuple[date, ...]
    verdicts: Mapping[Verdict, tuple[int, ...]]  # runs a week
    rules: tuple[RuleTrend, ...]  # the most frequent first
    undated: int  # runs whose start is not known
    earlier: int  # runs before the weeks shown

    @property
    def runs(self) -> tuple[int, ...]:
        """All runs a week."""
        return tuple(map(sum, zip(*self.verdicts.values(), strict=True)))


def weeks_of(runs: Sequence[SiteRun]) -> Weeks:
    """The runs by week, Monday to Sunday, UTC."""
    dated = [(_monday(run), run) for run in runs if run.started is not None]
    mondays = _mondays([monday for monday, _ in dated])
    shown = [(monday, run) for monday, run in dated if mondays and monday >= mondays[0]]
    place = {monday: i for i, monday in enumerate(mondays)}
    verdicts = {
        verdict: _counts([place[m] for m, run in shown if run.row.verdict == verdict], mondays)
        for verdict in VERDICTS
    }
    found = Counter(f.rule for _, run in shown for f in run.findings)
    rules = tuple(
        RuleTrend(rule, _counts([place[m] for m, run in shown if run.finding(rule)], mondays))
        for rule, _ in sorted(found.items(), key=lambda item: (-item[1], item[0]))
    )
    undated = len(runs) - len(dated)
    return Weeks(mondays, verdicts, rules, undated, len(dated) - len(shown))


def _monday(run: SiteRun) -> date:
    assert run.started is not None
    day = run.started.date()
    return day - timedelta(days=day.weekday())


def _mondays(found: Sequence[date]) -> tuple[date, ...]:
    if not found:
        return ()
    count = (max(found) - min(found)).days // 7 + 1
    first = max(found) - timedelta(weeks=min(count, WEEKS) - 1)
    return tuple(first + timedelta(weeks=i) for i in range(min(count, WEEKS)))


def _counts(places: Sequence[int], mondays: Sequence[date]) -> tuple[int, ...]:
    counts = Counter(places)
    return tuple(counts[i] for i in range(len(mondays)))
