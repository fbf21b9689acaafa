"""The metric catalog: canonical names, derived series, facts of a run, configuration keys.

Data, not code: rules/metrics/*.yaml and rules/config/*.json. Loading is strict; all faults of all
files are reported at once.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from analyzer.errors import RuleError, RuleErrors
from analyzer.strict_yaml import Document, did_you_mean, load_document, validate

NAME = r"^[a-z][a-z0-9_]*$"
Bound = float | None
DERIVED_FILES = ("derived.yaml", "queried.yaml")


class Strict(BaseModel):
    """Refuses unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class Defect(Strict):
    """A known fault in what a framework logs under a name."""

    id: str
    text: str
    fixed: date | None = Field(
        default=None, description="day of the framework's commit that mended it"
    )
    only_if: dict[str, Any] = Field(
        default_factory=dict, description="configuration key → value (or {match: regex})"
    )
    references: tuple[str, ...] = ()


class Metric(Strict):
    """A canonical name for something that a framework logs."""

    name: Annotated[str, Field(pattern=NAME)]
    meaning: str
    unit: str
    range: tuple[Bound, Bound] = (None, None)
    logged: tuple[str, ...] = Field(min_length=1)
    defects: tuple[Defect, ...] = ()


class Build(Strict):
    """Names that only builds since a day write, so that their presence dates the build."""

    since: date
    logged: tuple[str, ...]
    reason: str


class MetricFile(Strict):
    """rules/metrics/<framework>.yaml"""

    framework: str
    builds: tuple[Build, ...] = ()
    roles: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    metrics: tuple[Metric, ...]


class Derived(Strict):
    """A series computed from others."""

    name: Annotated[str, Field(pattern=NAME)]
    meaning: str
    unit: str
    range: tuple[Bound, Bound] = (None, None)
    expressions: tuple[str, ...] = ()
    sql: str | None = None
    logged_as: str | None = None


class DerivedFile(Strict):
    """rules/metrics/derived.yaml"""

    derived: tuple[Derived, ...]


class FactSource(Strict):
    """One way to learn a number of the run."""

    config: str | None = None
    match: str | None = None
    default: float | None = Field(
        default=None, description="what the framework takes where its configuration has no such key"
    )
    product: tuple[str, ...] | None = None
    series: str | None = None
    reduce: Literal["min", "max", "median", "early", "last"] | None = None
    round: bool = False
    manifest: Literal["total_steps", "steps_per_epoch", "progress", "attempts", "steps"] | None = (
        None
    )
    expression: str | None = None


class Fact(Strict):
    """A number of the run and the ways to learn it, best first."""

    name: Annotated[str, Field(pattern=NAME)]
    meaning: str
    unit: str
    ways: tuple[FactSource, ...] = Field(alias="from", min_length=1)


class FactFile(Strict):
    """rules/metrics/facts.yaml"""

    facts: tuple[Fact, ...]


class ConfigKey(BaseModel):
    """A configuration key of a framework."""

    model_config = ConfigDict(extra="ignore", frozen=True, populate_by_name=True)

    type: str = ""
    default: Any = None
    versions: tuple[str, ...] = Field(default=(), alias="in")
    removed: str | None = None
    also_written: str | None = None


