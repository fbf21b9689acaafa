"""notes.yaml in a run's folder: what was done about what was found in it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from analyzer.errors import RuleErrors
from analyzer.strict_yaml import load_document, validate

FILE = "notes.yaml"


class Note(BaseModel):
    """What was done, about all findings of the run or about some of them."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    done: Annotated[str, Field(min_length=3)]
    outcome: str = Field(default="", description="what came of it")
    by: str = Field(default="", description="whom to ask")
    link: str = Field(default="", description="where more is written; an address or a path")
    rules: tuple[str, ...] = Field(default=(), description="the findings it is about; all if none")


class Form(BaseModel):
    """The file as written."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    notes: tuple[Note, ...]


def read_notes(run: Path) -> tuple[Note, ...]:
    """The notes of a run, which is a folder or a file in it. Raises RuleErrors."""
    path = (run if run.is_dir() else run.parent) / FILE
    if not path.is_file():
        return ()
    document = load_document(path)
    form = None if document.errors else validate(Form, document)
    if form is None:
        raise RuleErrors(document.errors)
    return form.notes


def note_about(notes: tuple[Note, ...], rule: str) -> Note | None:
    """The first note about that rule by name, else the first about all findings."""
    named = [note for note in notes if rule in note.rules]
    return next(iter(named or [note for note in notes if not note.rules]), None)
