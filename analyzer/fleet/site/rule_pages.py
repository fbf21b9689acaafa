"""The list of rules, and one page a rule."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from analyzer.fleet.site.figures import columns
from analyzer.fleet.site.model import SiteFinding, SiteRule, SiteRun
from analyzer.fleet.site.wording import WORDS, amount, listed, n, percent

BINS = 20  # of a run, where onsets are counted
BESIDE = 12  # rules found in the same runs, at most


@dataclass(frozen=True, slots=True)
class RuleLine:
    """A rule in the list of rules."""

    rule: SiteRule
    fired: int
    share: str
    not_checked: int


@dataclass(frozen=True)
class RulesPage:
    """All rules."""

    summary: str
    lines: tuple[RuleLine, ...]


def rules_page(rules: Sequence[SiteRule], runs: Sequence[SiteRun]) -> RulesPage:
    """The page with all rules, the most frequent first."""
    lines = sorted(
        (_rule_line(rule, runs) for rule in rules), key=lambda line: (-line.fired, line.rule.id)
    )
    fired = sum(line.fired > 0 for line in lines)
    judged = sum(run.row.error is None for run in runs)
    summary = (
        f"{fired} of {n(len(lines), 'rule')} have a finding in {n(judged, 'run')} that could be "
        "judged. The share is of the runs where the rule could be checked."
    )
    return RulesPage(summary, tuple(lines))


def _rule_line(rule: SiteRule, runs: Sequence[SiteRun]) -> RuleLine:
    fired, checked, not_checked = _checks(rule.id, runs)
    return RuleLine(rule, fired, percent(fired, checked) if fired and checked else "–", not_checked)


def _checks(rule: str, runs: Sequence[SiteRun]) -> tuple[int, int, int]:
    """In how many runs it has a finding that counts, could be checked, and could not."""
    fired = sum(run.finding(rule) is not None for run in runs)
    checked = sum(run.states.get(rule) in ("fired", "clear") for run in runs)
    not_checked = sum(run.states.get(rule) in ("not-checked", "error") for run in runs)
    return fired, checked, not_checked


@dataclass(frozen=True)
class RulePage:
    """One rule with the runs that have it."""

    rule: SiteRule
    facts: tuple[tuple[str, str, str], ...]  # label, value, note
    runs: tuple[tuple[SiteRun, SiteFinding], ...]  # the latest first
    beside: tuple[tuple[str, int, str], ...]  # rule, runs with both, their share
    bins: tuple[int, ...]  # onsets by twentieth of the run; () where none is known
    onsets: str
    alt: str
    bars: str
    marks: tuple[tuple[int, int, int], ...]  # x, y, count above each bar


def rule_page(rule: SiteRule, runs: Sequence[SiteRun]) -> RulePage:
    """The page of one rule."""
    found = [(run, finding) for run in runs if (finding := run.finding(rule.id)) is not None]
    found.sort(key=lambda pair: (pair[0].row.started or "", pair[0].row.path), reverse=True)
    places = [finding.place for _, finding in found if finding.place is not None]
    bins = _bins(places)
    most = max(bins, default=0)
    return RulePage(
        rule,
        _rule_facts(rule, runs, found),
        tuple(found),
        _beside(rule.id, found),
        bins,
        f"Onsets of {n(len(places), 'run')} by how much of the run was over.",
        "; ".join(
            f"{100 * i // BINS} to {100 * (i + 1) // BINS} % of the run: {count}"
            for i, count in enumerate(bins)
            if count
        ),
        _moved_down(columns(bins, 80, 30, 3)),
        tuple(
            (30 * i + 13, 96 - max(1, round(count / most * 80)), count)
            for i, count in enumerate(bins)
            if count
        ),
    )


def _moved_down(d: str) -> str:
    """The bars with their feet at 100, so that the counts have room above."""
    return d.replace(" 80v-", " 100v-")


def _bins(places: Sequence[float]) -> tuple[int, ...]:
    if not places:
        return ()
    counts = Counter(min(BINS - 1, int(place * BINS)) for place in places)
    return tuple(counts[i] for i in range(BINS))


def _rule_facts(
    rule: SiteRule, runs: Sequence[SiteRun], found: Sequence[tuple[SiteRun, SiteFinding]]
) -> tuple[tuple[str, str, str], ...]:
    fired, checked, not_checked = _checks(rule.id, runs)
    graves = Counter(finding.severity for _, finding in found)
    kinds = [n(graves[s], WORDS[s].lower()) for s in ("error", "warning", "info") if graves[s]]
    places = [finding.place for _, finding in found if finding.place is not None]
    days = sorted(run.row.started[:10] for run, _ in found if run.row.started)
    lost = [run.gpu_hours for run, _ in found if run.gpu_hours is not None]
    return (
        ("Runs with it", f"{fired:,}", listed(kinds)),
        (
            "Of those checked",
            percent(fired, checked) if checked else "–",
            f"{checked:,} checked, {not_checked:,} not",
        ),
        (
            "Typical onset",
            f"{100 * median(places):.0f}\u202f%" if places else "–",
            "of the run, median" if places else "no onset known",
        ),
        (
            "First and last",
            days[0] if days else "–",
            (f"to {days[-1]}" if days else "no time known")
            + (f"; {amount(sum(lost))} GPU-hours in all" if lost else ""),
        ),
    )


def _beside(
    rule: str, found: Sequence[tuple[SiteRun, SiteFinding]]
) -> tuple[tuple[str, int, str], ...]:
    counts = Counter(f.rule for run, _ in found for f in run.findings if f.rule != rule)
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:BESIDE]
    return tuple((other, count, percent(count, len(found))) for other, count in ranked)
