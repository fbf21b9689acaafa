"""Procedure files: strict, every fault of every file at once, with its line."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from analyzer.compare.model import BETTER
from analyzer.compare.procedure_spec import (
    Append,
    CopyOf,
    EvidenceSpec,
    ExperimentChange,
    ExperimentSpec,
    Planned,
    ProcedureSpec,
    QuestionSpec,
)
from analyzer.compare.runs import WATCHED
from analyzer.errors import RuleError, RuleErrors
from analyzer.rulebook.model import SetTo
from analyzer.rulebook.tree import Node, build_tree
from analyzer.strict_yaml import Document, YamlPath, did_you_mean, load_document, validate
from analyzer.tables.catalog import Catalog

FOLDER = "procedures"


@dataclass(frozen=True)
class Way:
    """One way to answer a question, with its conditions ready to be asked."""

    spec: EvidenceSpec
    yes: Node | None
    no: Node | None
    only_if: Node | None = None

    def nodes(self) -> tuple[Node, ...]:
        """The conditions that it has."""
        return tuple(n for n in (self.only_if, self.yes, self.no) if n is not None)


@dataclass(frozen=True)
class LoadedProcedure:
    """A procedure ready to be followed."""

    spec: ProcedureSpec
    path: str
    ways: Mapping[str, tuple[Way, ...]]  # question → in the order in which they are tried

    def roles(self) -> tuple[str, ...]:
        """The roles that its runs can have."""
        return tuple(q.experiment.role for q in self.spec.questions if q.experiment is not None)


Fault = Callable[[YamlPath, str, str], None]


def load_procedures(
    directories: Sequence[Path], catalog: Catalog, rules: Sequence[str]
) -> tuple[LoadedProcedure, ...]:
    """Every procedure below the directories, by id. Raises RuleErrors with all faults.

    `rules`: the ids of all rules.
    """
    errors: list[RuleError] = []
    found: dict[str, LoadedProcedure] = {}
    for directory in directories:
        for path in sorted((directory / FOLDER).glob("*.yaml")):
            document = load_document(path, f"{directory.name}/{FOLDER}/{path.name}")
            procedure = None if document.errors else _load(path, document, catalog, rules)
            if procedure is not None and found.setdefault(procedure.spec.id, procedure) is not (
                procedure
            ):
                message = f"procedure {procedure.spec.id!r} is defined twice"
                document.errors.append(document.error(("id",), message))
            errors.extend(document.errors)
    if errors:
        raise RuleErrors(errors)
    return tuple(found[name] for name in sorted(found))


def _load(
    path: Path, document: Document, catalog: Catalog, rules: Sequence[str]
) -> LoadedProcedure | None:
    spec = validate(ProcedureSpec, document)
    if spec is None:
        return None
    ways = {
        question.id: tuple(
            _way(document, ("questions", i, "evidence", j), way)
            for j, way in enumerate(question.evidence)
        )
        for i, question in enumerate(spec.questions)
    }

    def fault(where: YamlPath, message: str, hint: str = "") -> None:
        document.errors.append(document.error(where, message, hint))

    if spec.id != path.stem:
        fault(("id",), f"id {spec.id!r} differs from the file's name {path.stem!r}", "")
    _check_tree(spec, fault)
    _check_names(spec, ways, catalog, rules, fault)
    _check_translations(spec, fault)
    return None if document.errors else LoadedProcedure(spec, document.path, ways)


def _way(document: Document, where: YamlPath, spec: EvidenceSpec) -> Way:
    nodes = [
        build_tree(document, (*where, name), written, {}) if isinstance(written, dict) else None
        for name, written in (("yes", spec.yes), ("no", spec.no), ("only_if", spec.only_if))
    ]
    return Way(spec, *nodes)


def _check_tree(spec: ProcedureSpec, fault: Fault) -> None:
    """Every branch leads to something that is there, forwards, and everything is led to."""
    places = {question.id: i for i, question in enumerate(spec.questions)}
    if len(places) < len(spec.questions):
        fault(("questions",), "two questions have one id", "")
    asked, concluded = {spec.questions[0].id}, set()
    for i, question in enumerate(spec.questions):
        for answer, branch in question.branches():
            where: YamlPath = ("questions", i, answer)
            if branch.ask is not None and branch.ask not in places:
                hint = did_you_mean(branch.ask, list(places))
                fault((*where, "ask"), f"unknown question {branch.ask!r}", hint)
            elif branch.ask is not None and places[branch.ask] <= i:
                fault((*where, "ask"), f"{branch.ask!r} stands before", "a branch leads forwards")
            if branch.conclude is not None and branch.conclude not in spec.conclusions:
                hint = did_you_mean(branch.conclude, list(spec.conclusions))
                fault((*where, "conclude"), f"unknown conclusion {branch.conclude!r}", hint)
            asked.add(branch.ask or "")
            concluded.add(branch.conclude)
    for name, i in places.items():
        if name not in asked:
            fault(("questions", i, "id"), f"no branch leads to question {name!r}", "")
    for name in spec.conclusions:
        if name not in concluded:
            fault(("conclusions", name), f"no branch leads to conclusion {name!r}", "")


def _check_names(
    spec: ProcedureSpec,
    ways: Mapping[str, tuple[Way, ...]],
    catalog: Catalog,
    rules: Sequence[str],
    fault: Fault,
) -> None:
    def known(name: str, kind: str, names: Sequence[str], where: YamlPath) -> None:
        if name not in names:
            fault(where, f"unknown {kind} {name!r}", did_you_mean(name, list(names)))

    for i, rule in enumerate(spec.applies_to):
        known(rule, "rule", rules, ("applies_to", i))
    for i, rule in enumerate(spec.instead_of_remedies):
        known(rule, "rule", spec.applies_to, ("instead_of_remedies", i))
    for i, question in enumerate(spec.questions):
        for kind, name, inside in _names(question, ways[question.id]):
            names = {"rule": rules, "series": catalog.series_names, "fact": list(catalog.facts)}
            known(name, kind, names[kind], ("questions", i, *inside))
            if inside[-2:] == ("compare", "series") and not {name} & BETTER.keys() & {*WATCHED}:
                hint = f"of {', '.join(sorted(BETTER))}"
                fault(("questions", i, *inside), f"{name} has no better and worse", hint)
        if question.experiment is not None:
            _check_keys(question.experiment, catalog, ("questions", i, "experiment"), fault)


def _names(question: QuestionSpec, ways: Sequence[Way]) -> Iterator[tuple[str, str, YamlPath]]:
    """What the question names: kind, name, and where it stands."""
    for j, way in enumerate(ways):
        where: YamlPath = ("evidence", j)
        if (found := way.spec.finding) is not None:
            yield "rule", found.rule, (*where, "finding", "rule")
        if (compared := way.spec.compare) is not None:
            yield "series", compared.series, (*where, "compare", "series")
            if compared.times is not None:
                yield "fact", compared.times, (*where, "compare", "times")
        for node in way.nodes():
            for condition in node.conditions():
                for name in condition.series_names():
                    yield "series", name, where
    if question.experiment is None:
        return
    if question.experiment.once is not None:
        yield "series", question.experiment.once, ("experiment", "once")
    if (effect := question.experiment.effect) is not None:
        yield "series", effect.series, ("experiment", "effect", "series")
        if effect.times is not None:
            yield "fact", effect.times, ("experiment", "effect", "times")


def _check_keys(spec: ExperimentSpec, catalog: Catalog, where: YamlPath, fault: Fault) -> None:
    """Keys of AReaL, and values of their type."""
    for part, changes in (("config", spec.config), ("where_set", spec.where_set)):
        for key, change in changes.items():
            place = (*where, part, key)
            for name in (key, change.copy_of) if isinstance(change, CopyOf) else (key,):
                if name not in catalog.config_keys:
                    hint = did_you_mean(name, list(catalog.config_keys))
                    fault(place, f"unknown configuration key {name!r}", hint)
                    break
            else:
                if wrong := _misfit(key, change, catalog):
                    fault(place, f"{key} is {wrong}", "")


def _misfit(key: str, change: ExperimentChange, catalog: Catalog) -> str:
    known = catalog.config_keys[key]
    if isinstance(change, CopyOf):
        other = catalog.config_keys[change.copy_of]
        return "" if known.type == other.type else f"{known.type}, and the other {other.type}"
    if isinstance(change, Append):
        return known.misfit("text")
    if isinstance(change, Planned):
        return known.misfit(1)
    return known.misfit(change.set if isinstance(change, SetTo) else 1)


def _check_translations(spec: ProcedureSpec, fault: Fault) -> None:
    """A translation has all questions and conclusions, and no others."""
    questions = {question.id for question in spec.questions}
    for language, texts in spec.translations.items():
        where: YamlPath = ("translations", language)
        for name in sorted(questions ^ set(texts.questions)):
            fault((*where, "questions"), f"question {name!r} is not in both languages", "")
        for name in sorted(set(spec.conclusions) ^ set(texts.conclusions)):
            fault((*where, "conclusions"), f"conclusion {name!r} is not in both languages", "")
