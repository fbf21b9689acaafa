"""The form of a test file, X.test.yaml beside X.yaml."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from analyzer.errors import RuleError, RuleErrors
from analyzer.findings.model import Severity
from analyzer.rulebook.load import Rulebook
from analyzer.rulebook.model import Strict
from analyzer.rulebook.testing.language import parse_series
from analyzer.rulebook.testing.responses import Bunch
from analyzer.strict_yaml import Document, YamlPath, did_you_mean, load_document, validate
from analyzer.tables.catalog import Catalog

KINDS = ("fires", "clear", "not-checked", "boundary")
LOG_LINE = re.compile(r"(?P<step>\d+|-) (?P<level>[A-Z]+) (?P<logger>[^:]+): (?P<message>.*)", re.S)


class Sparse(Strict):
    """A series logged only at each n-th step."""

    every: Annotated[int, Field(ge=1)]
    values: str


class Expected(Strict):
    """A finding that must be there; fields left out are not compared."""

    rule: str
    severity: Severity
    onset: tuple[int, int] | None = Field(default=None, description="first and last step allowed")
    caused_by: tuple[str, ...] | None = None
    suppressed_by: str | None = None
    remedies: tuple[Literal["apply", "already", "unknown"], ...] | None = None


class Case(Strict):
    """One test."""

    name: str
    kind: Literal["fires", "clear", "not-checked", "boundary"]
    cases: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    series: dict[str, str | Sparse] = Field(default_factory=dict)
    samples: tuple[Bunch, ...] = Field(default=(), description="responses in rollout dumps")
    config: dict[str, Any] | None = None
    log: tuple[str, ...] | None = None
    resumes: tuple[int, ...] = ()
    against: dict[Literal["sync", "testset", "baseline", "sibling"], dict[str, str | Sparse]] = (
        Field(default_factory=dict, description="the series of runs in other roles")
    )
    facts: dict[Literal["total_steps", "steps_per_epoch"], int] = Field(default_factory=dict)
    digits: int = 17
    expect: tuple[Expected, ...]
    states: dict[str, Literal["fired", "clear", "not-checked", "error"]] = Field(
        default_factory=dict
    )


class TestForm(Strict):
    """A test file as written."""

    rule: str
    tests: Annotated[tuple[Case, ...], Field(min_length=1)]


@dataclass(frozen=True)
class TestFile:
    """A test file that was read."""

    path: str
    rule: str
    cases: tuple[Case, ...]
    document: Document


def load_tests(
    directories: Sequence[Path], rulebook: Rulebook, catalog: Catalog
) -> tuple[TestFile, ...]:
    """All test files below the directories. Raises RuleErrors with every fault."""
    errors: list[RuleError] = []
    files = []
    for directory in directories:
        for path in sorted(directory.rglob("*.test.yaml")):
            shown = f"{directory.name}/{path.relative_to(directory).as_posix()}"
            document = load_document(path, shown)
            form = None if document.errors else validate(TestForm, document)
            if form is not None:
                _check(form, document, rulebook, catalog)
                files.append(TestFile(shown, form.rule, form.tests, document))
            errors.extend(document.errors)
    if errors:
        raise RuleErrors(errors)
    return tuple(files)


def _check(form: TestForm, document: Document, rulebook: Rulebook, catalog: Catalog) -> None:
    known = [rule.id for rule in rulebook.rules]
    if form.rule not in known:
        hint = did_you_mean(form.rule, known)
        document.errors.append(document.error(("rule",), f"unknown rule {form.rule!r}", hint))
    for i, case in enumerate(form.tests):
        for rule in {*case.rules, *(e.rule for e in case.expect), *case.states}:
            if rule not in known:
                where: YamlPath = ("tests", i)
                hint = did_you_mean(rule, known)
                document.errors.append(document.error(where, f"unknown rule {rule!r}", hint))
        for name, text in case.series.items():
            _check_series(document, catalog, ("tests", i, "series", name), text)
        for role, series in case.against.items():
            for name, text in series.items():
                where = ("tests", i, "against", role, name)
                _check_series(document, catalog, where, text)
        for j, line in enumerate(case.log or ()):
            if LOG_LINE.fullmatch(line) is None:
                where = ("tests", i, "log", j)
                message = f"log line {line!r} is not `<step or -> LEVEL logger: message`"
                document.errors.append(document.error(where, message))


def _check_series(
    document: Document, catalog: Catalog, where: YamlPath, text: str | Sparse
) -> None:
    name = str(where[-1])
    if name not in catalog.metrics and name not in catalog.aliases:
        names = [*catalog.metrics, *catalog.aliases]
        hint = "derived series are computed, not given" if name in catalog.derived else ""
        hint = hint or did_you_mean(name, names)
        document.errors.append(document.error(where, f"unknown series {name!r}", hint))
    try:
        parse_series(text if isinstance(text, str) else text.values, name)
    except ValueError as cause:
        document.errors.append(document.error(where, str(cause)))
