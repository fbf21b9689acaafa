"""The metric catalog: canonical names, derived series, facts of a run, configuration keys.

Data, not code: rules/metrics/*.yaml and rules/config/*.json. Loading is strict; all faults of all
files are reported at once.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from analyzer.errors import RuleError, RuleErrors
from analyzer.strict_yaml import Document, did_you_mean, load_document, validate
from analyzer.tables.config_keys import ConfigKey, Dialect, areal_keys, load_dialects
from analyzer.tables.metric_files import (
    Bound,
    Build,
    Derived,
    DerivedFile,
    Fact,
    FactFile,
    Logged,
    Metric,
    MetricFile,
    Names,
)
from analyzer.tables.vocabulary import (
    ANY,
    Alias,
    Vocabulary,
    aliases_of,
    framework_of,
    spellings,
)

AREAL = "areal"
DERIVED_FILES = ("derived.yaml", "queried.yaml")


@dataclass(frozen=True)
class Catalog:
    """Everything that is known of names."""

    metrics: dict[str, Metric]
    derived: dict[str, Derived]
    facts: dict[str, Fact]
    config_keys: dict[str, ConfigKey]
    vocabularies: dict[str, Vocabulary]  # by framework
    sha256: str
    builds: dict[str, Build] = field(default_factory=dict)  # name as logged → what it dates
    further: dict[str, Alias] = field(default_factory=dict)  # names of a project's own
    dialects: dict[str, Dialect] = field(default_factory=dict)  # by framework

    @cached_property
    def aliases(self) -> dict[str, Alias]:
        """The names that AReaL and a project log, and those of files whose writer is not known."""
        found = dict(self.further)
        for framework in (AREAL, ANY):
            if framework in self.vocabularies:
                found = {**self.vocabularies[framework].aliases, **found}
        return found

    def framework_of(self, names: Iterable[str]) -> str | None:
        """The framework that logs such names; None where they do not tell."""
        return framework_of(self.vocabularies.values(), names)

    def resolve(self, names: Iterable[str], framework: str | None) -> dict[str, Alias]:
        """Which series a run's names are. A name that none knows is left out.

        Of several names of a series the one of the lowest rank counts; ranks are unique.
        """
        own = self.vocabularies.get((framework or "").lower())
        found: list[tuple[int, str, Alias]] = []
        for name in sorted(names):
            if name in self.further:
                found.append((0, name, self.further[name]))
            elif own is not None and (alias := own.find(name)) is not None:
                found.append((1, name, alias))
            elif ANY in self.vocabularies and (alias := self.vocabularies[ANY].find(name)):
                found.append((2, name, alias))
            elif own is None and (alias := self._agreed(name)) is not None:
                found.append((3, name, alias))
        found.sort(key=lambda entry: (entry[0], entry[2].rank, entry[1]))
        return {
            name: Alias(alias.canonical, rank, alias.scale, alias.offset)
            for rank, (_, name, alias) in enumerate(found)
        }

    def canonical(self, logged: str) -> str | None:
        """The series that a name stands for, whoever logs it; AReaL and the project first."""
        if logged in self.aliases:
            return self.aliases[logged].canonical
        found = (v.find(logged) for v in self.vocabularies.values())
        return next((alias.canonical for alias in found if alias is not None), None)

    def _agreed(self, name: str) -> Alias | None:
        """The series that all frameworks with such a name mean by it."""
        found = [a for v in self.vocabularies.values() if (a := v.find(name)) is not None]
        meanings = {(alias.canonical, alias.scale, alias.offset) for alias in found}
        return found[0] if len(meanings) == 1 else None

    @cached_property
    def series_names(self) -> tuple[str, ...]:
        """All names a condition may use."""
        return (*self.metrics, *self.derived)

    def unit(self, name: str) -> str:
        """The unit of a series; "1" where it is not known."""
        entry = self.metrics.get(name) or self.derived.get(name)
        return entry.unit if entry else "1"

    def meaning(self, name: str) -> str:
        """What a series is, in words; the name itself where that is not known."""
        entry = self.metrics.get(name) or self.derived.get(name)
        return entry.meaning if entry else name

    def range(self, name: str) -> tuple[Bound, Bound]:
        """The values that a series can take."""
        entry = self.metrics.get(name) or self.derived.get(name)
        return entry.range if entry else (None, None)


def load_catalog(rules_dir: Path, further: Iterable[tuple[str, str]] = ()) -> Catalog:
    """Read rules/metrics and rules/config. Raises RuleErrors with every fault.

    `further`: names as logged with their canonical names, from a project.
    """
    errors: list[RuleError] = []
    metrics: dict[str, Metric] = {}
    files: list[tuple[MetricFile, Document]] = []
    digest = hashlib.sha256()
    derived: tuple[Derived, ...] = ()
    facts: tuple[Fact, ...] = ()
    documents = []
    for path in sorted((rules_dir / "metrics").glob("*.yaml")):
        document = load_document(path, f"{rules_dir.name}/metrics/{path.name}")
        documents.append(document)
        digest.update(document.text.encode())
        if path.name in DERIVED_FILES:
            derived += m.derived if (m := _read(DerivedFile, document)) else ()
        elif path.name == "facts.yaml":
            facts = f.facts if (f := _read(FactFile, document)) else ()
        elif (file := _read(MetricFile, document)) is not None:
            files.append((file, document))
            _add_metrics(file, document, metrics)
    vocabularies = _vocabularies(files, metrics)
    for document in documents:
        errors.extend(document.errors)
    own: dict[str, Alias] = {}
    for logged, name in further:
        digest.update(f"{logged}={name}".encode())
        if name in metrics:
            own[logged] = Alias(name, -1)
        else:
            hint = did_you_mean(name, list(metrics))
            errors.append(RuleError(f"aliases: unknown metric {name!r}", hint=hint))
    config_keys = areal_keys(rules_dir)
    dialects, faults = load_dialects(rules_dir, config_keys, digest)
    errors.extend(faults)
    errors.extend(_twice(rules_dir, [*metrics, *(d.name for d in derived)]))
    if errors:
        raise RuleErrors(errors)
    return Catalog(
        metrics,
        {d.name: d for d in derived},
        {f.name: f for f in facts},
        config_keys,
        vocabularies,
        digest.hexdigest(),
        _builds(files),
        own,
        dialects,
    )


def _read(model: type[Any], document: Document) -> Any:
    return None if document.errors else validate(model, document)


def _add_metrics(file: MetricFile, document: Document, metrics: dict[str, Metric]) -> None:
    for index, metric in enumerate(file.metrics):
        if metrics.setdefault(metric.name, metric) is not metric:
            where = ("metrics", index)
            document.errors.append(document.error(where, f"metric {metric.name!r} stands twice"))


def _vocabularies(
    files: Iterable[tuple[MetricFile, Document]], metrics: dict[str, Metric]
) -> dict[str, Vocabulary]:
    """What each framework calls its series; faults go to the documents."""
    found: dict[str, Vocabulary] = {}
    for file, document in files:
        key = file.framework.lower()
        vocabulary = found.setdefault(key, Vocabulary(key, file.framework))
        entries: list[tuple[str, Names, tuple[str | int, ...]]] = [
            (m.name, Names(logged=m.logged, defects=m.defects), ("metrics", i))
            for i, m in enumerate(file.metrics)
            if m.logged
        ]
        entries += [(name, _names(n), ("names", name)) for name, n in file.names.items()]
        for name, names, where in entries:
            if name not in metrics:
                hint = did_you_mean(name, list(metrics))
                document.errors.append(document.error(where, f"unknown metric {name!r}", hint))
            _add_names(vocabulary, name, names, file, document, where)
        marks = (*vocabulary.marks, *spellings(file.marks, file.roles))
        ignored = (*vocabulary.ignored, *file.ignored)
        first_step = max(vocabulary.first_step, file.first_step)
        found[key] = replace(vocabulary, marks=marks, ignored=ignored, first_step=first_step)
    return found


def _names(entry: Names | Logged | str) -> Names:
    if isinstance(entry, Names):
        return entry
    return Names(logged=(entry,) if isinstance(entry, str) else entry)


def _add_names(
    vocabulary: Vocabulary,
    canonical: str,
    names: Names,
    file: MetricFile,
    document: Document,
    where: tuple[str | int, ...],
) -> None:
    for logged, alias in aliases_of(canonical, names.logged, file.roles):
        table = vocabulary.patterns if "*" in logged else vocabulary.aliases
        other = table.setdefault(logged, alias)
        if other.canonical != canonical:
            message = f"{logged!r} is the logged name of {other.canonical!r} already"
            document.errors.append(document.error(where, message))
    if names.defects:
        vocabulary.defects[canonical] = names.defects


def _builds(files: Iterable[tuple[MetricFile, Document]]) -> dict[str, Build]:
    builds: dict[str, Build] = {}
    for file, _ in files:
        for build in file.builds:
            builds.update(dict.fromkeys(spellings(build.logged, file.roles), build))
    return builds


def _twice(rules_dir: Path, names: list[str]) -> list[RuleError]:
    return [
        RuleError(f"{rules_dir.name}/metrics: series {name!r} is defined twice")
        for name, count in Counter(names).items()
        if count > 1
    ]
