"""Rule files into rules: strict, and every fault of every file at once."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from analyzer.errors import Location, RuleError, RuleErrors
from analyzer.findings.model import SEVERITIES, Parameter, Severity
from analyzer.rulebook.model import RuleSpec
from analyzer.rulebook.tree import Node, build_tree
from analyzer.strict_yaml import Document, YamlPath, did_you_mean, load_document, validate
from analyzer.tables.catalog import Catalog

NOT_RULES = frozenset({"metrics", "config", "procedures"})


@dataclass(frozen=True)
class Band:
    """A severity with the parameters and the tree that give it."""

    severity: Severity
    tree: Node
    parameters: tuple[Parameter, ...]
    values: Mapping[str, float | int]


@dataclass(frozen=True)
class Rule:
    """A rule ready to be judged; bands from the mildest to the gravest."""

    spec: RuleSpec
    topic: str
    path: str
    text: str
    runbook: str
    bands: tuple[Band, ...]
    disabled: str = ""  # why the project does not want it judged

    @property
    def id(self) -> str:
        """The rule's id."""
        return self.spec.id


@dataclass(frozen=True)
class Rulebook:
    """All rules, sorted by topic and id."""

    rules: tuple[Rule, ...]
    sha256: str

    def rule(self, rule_id: str) -> Rule | None:
        """The rule of that id."""
        return next((rule for rule in self.rules if rule.id == rule_id), None)


@dataclass(frozen=True, slots=True)
class Override:
    """A parameter's value from outside the rule file."""

    rule: str
    param: str
    value: float
    source: str  # "--set", "analyzer.yaml:12"


def rule_files(directories: Iterable[Path]) -> list[tuple[Path, str]]:
    """All rule files below the directories, with the name they are shown by."""
    found = []
    for directory in directories:
        if not directory.is_dir():
            raise RuleError(
                "no such rules directory",
                at=Location(str(directory)),
                hint="give a directory of <topic>/<rule>.yaml files",
            )
        for path in sorted(directory.rglob("*.yaml")):
            inside = path.relative_to(directory)
            if inside.parts[0] in NOT_RULES or path.name.endswith(".test.yaml"):
                continue
            found.append((path, f"{directory.name}/{inside.as_posix()}"))
    return found


def load_rulebook(
    directories: Sequence[Path],
    catalog: Catalog,
    overrides: Sequence[Override] = (),
    disabled: Mapping[str, str] | None = None,
) -> Rulebook:
    """Load every rule below the directories. Raises RuleErrors with all faults of all files.

    Of two overrides of a parameter the first counts; `disabled`: rule id → reason.
    """
    errors: list[RuleError] = []
    rules: dict[str, Rule] = {}
    documents: dict[str, Document] = {}
    digest = hashlib.sha256(catalog.sha256.encode())
    for path, shown in rule_files(directories):
        document = load_document(path, shown)
        digest.update(document.text.encode())
        rule = _load_rule(path, document, catalog, overrides)
        if rule is not None and rule.id in rules:
            message = f"rule {rule.id!r} is defined in {rules[rule.id].path} already"
            document.errors.append(document.error(("id",), message))
        elif rule is not None:
            rules[rule.id] = rule
            documents[rule.id] = document
        errors.extend(document.errors)
    # A file that does not load would make every reference to it look wrong as well.
    if not errors:
        errors += _unknown_references(rules, documents)
        errors += _unknown_overrides(rules, overrides)
        errors += _disable(rules, disabled or {})
    if errors:
        raise RuleErrors(errors)
    ordered = sorted(rules.values(), key=lambda rule: (rule.topic, rule.id))
    for override in overrides:
        digest.update(f"{override.rule}.{override.param}={override.value!r}".encode())
    return Rulebook(tuple(ordered), digest.hexdigest())


def _load_rule(
    path: Path, document: Document, catalog: Catalog, overrides: Sequence[Override]
) -> Rule | None:
    if document.errors:
        return None
    spec = validate(RuleSpec, document)
    if spec is None:
        return None
    _check_form(path, spec, document)
    bands = _bands(spec, document, overrides)
    _check_names(spec, bands, document, catalog)
    runbook_path = path.with_name(spec.runbook)
    runbook = runbook_path.read_text("utf-8") if runbook_path.is_file() else ""
    if not runbook:
        document.errors.append(
            document.error(("runbook",), f"runbook {spec.runbook!r} does not exist")
        )
    if document.errors:
        return None
    return Rule(spec, path.parent.name, document.path, document.text, runbook, tuple(bands))


def _check_form(path: Path, spec: RuleSpec, document: Document) -> None:
    if spec.id != path.stem:
        document.errors.append(
            document.error(("id",), f"id {spec.id!r} differs from the file's name {path.stem!r}")
        )
    if (spec.severity is None) == (spec.bands is None):
        document.errors.append(
            document.error(("severity",), "a rule has either severity: or bands:")
        )
    for severity, values in (spec.bands or {}).items():
        for name in values:
            if name not in spec.params:
                hint = did_you_mean(name, list(spec.params))
                where = ("bands", severity, name)
                document.errors.append(document.error(where, f"unknown parameter {name!r}", hint))


