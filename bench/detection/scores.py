"""From judged runs to the figures: found, missed and wrongly said, where and how surely."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean, median
from typing import Any

Run = Mapping[str, Any]
Figures = dict[str, Any]
GRAVE = ("warning", "error")
BINS = (0.0, 0.5, 0.8, 0.9, 0.95, 0.99)
NEAR = 0.05  # of the run's length


@dataclass
class Count:
    """Found, missed and wrongly said."""

    found: int = 0
    missed: int = 0
    false: int = 0

    @property
    def precision(self) -> float | None:
        """Of what was said, the share that is so; None where nothing was said."""
        said = self.found + self.false
        return self.found / said if said else None

    @property
    def recall(self) -> float | None:
        """Of what is so, the share that was said; None where nothing was to be said."""
        due = self.found + self.missed
        return self.found / due if due else None

    @property
    def f1(self) -> float:
        """Harmonic mean of the two; 1 where there was nothing to say and nothing was said."""
        all_of_it = 2 * self.found + self.missed + self.false
        return 2 * self.found / all_of_it if all_of_it else 1.0


@dataclass
class ByRule(Count):
    """A rule's counts, with the errors of its onsets in steps and as shares of the length."""

    steps_off: list[int] = field(default_factory=list)
    share_off: list[float] = field(default_factory=list)


def said(run: Run) -> set[str]:
    """The rules of a run's findings that count."""
    return {f["rule"] for f in run["findings"] if not f["suppressed"]}


def plainly(run: Run) -> set[str]:
    """What the plain thresholds say of it."""
    return set(run["plain"])


def of_run(run: Run, rules: set[str]) -> Count:
    """Requirements met and missed, and rules that are neither demanded nor allowed."""
    met = sum(bool(rules & set(each.split("|"))) for each in run["must"])
    return Count(met, len(run["must"]) - met, len(rules - set(run["may"])))


def summed(runs: Iterable[Run], says: Callable[[Run], set[str]]) -> Count:
    """The counts of several runs."""
    total = Count()
    for run in runs:
        one = of_run(run, says(run))
        total.found += one.found
        total.missed += one.missed
        total.false += one.false
    return total


def by_scenario(
    runs: Sequence[Run], says: Callable[[Run], set[str]] = said
) -> dict[str, dict[str, Count]]:
    """Strength → scenario → its counts, over its seeds; faults only."""
    found: dict[str, dict[str, Count]] = {}
    for strength in ("strong", "mild"):
        of_it = [run for run in runs if run["strength"] == strength]
        names = sorted({run["scenario"] for run in of_it})
        found[strength] = {
            name: summed([run for run in of_it if run["scenario"] == name], says) for name in names
        }
    return found


def macro(counts: Mapping[str, Count]) -> float | None:
    """Mean F1, every scenario or rule with the same weight."""
    return fmean(count.f1 for count in counts.values()) if counts else None


def by_rule(runs: Sequence[Run], says: Callable[[Run], set[str]] = said) -> dict[str, ByRule]:
    """Rule → its counts over all runs.

    Where one of several rules is demanded, each that fired has found it; where none did, the first
    of them has missed it.
    """
    found: dict[str, ByRule] = {}
    for run in runs:
        rules = says(run)
        for each in run["must"]:
            group = each.split("|")
            fired = [rule for rule in group if rule in rules]
            for rule in fired:
                found.setdefault(rule, ByRule()).found += 1
            if not fired:
                found.setdefault(group[0], ByRule()).missed += 1
        for rule in rules - set(run["may"]):
            found.setdefault(rule, ByRule()).false += 1
    return dict(sorted(found.items()))


