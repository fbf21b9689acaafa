"""analyzer.yaml: what a project sets for all its runs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from analyzer.errors import RuleErrors
from analyzer.strict_yaml import load_document, validate

FILE = Path("analyzer.yaml")


class Disabled(BaseModel):
    """A rule that is not to be judged, and why."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    rule: str
    reason: Annotated[str, Field(min_length=3)]


class Form(BaseModel):
    """The file as written."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    rules: tuple[str, ...] = Field(default=(), description="further directories of rules")
    parameters: dict[str, float] = Field(default_factory=dict, description="rule.parameter → value")
    disabled: tuple[Disabled, ...] = ()
    aliases: dict[str, tuple[str, ...]] = Field(
        default_factory=dict, description="canonical name → further names as logged"
    )


@dataclass(frozen=True, slots=True)
class ParameterSetting:
    """A parameter with the line that sets it."""

    rule: str
    param: str
    value: float
    source: str


@dataclass(frozen=True)
class Project:
    """A project's settings; empty where there is no file."""

    rules: tuple[Path, ...] = ()
    parameters: tuple[ParameterSetting, ...] = ()
    disabled: tuple[tuple[str, str], ...] = ()  # rule → reason with the line
    aliases: tuple[tuple[str, str], ...] = ()  # name as logged → canonical name


def load_project(path: Path = FILE) -> Project:
    """Read the file, if it is there. Raises RuleErrors with every fault."""
    if not path.is_file():
        return Project()
    document = load_document(path)
    form = None if document.errors else validate(Form, document)
    settings = []
    for name, value in (form.parameters if form else {}).items():
        rule, dot, param = name.rpartition(".")
        where = ("parameters", name)
        if not dot:
            document.errors.append(document.error(where, f"{name!r} is not rule.parameter"))
        source = f"{path.name}:{document.at(where).line}"
        settings.append(ParameterSetting(rule, param, value, source))
    if document.errors or form is None:
        raise RuleErrors(document.errors)
    return Project(
        tuple(path.parent / folder for folder in form.rules),
        tuple(settings),
        tuple(
            (entry.rule, f"{entry.reason} ({path.name}:{document.at(('disabled', i)).line})")
            for i, entry in enumerate(form.disabled)
        ),
        tuple((logged, name) for name, names in form.aliases.items() for logged in names),
    )
