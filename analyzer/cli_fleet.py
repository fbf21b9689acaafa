"""`analyzer batch`: many runs."""

from __future__ import annotations

import os
import sys
from datetime import datetime
from pathlib import Path
from typing import Annotated, Optional

import typer

from analyzer import pipeline
from analyzer.cli_options import (
    Debug,
    FailOn,
    Quiet,
    RuleDirs,
    Sets,
    StoreDir,
    SuppressFile,
    settings_of,
    teller,
)
from analyzer.fleet.batch import Selection, run_batch
from analyzer.fleet.progress import Progress
from analyzer.fleet.show import TableForm, render_rows


def batch(
    roots: Annotated[list[Path], typer.Argument(help="Folders with runs below them.")],
    jobs: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option("--jobs", min=1, help="Runs judged at the same time [default: processors]."),
    ] = None,
    since: Annotated[
        Optional[datetime],  # noqa: UP045
        typer.Option("--since", formats=["%Y-%m-%d"], help="Only runs written to since this day."),
    ] = None,
    include: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option("--include", help="Only runs whose path below ROOT is like this glob."),
    ] = None,
    exclude: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option("--exclude", help="No run whose path below ROOT is like this glob."),
    ] = None,
    format: Annotated[TableForm, typer.Option("--format", help="Form of the table.")] = "text",
    fail_on: FailOn = "error",
    rules: RuleDirs = None,
    sets: Sets = None,
    suppressions: SuppressFile = None,
    store: StoreDir = pipeline.DEFAULT_STORE,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Judge every run below some folders; the exit code is that of the worst."""
    settings = settings_of(store, rules, sets, suppressions)
    selection = Selection(
        since.date() if since else None, tuple(include or ()), tuple(exclude or ())
    )
    say = teller(quiet)
    progress = Progress(say, bar=sys.stderr.isatty() and not quiet)
    ended = run_batch(roots, settings, selection, jobs or os.cpu_count() or 1, progress)
    say(ended.summary())
    typer.echo(render_rows(ended.rows, format), nl=False)
    raise typer.Exit(ended.exit_code(fail_on))
