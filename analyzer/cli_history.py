"""What past runs say of others: `analyzer calibrate`, and the runs told by --history."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Annotated, Optional

import typer

from analyzer import pipeline
from analyzer.cli_options import Debug, Quiet, RuleDirs, Sets, StoreDir, settings_of, teller
from analyzer.fleet.calibration import calibrate as run_calibration
from analyzer.fleet.calibration import render, write_overrides
from analyzer.fleet.history import open_history


def calibrate(
    healthy: Annotated[
        list[str],
        typer.Option("--healthy", help="Runs without a fault, as a glob; may be given several."),
    ],
    only: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option(
            "--rule",
            help="RULE or RULE.PARAM; may be given several [default: those that fire too often].",
        ),
    ] = None,
    rate: Annotated[
        float,
        typer.Option("--rate", min=0.0001, max=0.5, help="False alarms a rule and healthy run."),
    ] = 0.01,
    labelled: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option("--labelled", help="Runs with about.yaml, as a glob: what would change?"),
    ] = None,
    out: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option("--out", help="Write the limits into this file, for --set @FILE."),
    ] = None,
    day: Annotated[
        Optional[datetime],  # noqa: UP045
        typer.Option("--date", formats=["%Y-%m-%d"], help="The day named in it [default: today]."),
    ] = None,
    rules: RuleDirs = None,
    sets: Sets = None,
    store: StoreDir = pipeline.DEFAULT_STORE,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Propose limits for rules from runs that are known to be healthy."""
    settings = settings_of(store, rules, sets, None)
    found = run_calibration(healthy, labelled or [], only or [], rate, settings, teller(quiet))
    typer.echo(render(found), nl=False)
    if out is not None:
        write_overrides(found, out, day.date() if day else settings.today)


def beside_of(store: Path | None) -> Callable[[pipeline.Judged], pipeline.Judged] | None:
    """What adds the past runs of a store to a judged run; None without a store. Raises RunError."""
    return open_history(store).beside if store else None
