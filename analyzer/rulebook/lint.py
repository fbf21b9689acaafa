"""What is wrong with rules that load: missing tests, runbooks without their parts, bad limits."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

import duckdb

from analyzer.errors import Location, RuleError, UsageError
from analyzer.rulebook.conditions.base import Condition, Windowed
from analyzer.rulebook.conditions.beyond import Beyond
from analyzer.rulebook.conditions.level import Level
from analyzer.rulebook.load import Rule, Rulebook
from analyzer.rulebook.narrative import LEVELS, PLACEHOLDER
from analyzer.rulebook.testing.cases import KINDS, TestFile
from analyzer.rulebook.tree import Node
from analyzer.tables.catalog import Catalog
from analyzer.tables.responses import chosen_responses
from analyzer.tables.schema import SAMPLES

RUNBOOK_PARTS = ("Meaning", "Impact", "Diagnosis", "Mitigation")
USUAL_RUN = 500  # steps
EXTREME = re.compile(
    r"largest|smallest|longest|shortest|greatest|maxim|minim|reach|cap|extreme|tail"
)
NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
MAY_BE_TEXT = frozenset({"pattern", "equals", "not_equals", "in", "key", "as"})


def lint(
    rulebook: Rulebook, tests: Sequence[TestFile], catalog: Catalog, known_ids: Sequence[str] = ()
) -> list[RuleError]:
    """Every fault of every rule, in the order of the rules.

    `known_ids`: ids that have been published; one that is gone must live on as a deprecated rule.
    """
    by_rule = {file.rule: file for file in tests}
    faults = []
    for rule in rulebook.rules:
        faults += list(_tests(rule, by_rule))
        for check in CHECKS:
            faults += [
                RuleError(message, at=Location(rule.path), hint=hint)
                for message, hint in dict.fromkeys(check(rule, catalog))
            ]
    ids = {rule.id for rule in rulebook.rules}
    for gone in sorted(set(known_ids) - ids):
        hint = "keep it with status: deprecated and replaced_by:"
        faults.append(RuleError(f"rule {gone!r} was published and is gone", hint=hint))
    return faults


def _tests(rule: Rule, by_rule: Mapping[str, TestFile]) -> Iterator[RuleError]:
    """Each rule has at least one firing, clear, not-checked and boundary case."""
    place = Location(rule.path)
    if rule.spec.status == "deprecated":
        if rule.spec.replaced_by is None:
            yield RuleError("is deprecated without replaced_by", at=place, hint="say what to use")
        return
    if rule.id not in by_rule:
        yield RuleError("has no tests", at=place, hint=f"write {rule.id}.test.yaml beside it")
        return
    kinds = {case.kind for case in by_rule[rule.id].cases}
    for kind in KINDS:
        if kind not in kinds:
            where = Location(by_rule[rule.id].path)
            yield RuleError(f"has no test of kind {kind!r}", at=where)


Fault = tuple[str, str]


def _runbook(rule: Rule, catalog: Catalog) -> Iterator[Fault]:
    headings = re.findall(r"^## (.+)$", rule.runbook, re.M)
    for part in RUNBOOK_PARTS:
        if part not in headings:
            yield f"runbook {rule.spec.runbook} has no part {part!r}", f"add `## {part}`"


def _placeholders(rule: Rule, catalog: Catalog) -> Iterator[Fault]:
    spec = rule.spec
    texts = [spec.headline, *spec.summary, *(remedy.do for remedy in spec.remedies)]
    for translation in spec.translations.values():
        texts += [translation.headline, *translation.summary, *translation.remedies]
    for text in texts:
        for name in PLACEHOLDER.findall(text):
            if not _known(name, rule, catalog):
                yield f"unknown placeholder {{{name}}}", "see docs/writing-a-rule.md"


def _known(name: str, rule: Rule, catalog: Catalog) -> bool:
    kind, colon, rest = name.partition(":")
    if colon:
        return {
            "config": rest in catalog.config_keys,
            "fact": rest in catalog.facts,
            "param": rest in rule.spec.params,
        }.get(kind, False)
    subject, _, part = name.partition(".")
    labels = {c.label for band in rule.bands for c in band.tree.conditions() if c.label}
    if subject in ("onset", "end"):
        return part in ("", "interval")
    if subject in labels:
        return part in ("", "value", "text")
    return subject in catalog.series_names and part in LEVELS


def _ranges(rule: Rule, catalog: Catalog) -> Iterator[Fault]:
    """A limit at or beyond the ends of what the series can be: 5 for 0.05, never or always true."""
    for condition in _conditions(rule):
        names = condition.series_names()
        if len(names) != 1 or condition.kind not in ("level", "target"):
            continue
        low, high = catalog.range(names[0])
        unit = f"the unit is {catalog.unit(names[0])}"
        for field in ("above", "below", "value"):
            limit = getattr(condition, field, None)
            if not isinstance(limit, int | float):
                continue
            what = f"{condition.kind} {names[0]}: {field} {limit:g}"
            if (high is not None and limit > high) or (low is not None and limit < low):
                yield f"{what} lies outside the series' range {low} to {high}", unit
            elif (field == "above" and limit == high) or (field == "below" and limit == low):
                yield f"{what} can never hold, the range is {low} to {high}", unit


def _contradictions(rule: Rule, catalog: Catalog) -> Iterator[Fault]:
    """Two levels of one series, joined by all, that no value can meet."""
    for band in rule.bands:
        for node in _joints(band.tree):
            if node.joint != "all":
                continue
            floors: dict[str, float] = {}
            ceilings: dict[str, float] = {}
            for child in node.children:
                level = child.condition
                if isinstance(level, Level) and level.smooth == 1 and level.share is None:
                    if level.above is not None:
                        floors[level.series] = level.above
                    if level.below is not None:
                        ceilings[level.series] = level.below
            for name in floors.keys() & ceilings.keys():
                if floors[name] >= ceilings[name]:
                    yield (
                        f"{name} cannot be above {floors[name]:g} and below {ceilings[name]:g}",
                        "join the two by any:",
                    )


def _joints(node: Node) -> Iterator[Node]:
    yield node
    for child in node.children:
        yield from _joints(child)


def _durations(rule: Rule, catalog: Catalog) -> Iterator[Fault]:
    """A duration that hardly any run is long enough for, and a limit that one noisy step meets."""
    for band in rule.bands:
        for condition in band.tree.conditions():
            if isinstance(condition, Windowed) and condition.for_ > USUAL_RUN:
                yield (
                    f"{condition.kind}: for {condition.for_} steps is longer than a usual run",
                    f"at most {USUAL_RUN}, or a share of the steps",
                )
            if band.severity != "info" and _is_hasty(condition, catalog):
                yield (
                    f"{condition.kind} {condition.series_names()[0]}: one step is enough",
                    "noise and the first steps will meet it: for, after, share or smooth",
                )


def _is_hasty(condition: Condition, catalog: Catalog) -> bool:
    if not isinstance(condition, Beyond) or condition.for_ > 1 or condition.after is not None:
        return False
    # A derived series may be calm by itself: a running median, a count, a share of the run.
    logged = condition.series in catalog.metrics
    return logged and condition.share is None and condition.smooth == 1


def _extremes(rule: Rule, catalog: Catalog) -> Iterator[Fault]:
    """A limit on the largest or smallest value where the rule speaks of the mean."""
    texts = " ".join([rule.spec.title, rule.spec.headline, rule.spec.why, *rule.spec.summary])
    if EXTREME.search(texts):
        return
    for condition in _conditions(rule):
        for name in condition.series_names():
            mean = name.removesuffix("_max").removesuffix("_min")
            if name != mean and mean in catalog.metrics and condition.kind in ("level", "target"):
                yield f"{condition.kind} {name}: the rule speaks of no extreme", f"{mean}?"


def _conditions(rule: Rule) -> Iterator[Condition]:
    for band in rule.bands:
        yield from band.tree.conditions()


def _quoted(rule: Rule, catalog: Catalog) -> Iterator[Fault]:
    """A number in quotation marks is text."""
    yield from _quoted_in(rule.spec.when, "when")


def _quoted_in(data: object, where: str) -> Iterator[Fault]:
    if isinstance(data, dict):
        for key, value in data.items():
            if key not in MAY_BE_TEXT:
                yield from _quoted_in(value, f"{where}.{key}")
    elif isinstance(data, list):
        for value in data:
            yield from _quoted_in(value, where)
    elif isinstance(data, str) and NUMBER.fullmatch(data):
        yield f"{where}: {data!r} is text, not a number", "leave the quotation marks out"


def _parameters(rule: Rule, catalog: Catalog) -> Iterator[Fault]:
    text = str(rule.spec.when)
    for name, param in rule.spec.params.items():
        low, high = param.range
        if f"'${name}'" not in text and not _in_texts(name, rule):
            yield f"parameter {name!r} is not used", "use it in when: or remove it"
        if (low is not None and param.default < low) or (high is not None and param.default > high):
            bounds = " to ".join("any" if bound is None else f"{bound:g}" for bound in (low, high))
            yield f"parameter {name!r}: default {param.default:g} outside {bounds}", ""


def _in_texts(name: str, rule: Rule) -> bool:
    drawn = {limit.param for chart in rule.spec.charts for limit in chart.limits}
    asked = " ".join(f"{remedy.unless} {remedy.only_if}" for remedy in rule.spec.remedies)
    return name in drawn or f"'${name}'" in asked


def _remedies(rule: Rule, catalog: Catalog) -> Iterator[Fault]:
    for translation in rule.spec.translations.values():
        if len(translation.remedies) != len(rule.spec.remedies):
            yield (
                f"{len(rule.spec.remedies)} remedies, {len(translation.remedies)} translated",
                "one sentence a remedy, in the same order",
            )


def _trajectories(rule: Rule, catalog: Catalog) -> Iterator[Fault]:
    """A choice of responses that the table `samples` cannot answer."""
    wanted = rule.spec.trajectories
    if wanted is None:
        return
    with duckdb.connect(config={"threads": 1, "enable_external_access": "false"}) as con:
        con.register("samples", SAMPLES.empty_table())
        try:
            chosen_responses(con, wanted.where, wanted.order, wanted.one_per)
        except UsageError as cause:
            yield cause.message, "see the columns of samples in docs/contracts.md"


CHECKS: tuple[Callable[[Rule, Catalog], Iterator[Fault]], ...] = (
    _runbook,
    _placeholders,
    _ranges,
    _contradictions,
    _durations,
    _extremes,
    _quoted,
    _parameters,
    _remedies,
    _trajectories,
)
