"""Findings that a person has set aside: suppress.yaml, with a reason and perhaps an end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from fnmatch import fnmatch
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from analyzer.errors import RuleError, RuleErrors
from analyzer.findings.model import DataNote, Finding, Judgement, Suppression
from analyzer.findings.ordering import verdict_of
from analyzer.strict_yaml import did_you_mean, load_document, validate


class Entry(BaseModel):
    """One suppression as written."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    rule: str
    run: str = Field(default="*", description="a glob over run names")
    steps: tuple[int, int] | None = Field(
        default=None, description="only findings that hold within these steps alone"
    )
    reason: Annotated[str, Field(min_length=3)]
    until: date | None = Field(default=None, description="the last day on which it counts")


class Form(BaseModel):
    """The file as written."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    suppress: tuple[Entry, ...]


@dataclass(frozen=True)
class Suppressions:
    """The entries of one file, with the place of each."""

    entries: tuple[tuple[Entry, str], ...] = ()


def load_suppressions(path: Path, rules: Sequence[str]) -> Suppressions:
    """Read suppress.yaml. Raises RuleErrors with every fault, an unknown rule among them."""
    document = load_document(path)
    errors: list[RuleError] = []
    form = None if document.errors else validate(Form, document)
    entries = []
    for i, entry in enumerate(form.suppress if form else ()):
        place = document.at(("suppress", i))
        if entry.rule not in rules:
            hint = did_you_mean(entry.rule, list(rules))
            where = ("suppress", i, "rule")
            errors.append(document.error(where, f"unknown rule {entry.rule!r}", hint))
        entries.append((entry, f"{path.name}:{place.line}"))
    if document.errors or errors:
        raise RuleErrors([*document.errors, *errors])
    return Suppressions(tuple(entries))


def suppress(
    judgement: Judgement, suppressions: Suppressions, run: str, today: date
) -> tuple[Judgement, tuple[DataNote, ...]]:
    """The judgement with the findings that an entry names set aside, and a note for each entry
    that has ended but would have named one."""
    findings = list(judgement.findings)
    notes = []
    for entry, place in suppressions.entries:
        for i, finding in enumerate(findings):
            if finding.suppressed is not None or not _names(entry, finding, run):
                continue
            until = entry.until.isoformat() if entry.until else None
            if entry.until is not None and entry.until < today:
                detail = f"{finding.rule} was set aside until {until}: {entry.reason}"
                notes.append(DataNote("expired-suppression", detail, None, place))
            else:
                findings[i] = replace(finding, suppressed=Suppression(place, entry.reason, until))
    ordered = tuple(sorted(findings, key=lambda finding: finding.suppressed is not None))
    judged = judgement.verdict != "cannot-judge"
    return replace(judgement, findings=ordered, verdict=verdict_of(ordered, judged)), tuple(notes)


def _names(entry: Entry, finding: Finding, run: str) -> bool:
    if entry.rule != finding.rule or not fnmatch(run, entry.run):
        return False
    if entry.steps is None or not finding.windows:
        return True
    first, last = entry.steps
    return all(first <= low and high <= last for low, high in finding.windows)


def mark_known(judgement: Judgement, fingerprints: frozenset[str]) -> Judgement:
    """The judgement with the findings of a baseline marked as known; none is left out."""
    findings = tuple(replace(f, known=f.fingerprint in fingerprints) for f in judgement.findings)
    return replace(judgement, findings=findings)