def with_onsets(counts: dict[str, ByRule], runs: Sequence[Run]) -> dict[str, ByRule]:
    """The same with the errors of onsets, where the fault shows from a known step on."""
    for run in runs:
        if run["onset"] is None:
            continue
        due = {rule for each in run["must"] for rule in each.split("|")}
        for finding in run["findings"]:
            if (
                finding["rule"] in due
                and not finding["suppressed"]
                and finding["onset"] is not None
            ):
                off = abs(finding["onset"] - run["onset"])
                counts[finding["rule"]].steps_off.append(off)
                counts[finding["rule"]].share_off.append(off / run["steps"])
    return counts


def calibration(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """Findings by stated confidence: how many there are, and how many of them are true."""
    bins: list[dict[str, Any]] = []
    every = [
        (finding["confidence"], finding["rule"] in run["may"])
        for run in runs
        for finding in run["findings"]
        if not finding["suppressed"]
    ]
    for low, high in zip(BINS, (*BINS[1:], 1.01), strict=True):
        inside = [(sure, true) for sure, true in every if low <= sure < high]
        if inside:
            bins.append(
                {
                    "from": low,
                    "findings": len(inside),
                    "stated": round(fmean(sure for sure, _ in inside), 3),
                    "true": round(fmean(true for _, true in inside), 3),
                }
            )
    return bins


def false_alarms(runs: Sequence[Run]) -> Figures:
    """Findings at warning or above in healthy runs, and runs that have one."""
    healthy = [run for run in runs if run["strength"] == "off"]
    grave = [
        [f for f in run["findings"] if f["severity"] in GRAVE and not f["suppressed"]]
        for run in healthy
    ]
    count = sum(len(found) for found in grave)
    return {
        "healthy_runs": len(healthy),
        "alarms": count,
        "runs_with_one": sum(bool(found) for found in grave),
        "per_100": round(100 * count / len(healthy), 2) if healthy else None,
        "plain": sum(len(run["plain"]) for run in healthy),
        "plain_per_100": round(100 * sum(len(run["plain"]) for run in healthy) / len(healthy), 2)
        if healthy
        else None,
    }


def onsets(counts: Mapping[str, ByRule]) -> Figures:
    """How many onsets are near the true one, over all rules."""
    shares = [share for count in counts.values() for share in count.share_off]
    steps = [step for count in counts.values() for step in count.steps_off]
    return {
        "of": len(shares),
        "near": round(fmean(share <= NEAR for share in shares), 3) if shares else None,
        "median_steps": median(steps) if steps else None,
    }


def delays(runs: Sequence[Run]) -> dict[str, Figures]:
    """Scenario and strength → steps from the fault to the first telling step, where both are known.

    A fault that builds up is counted from the step where it is put in.
    """
    found: dict[str, list[int]] = {}
    for run in runs:
        if run.get("told") is not None:
            key = f"{run['scenario']} {run['strength']}"
            found.setdefault(key, []).append(run["told"] - run["since"])
    return {
        key: {"runs": len(steps), "median": median(steps), "most": max(steps)}
        for key, steps in sorted(found.items())
    }


def figures(runs: Sequence[Run]) -> Figures:
    """All that the page says in numbers."""
    scenarios, plain = by_scenario(runs), by_scenario(runs, plainly)
    rules = with_onsets(by_rule(runs), runs)
    return {
        "macro_f1": {strength: _round(macro(counts)) for strength, counts in scenarios.items()},
        "plain_macro_f1": {strength: _round(macro(counts)) for strength, counts in plain.items()},
        "rules_macro_f1": _round(macro(rules)),
        "plain_rules_macro_f1": _round(macro(_of(by_rule(runs, plainly), rules))),
        "false_alarms": false_alarms(runs),
        "onsets": onsets(rules),
        "calibration": calibration(runs),
        "delays": delays(runs),
    }


def _of(counts: Mapping[str, Count], names: Iterable[str]) -> dict[str, Count]:
    """The counts of these rules, with none of those that never spoke left out."""
    return {name: counts.get(name, Count(missed=1)) for name in names}


def _round(value: float | None) -> float | None:
    return None if value is None else round(value, 3)
