"""`analyzer batch`: many runs."""

from __future__ import annotations

import os
import sys
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Annotated, Literal, Optional

import typer

from analyzer import pipeline
from analyzer.cli_options import (
    Debug,
    FailOn,
    Quiet,
    RuleDirs,
    Sets,
    SuppressFile,
    settings_of,
    teller,
)
from analyzer.errors import UsageError
from analyzer.fleet.associate import associate as settings_with
from analyzer.fleet.associations import AssociationForm, render_associations
from analyzer.fleet.batch import Selection, run_batch
from analyzer.fleet.depot import depot_at
from analyzer.fleet.engine import Engine, run_local
from analyzer.fleet.judge import Judging
from analyzer.fleet.progress import Progress
from analyzer.fleet.reports import REPORTS, Reports
from analyzer.fleet.rows import FLEET, ROWS
from analyzer.fleet.show import TableForm, render_rows
from analyzer.pipeline import open_rules

AnyStore = Annotated[
    str, typer.Option("--store", help="Where results are kept: a folder, or s3://BUCKET/PREFIX.")
]


def batch(
    roots: Annotated[list[Path], typer.Argument(help="Folders with runs below them.")],
    jobs: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option("--jobs", min=1, help="Runs judged at the same time [default: processors]."),
    ] = None,
    engine: Annotated[
        Literal["local", "ray"], typer.Option("--engine", help="Who judges: processes, or Ray.")
    ] = "local",
    address: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            "--address", help="HOST:PORT of the Ray cluster [default: RAY_ADDRESS, or one here]."
        ),
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
    store: AnyStore = str(pipeline.DEFAULT_STORE),
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Judge every run below some folders; the exit code is that of the worst."""
    depot = depot_at(store)
    settings = settings_of(depot.mirror if depot else Path(store), rules, sets, suppressions)
    selection = Selection(
        since.date() if since else None, tuple(include or ()), tuple(exclude or ())
    )
    say = teller(quiet)
    progress = Progress(say, bar=sys.stderr.isatty() and not quiet)
    kept: Reports = reports or ("findings" if site else "none")
    ended = run_batch(
        roots, Judging(settings, depot, kept), selection, _engine(engine, jobs, address), progress
    )
    say(ended.summary())
    if site:
        # Jinja and fonts are slow to import, and other commands need neither.
        from analyzer.fleet.site.build import build_site

        say(f"the site is {build_site(settings.store, site, open_rules(settings).rulebook)}")
    typer.echo(render_rows(ended.rows, format), nl=False)
    raise typer.Exit(ended.exit_code(fail_on))


def site(
    folder: Annotated[Path, typer.Argument(help="Where the pages are written.")],
    rules: RuleDirs = None,
    store: AnyStore = str(pipeline.DEFAULT_STORE),
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Write the pages of all runs in a store anew; `batch --site` judges them first."""
    from analyzer.fleet.site.build import build_site

    settings = settings_of(_here(store, ROWS, REPORTS), rules, None, None)
    typer.echo(build_site(settings.store, folder, open_rules(settings).rulebook))


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
    store: AnyStore = str(pipeline.DEFAULT_STORE),
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Say which settings go with a finding in the runs that `batch` judged."""
    found = settings_with(_here(store) / FLEET, findings or (), rate)
    typer.echo(render_associations(found, format), nl=False)


def _here(store: str, *folders: str) -> Path:
    """The store as a folder; of an object store the copy here, with these folders of the fleet."""
    depot = depot_at(store)
    if depot is None:
        return Path(store)
    depot.pull(*folders)
    return depot.mirror


def _engine(name: str, jobs: int | None, address: str | None) -> Engine:
    if name == "ray":
        from analyzer.fleet.ray_engine import run_on_ray

        return partial(run_on_ray, jobs=jobs, address=address)
    if address:
        raise UsageError("--address is the cluster's", hint="give --engine ray with it")
    return partial(run_local, jobs=jobs or os.cpu_count() or 1)
