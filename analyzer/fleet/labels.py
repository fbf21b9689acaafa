"""about.yaml in a run's folder: what a diagnosis must find there, may find, and must not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from analyzer.errors import Location, RuleErrors, RunError
from analyzer.strict_yaml import load_document, validate

FILE = "about.yaml"
Place = Literal["must", "may", "must-not", "not named"]


class Named(BaseModel):
    """A finding by its rule; what else is said of it is not read."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    rule: str


class Findings(BaseModel):
    """Findings as a whole verdict tells them."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    findings: tuple[Named, ...]


class Label(BaseModel):
    """What is read of the file; it may say more."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    must_find: tuple[str, ...] | Findings  # `a|b` for either
    may_find: tuple[str, ...] = ()
    must_not_find: tuple[str, ...] = ()


@dataclass(frozen=True)
class Labelled:
    """A run with its label."""

    path: Path
    label: Label

    @property
    def must_find(self) -> tuple[frozenset[str], ...]:
        """Of each one rule has to fire."""
        wanted = self.label.must_find
        if isinstance(wanted, Findings):
            return tuple(frozenset((finding.rule,)) for finding in wanted.findings)
        return tuple(frozenset(entry.split("|")) for entry in wanted)

    def place(self, rule: str) -> Place:
        """What the label says of a rule."""
        if any(rule in entry for entry in self.must_find):
            return "must"
        if rule in self.label.may_find:
            return "may"
        return "must-not" if rule in self.label.must_not_find else "not named"

    def instead(self, rule: str) -> tuple[tuple[str, ...], ...]:
        """For each entry that asks for the rule, the others that would do as well."""
        entries = (entry for entry in self.must_find if rule in entry)
        return tuple(tuple(sorted(entry - {rule})) for entry in entries)


def read_labels(places: Sequence[Path]) -> list[Labelled]:
    """The labels of those places that have one.

    Raises RunError where none has, RuleErrors where one is at fault.
    """
    labelled = [place for place in places if (place / FILE).is_file()]
    if places and not labelled:
        where = Location(", ".join(map(str, places)))
        raise RunError(f"no {FILE} in it", at=where, hint="give folders of labelled runs")
    return [_read(place) for place in labelled]


def _read(run: Path) -> Labelled:
    path = run / FILE
    document = load_document(path)
    label = None if document.errors else validate(Label, document)
    if label is None:
        raise RuleErrors(document.errors)
    return Labelled(run, label)
