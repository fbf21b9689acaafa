"""Limits for a stated rate of false alarms, from runs that are known to be healthy.

Each run has a critical value of a limit: the one where the rule stops to fire. A limit just beyond
all but k of n critical values fires in k of n runs, and how often it would in others like them
follows from k and n alone (statistics.proportion). A rule is judged by itself: no other rule takes
its finding as a consequence, and the false discoveries of a whole run are not controlled for it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from analyzer.errors import UsageError
from analyzer.rulebook.evaluate import Judge
from analyzer.rulebook.load import Rule, Rulebook
from analyzer.rulebook.vary import Limit, limits_of, overridden
from analyzer.statistics.proportion import trials_needed, upper_bound
from analyzer.strict_yaml import did_you_mean
from analyzer.tables.run import RunTables

CONFIDENCE = 0.95
_DOUBLINGS = 30  # of the way from a limit, until enough runs fire or do not
_HALVINGS = 30  # of what lies between
_DIGITS = 2  # of a proposed limit, rounded to the side that fires less
_STEPS = 20  # of its last digit, until the rounded limit does what it should
_LEAST = 1e-6  # of the last digit: what a search leaves open


@dataclass(frozen=True, slots=True)
class Proposal:
    """A limit as it is and as it should be; counts are of the healthy runs that allow the check."""

    rule: str
    param: str
    unit: str
    before: float
    after: float  # the same where nothing is to be changed
    runs: int
    fired_before: int
    fired_after: int
    failed: str = ""  # why no limit is proposed

    @property
    def changed(self) -> bool:
        """Is another limit proposed?"""
        return self.after != self.before

    @property
    def bound(self) -> float:
        """The share of such runs that it would fire in, at most, with CONFIDENCE."""
        return upper_bound(self.fired_after, self.runs, CONFIDENCE)


Count = Callable[[float], int | None]  # limit → in how many runs it fires; None: no valid rule


def chosen_limits(names: Sequence[str], rulebook: Rulebook) -> list[tuple[Rule, Limit]]:
    """The limits that were asked for, as RULE or RULE.PARAM. Raises UsageError."""
    return [_chosen(name, rulebook) for name in names]


def _chosen(name: str, rulebook: Rulebook) -> tuple[Rule, Limit]:
    rule_id, _, param = name.partition(".")
    rule = rulebook.rule(rule_id)
    if rule is None:
        hint = did_you_mean(rule_id, [r.id for r in rulebook.rules])
        raise UsageError(f"--rule {name}: unknown rule {rule_id!r}", hint=hint)
    limits = limits_of(rule)
    known = ", ".join(limit.param for limit in limits)
    if param:
        found = [limit for limit in limits if limit.param == param]
        if not found:
            raise UsageError(
                f"--rule {name}: {param!r} is no limit of this rule",
                hint=f"its limits: {known}" if known else "it compares with no parameter",
            )
        return rule, found[0]
    if not limits:
        raise UsageError(f"--rule {name}: it compares with no parameter", hint="another rule")
    banded = {p for values in (rule.spec.bands or {}).values() for p in values}
    if len(limits) > 1 and limits[0].param not in banded:
        raise UsageError(
            f"--rule {name}: it has several limits", hint=f"RULE.PARAM, one of {known}"
        )
    return rule, limits[0]


def alarming(
    rulebook: Rulebook, runs: Sequence[RunTables], rate: float
) -> list[tuple[Rule, Limit]]:
    """The rules with a limit that fire more often than that, each with its first limit."""
    found = []
    for rule in rulebook.rules:
        limits = limits_of(rule)
        if not limits or rule.disabled or rule.spec.status == "deprecated":
            continue
        states = [state_of(rule, run) for run in runs]
        checked = sum(state in ("fired", "clear") for state in states)
        if states.count("fired") > math.floor(rate * checked):
            found.append((rule, limits[0]))
    return found


def propose(rule: Rule, limit: Limit, runs: Sequence[RunTables], rate: float) -> Proposal:
    """The limit at which at most that share of the healthy runs fires.

    It is made to fire more often than now only where the runs are enough to state the rate.
    """
    param, before = limit.param, float(rule.bands[0].values[limit.param])
    checked = [run for run in runs if state_of(rule, run) in ("fired", "clear")]

    def count(value: float) -> int | None:
        varied = overridden(rule, param, value)
        if varied is None:
            return None
        return sum(state_of(varied, run) == "fired" for run in checked)

    now = count(before) or 0
    spec = rule.spec.params[param]
    unchanged = Proposal(rule.id, param, spec.unit, before, before, len(checked), now, now)
    if not checked:
        return replace(unchanged, failed="no healthy run allows this check")
    allowed = math.floor(rate * len(checked))
    if now <= allowed and len(checked) < trials_needed(rate, CONFIDENCE):
        return unchanged
    value = limit_value(count, before, limit.sign, allowed, spec.range)
    if value is None:
        return replace(unchanged, failed=f"at no value do {allowed} of these runs fire, or fewer")
    return replace(unchanged, after=value, fired_after=count(value) or 0)


def state_of(rule: Rule, run: RunTables) -> str:
    """How the rule ends in this run, judged by itself."""
    judge = Judge(Rulebook((rule,), ""), run.catalog, run, run.manifest.run)
    return judge.judgement(has_series=True).checks[0].state


def limit_value(
    count: Count, before: float, sign: int, allowed: int, span: tuple[float | None, float | None]
) -> float | None:
    """The limit nearest to where more runs than allowed would fire, rounded to the side that fires
    less; None where there is none within the span.

    `sign` +1: a larger limit fires less often.
    """
    quiet = next((v for v in _away(before, sign, span) if _is_quiet(count(v), allowed)), None)
    if quiet is None:
        return None
    loud = next((v for v in _away(before, -sign, span) if not _is_quiet(count(v), allowed)), None)
    if loud is None or count(loud) is None:
        return before  # no value fires: nothing is learned
    for _ in range(_HALVINGS):
        middle = (quiet + loud) / 2
        if _is_quiet(count(middle), allowed):
            quiet = middle
        else:
            loud = middle
    return _rounded(count, quiet, sign, allowed, span)


def _is_quiet(fired: int | None, allowed: int) -> bool:
    return fired is not None and fired <= allowed


def _away(before: float, sign: int, span: tuple[float | None, float | None]) -> Iterator[float]:
    """The value, then further and further from it, up to the end of the span."""
    end = span[1] if sign > 0 else span[0]
    step = abs(before) if before else 0.01
    for doublings in range(_DOUBLINGS):
        value = before + sign * step * (2.0**doublings - 1)
        if end is not None and sign * (value - end) >= 0:
            yield end
            return
        yield value


def _rounded(
    count: Count, value: float, sign: int, allowed: int, span: tuple[float | None, float | None]
) -> float:
    """With few digits, where such a limit does what the exact one does."""
    if value == 0:
        return value
    unit = 10.0 ** (math.floor(math.log10(abs(value))) - _DIGITS + 1)
    first = math.ceil(value / unit - _LEAST) if sign > 0 else math.floor(value / unit + _LEAST)
    low, high = (
        (-math.inf if span[0] is None else span[0]),
        (math.inf if span[1] is None else span[1]),
    )
    for step in range(_STEPS):
        rounded = min(high, max(low, float(f"{(first + sign * step) * unit:.{_DIGITS + 2}g}")))
        if _is_quiet(count(rounded), allowed):
            return rounded
    return value
