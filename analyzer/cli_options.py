"""The options that several commands share, and the settings that they make."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal, Optional

import typer

from analyzer import pipeline, pipeline_documents
from analyzer.errors import UsageError
from analyzer.findings.model import Severity
from analyzer.project import load_project
from analyzer.rulebook.load import Override

SUPPRESSIONS = Path("suppress.yaml")
Format = Literal["text", "json", "sarif", "junit", "md"]

Run = Annotated[Path, typer.Argument(help="A run's directory, one log file, or FILE#RUN.")]


def _folder(place: str | Path) -> Path:
    if "://" in str(place):
        raise UsageError(f"--store {place}: only commands on many runs know object stores")
    return Path(place)


StoreDir = Annotated[
    Path,
    typer.Option(
        "--store",
        parser=_folder,
        metavar="PATH",
        help="Where what was read is kept; the run is not written to.",
    ),
]
RuleDirs = Annotated[
    Optional[list[Path]], typer.Option("--rules", help="A further directory of rules.")  # noqa: UP045
]
Sets = Annotated[
    Optional[list[str]],  # noqa: UP045
    typer.Option(
        "--set",
        help="RULE.PARAM=VALUE: another value for a rule's parameter; @FILE: those of a file.",
    ),
]
SuppressFile = Annotated[
    Optional[Path],  # noqa: UP045
    typer.Option("--suppress", help="Findings set aside [default: suppress.yaml, if it is here]."),
]
Against = Annotated[
    Optional[list[str]],  # noqa: UP045
    typer.Option(
        "--against",
        help="ROLE=RUN: a run beside; sync, testset, baseline, sibling, or of a procedure.",
    ),
]
HistoryStore = Annotated[
    Optional[Path],  # noqa: UP045
    typer.Option("--history", help="A store of `batch`: which past runs had the same?"),
]
FailOn = Annotated[Severity, typer.Option("--fail-on", help="Exit 1 from this severity on.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="No messages on stderr but errors.")]
Debug = Annotated[bool, typer.Option("--debug", help="A traceback with an error.")]


def settings_of(
    store: Path, rules: list[Path] | None, sets: list[str] | None, suppressions: Path | None
) -> pipeline.Settings:
    """What the options say, with the project's analyzer.yaml and suppress.yaml."""
    overrides = tuple(override for text in sets or () for override in _overrides(text))
    here = SUPPRESSIONS if SUPPRESSIONS.is_file() else None
    return pipeline.Settings(
        store,
        tuple(rules or ()),
        overrides,
        project=load_project(),
        suppressions=suppressions or here,
    )


def _overrides(text: str) -> Iterator[Override]:
    """One value, or all that a file in the form of analyzer.yaml sets."""
    if not text.startswith("@"):
        yield _override(text)
        return
    path = Path(text[1:])
    if not path.is_file():
        raise UsageError(f"--set {text}: no such file", hint="what calibrate --out wrote")
    for setting in load_project(path).parameters:
        yield Override(setting.rule, setting.param, setting.value, setting.source)


def _override(text: str) -> Override:
    name, equals, value = text.partition("=")
    rule, dot, param = name.rpartition(".")
    try:
        if not (equals and dot):
            raise ValueError
        return Override(rule, param, float(value), "--set")
    except ValueError:
        raise UsageError(
            f"--set {text!r} is not RULE.PARAM=NUMBER",
            hint="for example --set truncation.limit=0.1",
        ) from None


def teller(quiet: bool) -> pipeline_documents.Say:
    """Messages go to stderr, so that stdout holds data alone."""
    return (lambda text: None) if quiet else (lambda text: typer.echo(text, err=True))
