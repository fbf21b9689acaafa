"""The page with runs and findings by week."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from analyzer.findings.model import Verdict
from analyzer.fleet.site.figures import columns
from analyzer.fleet.site.model import SiteRun
from analyzer.fleet.site.weeks import Weeks, weeks_of
from analyzer.fleet.site.wording import n

HEIGHT = 150  # px of the bars of all runs
STEP = 10  # px of a week in a rule's bars
TREND_RULES = 30


@dataclass(frozen=True, slots=True)
class Bar:
    """The bars of one verdict, standing on those of the verdicts before."""

    verdict: Verdict
    d: str


@dataclass(frozen=True)
class TrendsPage:
    """Findings by week."""

    weeks: Weeks
    summary: str
    bars: tuple[Bar, ...]
    most: int
    labels: tuple[tuple[int, str, str], ...]  # x, anchor, text below the bars
    rules: tuple[tuple[str, str, str, int], ...]  # rule, bars, the highest week, runs
    span: str
    width: int
    bar_width: int
    least: int  # px: below it the drawing scrolls
    height: int = HEIGHT


def trends_page(runs: Sequence[SiteRun]) -> TrendsPage:
    """The page with runs and findings by week."""
    weeks = weeks_of(runs)
    count = len(weeks.mondays)
    wide = max(8, 820 // max(1, count))
    bars = tuple(_stacked(weeks, wide))
    rules = tuple(
        (trend.rule, columns(trend.runs, 16, STEP, 2), _highest(trend.runs, weeks), trend.total)
        for trend in weeks.rules[:TREND_RULES]
    )
    return TrendsPage(
        weeks,
        _weeks_sentence(weeks, len(runs)),
        bars,
        max(weeks.runs, default=0),
        tuple(_week_labels(weeks, wide)),
        rules,
        f"{weeks.mondays[0]} to {weeks.mondays[-1]}" if count else "",
        wide * count,
        STEP * max(count, 12),
        min(620, wide * count),
    )


def _weeks_sentence(weeks: Weeks, runs: int) -> str:
    shown = sum(weeks.runs)
    said = f"{n(shown, 'run')} in {n(len(weeks.mondays), 'week')}, by the day they began (UTC)."
    if weeks.earlier:
        said += f" {n(weeks.earlier, 'earlier run')} not shown."
    if weeks.undated:
        said += f" {n(weeks.undated, 'run')} of {runs:,} without a known time."
    return said


def _stacked(weeks: Weeks, wide: int) -> list[Bar]:
    most = max(weeks.runs, default=1) or 1
    base = [0] * len(weeks.mondays)
    bars = []
    for verdict, counts in weeks.verdicts.items():
        parts = []
        for i, count in enumerate(counts):
            low, high = (HEIGHT - round(HEIGHT * v / most) for v in (base[i], base[i] + count))
            base[i] += count
            if count:
                parts.append(f"M{i * wide} {low}V{high}h{wide - 2}V{low}z")
        if parts:
            bars.append(Bar(verdict, "".join(parts)))
    return bars


def _week_labels(weeks: Weeks, wide: int) -> list[tuple[int, str, str]]:
    """The first, the middle and the last week."""
    count = len(weeks.mondays)
    places = {0: "start", count // 2: "middle", count - 1: "end"} if count > 2 else {0: "start"}
    shift = {"start": 0, "middle": wide // 2, "end": wide}
    return [
        (i * wide + shift[anchor], anchor, f"week from {weeks.mondays[i]}")
        for i, anchor in places.items()
        if count
    ]


def _highest(counts: Sequence[int], weeks: Weeks) -> str:
    most = max(counts)
    return f"{most} ({weeks.mondays[counts.index(most)]})"