def _bands(spec: RuleSpec, document: Document, overrides: Sequence[Override]) -> list[Band]:
    """One band a severity, the mildest first; each with its own parameter values."""
    raw = spec.bands or {spec.severity or "info": {}}
    bands: list[Band] = []
    mine = {o.param: o for o in reversed(overrides) if o.rule == spec.id}
    for severity in SEVERITIES:
        if severity not in raw:
            continue
        values = {name: param.default for name, param in spec.params.items()}
        sources = {name: f"default; {param.source}" for name, param in spec.params.items()}
        for name, value in raw[severity].items():
            values[name], sources[name] = value, f"band {severity}"
        for name, override in mine.items():
            # An override of a banded parameter moves the mildest band and keeps graver ones graver.
            if name in raw[severity] and bands:
                continue
            values[name], sources[name] = override.value, override.source
        before = len(document.errors)
        tree = build_tree(document, ("when",), spec.when, values)
        if tree is not None:
            used = tuple(
                Parameter(name, value, spec.params[name].unit, sources[name])
                for name, value in values.items()
                if name in spec.params
            )
            bands.append(Band(severity, tree, used, values))
        elif len(document.errors) > before:
            break  # the next band has the same faults
    return bands


def _check_names(
    spec: RuleSpec, bands: Sequence[Band], document: Document, catalog: Catalog
) -> None:
    known = list(catalog.series_names)
    places: list[tuple[YamlPath, str]] = [(("needs", i), n) for i, n in enumerate(spec.needs)]
    places += [(("charts", i, "series"), c.series) for i, c in enumerate(spec.charts)]
    for condition in bands[0].tree.conditions() if bands else ():
        places += [(_place_of(document, name), name) for name in condition.series_names()]
    for where, name in places:
        if name not in catalog.metrics and name not in catalog.derived:
            hint = did_you_mean(name, known) or "see `analyzer metrics list`"
            document.errors.append(document.error(where, f"unknown series {name!r}", hint))
    for i, remedy in enumerate(spec.remedies):
        for key in remedy.config:
            if key not in catalog.config_keys:
                hint = did_you_mean(key, list(catalog.config_keys))
                where = ("remedies", i, "config", key)
                message = f"unknown configuration key {key!r}"
                document.errors.append(document.error(where, message, hint))
    for i, chart in enumerate(spec.charts):
        for j, limit in enumerate(chart.limits):
            if limit.fact is not None and limit.fact not in catalog.facts:
                hint = did_you_mean(limit.fact, list(catalog.facts))
                where = ("charts", i, "limits", j, "fact")
                message = f"unknown fact {limit.fact!r}"
                document.errors.append(document.error(where, message, hint))


def _place_of(document: Document, name: str) -> YamlPath:
    """The place below `when` where a series is named."""
    for where in document.places:
        if where[:1] == ("when",) and _value_at(document, where) == name:
            return where
    return ("when",)


def _value_at(document: Document, where: YamlPath) -> object:
    data = document.data
    for part in where:
        data = data[part]
    return data


def _unknown_references(
    rules: Mapping[str, Rule], documents: Mapping[str, Document]
) -> list[RuleError]:
    errors = []
    for rule in rules.values():
        for key, ids in (("suppresses", rule.spec.suppresses), ("withdraws", rule.spec.withdraws)):
            for i, other in enumerate(ids):
                if other not in rules:
                    hint = did_you_mean(other, list(rules))
                    message = f"unknown rule {other!r}"
                    errors.append(documents[rule.id].error((key, i), message, hint))
    return errors + _cycles(rules, documents)


def _cycles(rules: Mapping[str, Rule], documents: Mapping[str, Document]) -> list[RuleError]:
    """A consequence that would be its own cause."""
    done: set[str] = set()
    errors = []

    def visit(rule_id: str, trail: tuple[str, ...]) -> None:
        if rule_id in trail:
            loop = " → ".join((*trail[trail.index(rule_id) :], rule_id))
            errors.append(documents[rule_id].error(("suppresses",), f"cycle of causes: {loop}"))
        elif rule_id not in done and rule_id in rules:
            for other in rules[rule_id].spec.suppresses:
                visit(other, (*trail, rule_id))
            done.add(rule_id)

    for rule_id in rules:
        visit(rule_id, ())
    return errors


def _disable(rules: dict[str, Rule], disabled: Mapping[str, str]) -> list[RuleError]:
    errors = []
    for rule_id, reason in disabled.items():
        if rule_id in rules:
            rules[rule_id] = replace(rules[rule_id], disabled=reason)
        else:
            hint = did_you_mean(rule_id, list(rules))
            errors.append(RuleError(f"disabled: unknown rule {rule_id!r}: {reason}", hint=hint))
    return errors


def _unknown_overrides(rules: Mapping[str, Rule], overrides: Sequence[Override]) -> list[RuleError]:
    errors = []
    for override in overrides:
        rule = rules.get(override.rule)
        name = f"{override.rule}.{override.param}"
        if rule is None:
            hint = did_you_mean(override.rule, list(rules))
            errors.append(RuleError(f"{override.source} {name}: unknown rule", hint=hint))
        elif override.param not in rule.spec.params:
            hint = did_you_mean(override.param, list(rule.spec.params))
            errors.append(RuleError(f"{override.source} {name}: unknown parameter", hint=hint))
        else:
            low, high = rule.spec.params[override.param].range
            if (low is not None and override.value < low) or (
                high is not None and override.value > high
            ):
                message = f"{override.source} {name} = {override.value:g}: outside {low} to {high}"
                errors.append(RuleError(message))
    return errors
