"""about.yaml in a run's folder: what a diagnosis must find there, may find, and must not."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from analyzer.errors import Location, RuleErrors, RunError
from analyzer.strict_yaml import load_document, validate

FILE = "about.yaml"
Place = Literal["must", "may", "must-not", "not named"]


class Label(BaseModel):
    """What is read of the file; it may say more."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    must_find: tuple[str, ...]  # `a|b` for either
    may_find: tuple[str, ...] = ()
    must_not_find: tuple[str, ...] = ()


@dataclass(frozen=True)
class Labelled:
    """A run with its label."""

    path: Path
    label: Label

    def place(self, rule: str) -> Place:
        """What the label says of a rule."""
        if any(rule in entry.split("|") for entry in self.label.must_find):
            return "must"
        if rule in self.label.may_find:
            return "may"
        return "must-not" if rule in self.label.must_not_find else "not named"

    def instead(self, rule: str) -> tuple[tuple[str, ...], ...]:
        """For each entry that asks for the rule, the others that would do as well."""
        entries = (entry.split("|") for entry in self.label.must_find)
        return tuple(tuple(r for r in entry if r != rule) for entry in entries if rule in entry)


def read_label(run: Path) -> Labelled:
    """The label of a run. Raises RunError where there is none, RuleErrors where it is at fault."""
    path = run / FILE
    if not path.is_file():
        raise RunError(f"no {FILE} in it", at=Location(str(run)), hint="give labelled runs")
    document = load_document(path)
    label = None if document.errors else validate(Label, document)
    if label is None:
        raise RuleErrors(document.errors)
    return Labelled(run, label)
