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
from analyzer.fleet.associate import associate as settings_with
from analyzer.fleet.associations import AssociationForm, render_associations
from analyzer.fleet.batch import Selection, run_batch
from analyzer.fleet.progress import Progress
from analyzer.fleet.reports import Reports
from analyzer.fleet.rows import FLEET
from analyzer.fleet.show import TableForm, render_rows
from analyzer.pipeline import open_rules


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
    site: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option("--site", help="Write pages of all runs in the store into this folder."),
    ] = None,
    reports: Annotated[
        Optional[Reports],  # noqa: UP045
        typer.Option(
            "--reports",
            help="Runs whose postmortem is written for the site [default: findings, with --site].",
        ),
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
    wanted: Reports = reports or ("findings" if site else "none")
    ended = run_batch(roots, settings, selection, jobs or os.cpu_count() or 1, progress, wanted)
    say(ended.summary())
    if site:
        # Jinja and fonts are slow to import, and other commands need neither.
        from analyzer.fleet.site.build import build_site

        say(f"the site is {build_site(store, site, open_rules(settings).rulebook)}")
    typer.echo(render_rows(ended.rows, format), nl=False)
    raise typer.Exit(ended.exit_code(fail_on))


def site(
    folder: Annotated[Path, typer.Argument(help="Where the pages are written.")],
    rules: RuleDirs = None,
    store: StoreDir = pipeline.DEFAULT_STORE,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Write the pages of all runs in a store anew; `batch --site` judges them first."""
    from analyzer.fleet.site.build import build_site

    settings = settings_of(store, rules, None, None)
    typer.echo(build_site(store, folder, open_rules(settings).rulebook))


def associate(
    findings: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option(
            "--finding", help="Only this rule; may be given several times [default: all]."
        ),
    ] = None,
    rate: Annotated[
        float,
        typer.Option("--fdr", min=0, max=1, help="Share of what is shown that may be chance."),
    ] = 0.05,
    format: Annotated[
        AssociationForm, typer.Option("--format", help="Form of the answer.")
    ] = "text",
    store: StoreDir = pipeline.DEFAULT_STORE,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Say which settings go with a finding in the runs that `batch` judged."""
    found = settings_with(store / FLEET, findings or (), rate)
    typer.echo(render_associations(found, format), nl=False)