@dataclass(frozen=True)
class Catalog:
    """Everything that is known of names."""

    metrics: dict[str, Metric]
    derived: dict[str, Derived]
    facts: dict[str, Fact]
    config_keys: dict[str, ConfigKey]
    aliases: dict[str, tuple[str, int]]  # name as logged → canonical name, preference (0 first)
    sha256: str
    builds: dict[str, Build] = field(default_factory=dict)  # name as logged → what it dates
    frameworks: dict[str, str] = field(default_factory=dict)  # canonical name → framework

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
    frameworks: dict[str, str] = {}
    aliases: dict[str, tuple[str, int]] = {}
    builds: dict[str, Build] = {}
    digest = hashlib.sha256()
    derived: tuple[Derived, ...] = ()
    facts: tuple[Fact, ...] = ()
    for path in sorted((rules_dir / "metrics").glob("*.yaml")):
        document = load_document(path, f"{rules_dir.name}/metrics/{path.name}")
        digest.update(document.text.encode())
        if path.name in DERIVED_FILES:
            derived += m.derived if (m := _read(DerivedFile, document)) else ()
        elif path.name == "facts.yaml":
            facts = f.facts if (f := _read(FactFile, document)) else ()
        elif (file := _read(MetricFile, document)) is not None:
            _add_metrics(file, document, metrics, frameworks, aliases)
            for build in file.builds:
                builds.update(dict.fromkeys(_spellings(build.logged, file.roles), build))
        errors.extend(document.errors)
    for logged, name in further:
        digest.update(f"{logged}={name}".encode())
        if name in metrics:
            aliases[logged] = (name, -1)
        else:
            hint = did_you_mean(name, list(metrics))
            errors.append(RuleError(f"aliases: unknown metric {name!r}", hint=hint))
    config_keys = _config_keys(rules_dir)
    errors.extend(_twice(rules_dir, [*metrics, *(d.name for d in derived)]))
    if errors:
        raise RuleErrors(errors)
    return Catalog(
        metrics,
        {d.name: d for d in derived},
        {f.name: f for f in facts},
        config_keys,
        aliases,
        digest.hexdigest(),
        builds,
        frameworks,
    )


def _read(model: type[Any], document: Document) -> Any:
    return None if document.errors else validate(model, document)


def _add_metrics(
    file: MetricFile,
    document: Document,
    metrics: dict[str, Metric],
    frameworks: dict[str, str],
    aliases: dict[str, tuple[str, int]],
) -> None:
    for index, metric in enumerate(file.metrics):
        known = metrics.setdefault(metric.name, metric)
        frameworks.setdefault(metric.name, file.framework)
        where = ("metrics", index)
        if known is not metric and frameworks[metric.name] == file.framework:
            document.errors.append(document.error(where, f"metric {metric.name!r} stands twice"))
        for rank, logged in enumerate(_spellings(metric.logged, file.roles)):
            other = aliases.setdefault(logged, (metric.name, rank))
            if other[0] != metric.name:
                message = f"{logged!r} is the logged name of {other[0]!r} already"
                document.errors.append(document.error(where, message))


def _spellings(patterns: Iterable[str], roles: dict[str, tuple[str, ...]]) -> list[str]:
    """`<actor>/[update/]entropy/avg` → every name that it stands for, preferred first."""
    names: list[str] = []
    for pattern in patterns:
        parts: list[tuple[str, ...]] = []
        for part in re.split(r"(<\w+>|\[[^\]]+\])", pattern):
            if part.startswith("<"):
                parts.append(roles[part[1:-1]])
            elif part.startswith("["):
                parts.append((part[1:-1], ""))
            else:
                parts.append((part,))
        names.extend("".join(choice) for choice in itertools.product(*parts))
    return names


def _config_keys(rules_dir: Path) -> dict[str, ConfigKey]:
    keys: dict[str, ConfigKey] = {}
    for path in sorted((rules_dir / "config").glob("*.json")):
        data = json.loads(path.read_text("utf-8"))
        for key, entry in data["keys"].items():
            keys[key] = ConfigKey.model_construct(
                type=entry.get("type", ""),
                default=entry.get("default"),
                versions=tuple(entry.get("in", ())),
                removed=entry.get("removed"),
                also_written=entry.get("also_written"),
            )
            if "also_written" in entry:
                section = key.rpartition(".")[0]
                keys[f"{section}.{entry['also_written']}"] = keys[key]
    return keys


def _twice(rules_dir: Path, names: list[str]) -> list[RuleError]:
    return [
        RuleError(f"{rules_dir.name}/metrics: series {name!r} is defined twice")
        for name, count in Counter(names).items()
        if count > 1
    ]
