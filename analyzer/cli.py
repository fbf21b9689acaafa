"""The command line: parses, calls one pipeline function, maps the result to an exit code."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal, Optional

import typer

from analyzer import __version__, pipeline, pipeline_compare, pipeline_documents, pipeline_replay
from analyzer.cli_fleet import associate, batch, site
from analyzer.cli_history import beside_of, calibrate
from analyzer.cli_options import (
    Against,
    Debug,
    FailOn,
    Format,
    HistoryStore,
    Quiet,
    RuleDirs,
    Run,
    Sets,
    StoreDir,
    SuppressFile,
    settings_of,
    teller,
)
from analyzer.cli_rules import metrics_app, rules_app
from analyzer.errors import AnalyzerError, ExitCode, UsageError
from analyzer.findings.exports import EXPORTS
from analyzer.fleet.depot import depot_at
from analyzer.fleet.rows import FLEET
from analyzer.fleet.tables import answer, is_fleet

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Reads the logs of a reinforcement-learning run and says, with evidence, what went wrong.",
)
app.add_typer(rules_app, name="rules")
app.add_typer(metrics_app, name="metrics")


def _version(value: bool) -> None:
    if value:
        typer.echo(f"analyzer {__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="The version.")
    ] = False,
) -> None:
    pass


@app.command()
def report(
    run: Run,
    out: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option("--out", help="Directory of the documents [default: reports/<run name>]."),
    ] = None,
    formats: Annotated[
        str, typer.Option("--formats", help="Which documents, separated by commas.")
    ] = "html,pdf,json,md",
    against: Against = None,
    rules: RuleDirs = None,
    sets: Sets = None,
    suppressions: SuppressFile = None,
    lang: Annotated[
        Literal["en", "zh"], typer.Option("--lang", help="Language of the report.")
    ] = "en",
    replay: Annotated[
        Literal["auto", "off", "math", "model"],
        typer.Option(
            "--replay",
            help="Recorded batches: auto uses checkpoints where they fit this machine, math none, "
            "model always.",
        ),
    ] = "auto",
    history: HistoryStore = None,
    store: StoreDir = pipeline.DEFAULT_STORE,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Write the postmortem of a run: PDF, HTML, JSON and a Markdown comment."""
    settings = replace(
        settings_of(store, rules, sets, suppressions),
        language=lang,
        against=_roles(against or []),
    )
    written = pipeline_documents.report_run(
        run, settings, out, _formats(formats), teller(quiet), replay, beside_of(history)
    )
    for path in written:
        typer.echo(path)


@app.command()
def check(
    run: Run,
    format: Annotated[Format, typer.Option("--format", help="Form of the findings.")] = "text",
    fail_on: FailOn = "error",
    rules: RuleDirs = None,
    sets: Sets = None,
    baseline: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option("--baseline", help="Findings of an earlier check: those are known."),
    ] = None,
    suppressions: SuppressFile = None,
    against: Against = None,
    history: HistoryStore = None,
    store: StoreDir = pipeline.DEFAULT_STORE,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Judge a run and print the findings; the exit code says how it ended."""
    settings = replace(
        settings_of(store, rules, sets, suppressions),
        baseline=baseline,
        against=_roles(against or []),
    )
    judged = pipeline.judge_run(run, settings)
    if (beside := beside_of(history)) is not None:
        judged = beside(judged)
    typer.echo(EXPORTS[format](judged.verdicts), nl=False)
    raise typer.Exit(pipeline.exit_code(judged, fail_on))


app.command()(batch)
app.command()(site)
app.command()(associate)
app.command()(calibrate)


@app.command()
def compare(
    run: Run,
    baseline: Annotated[Path, typer.Argument(help="The run to compare it with.")],
    align: Annotated[
        Literal["step", "tokens", "time"], typer.Option("--align", help="What to compare by.")
    ] = "step",
    metrics: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option("--metric", help="Only this series; may be given several times."),
    ] = None,
    delta: Annotated[
        float, typer.Option("--delta", min=0, help="Differences within it do not matter.")
    ] = 0.0,
    format: Annotated[
        Literal["text", "json", "md"], typer.Option("--format", help="Form of the comparison.")
    ] = "text",
    against: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option("--against", help="sibling=RUN, baseline=RUN: another seed of either side."),
    ] = None,
    rules: RuleDirs = None,
    sets: Sets = None,
    store: StoreDir = pipeline.DEFAULT_STORE,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Compare two runs, or several seeds of each: better, worse, the same, or not separable."""
    settings = replace(settings_of(store, rules, sets, None), against=_roles(against or []))
    text = pipeline_compare.compare_runs(
        run, baseline, settings, align, metrics or [], delta, format
    )
    typer.echo(text, nl=False)


@app.command()
def ingest(
    run: Run,
    store: StoreDir = pipeline.DEFAULT_STORE,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Read a run's logs into Parquet tables and say what was found and left aside."""
    typer.echo(pipeline_documents.describe_ingest(run, store), nl=False)


@app.command()
def sql(
    run: Annotated[
        str,
        typer.Argument(
            help="A run; STORE/fleet: what `batch` keeps of many; or s3://BUCKET/PREFIX."
        ),
    ],
    query: Annotated[
        str,
        typer.Argument(
            help="One SELECT over metrics, standing, events, config, samples; of a fleet over "
            "runs, findings, checks, config, metrics and the views of docs/fleet-views.md."
        ),
    ],
    format: Annotated[
        Format, typer.Option("--format", help="text, json (one object a row) or md.")
    ] = "text",
    store: StoreDir = pipeline.DEFAULT_STORE,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Ask a run's tables, or those of a fleet, in SQL, read-only."""
    depot = depot_at(run)
    if depot:
        depot.pull()
    place = depot.mirror / FLEET if depot else Path(run)
    if depot or is_fleet(place):
        text = pipeline_documents.render_answer(answer(place, query), format)
    else:
        text = pipeline_documents.query_run(place, query, store, format)
    typer.echo(text, nl=False)


@app.command()
def doctor(
    path: Annotated[
        Optional[Path], typer.Argument(help="A file or directory to look at.")  # noqa: UP045
    ] = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Say what this installation can do, and which reader takes a file."""
    typer.echo(pipeline_documents.examine(path), nl=False)


@app.command()
def replay(
    run: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Argument(help="A run's directory, or one log file with its recordings beside it."),
    ] = None,
    bundle: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(
            "--bundle",
            help="One recorded batch alone, or a dump that a trainer wrote: docs/recording.md.",
        ),
    ] = None,
    conventions: Annotated[
        Literal["areal-2026-05", "areal-2026-08", "auto"],
        typer.Option("--conventions", help="Which AReaL; auto goes by what was recorded."),
    ] = "auto",
    format: Annotated[
        Literal["text", "json", "md"],
        typer.Option("--format", help="Form; of a single batch, text or json."),
    ] = "text",
    findings: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option("--finding", help="Only this finding; may be given several times."),
    ] = None,
    steps: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option("--steps", help="Only these recorded steps, separated by commas."),
    ] = None,
    rows: Annotated[
        int, typer.Option("--rows", min=1, help="Worst rows scored by a checkpoint, a step.")
    ] = pipeline_replay.Choice.rows,
    budget: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option("--budget", min=1, help="Tokens scored by a checkpoint, a step."),
    ] = None,
    mode: Annotated[
        Literal["math", "model", "auto"],
        typer.Option(
            "--replay",
            help="math: no model; model: use checkpoints at any cost; auto: where they fit.",
        ),
    ] = "auto",
    device: Annotated[
        Literal["auto", "cpu", "cuda", "mps"],
        typer.Option("--device", help="Where checkpoints run."),
    ] = "auto",
    dtype: Annotated[
        Literal["float64", "float32", "bfloat16", "float16"],
        typer.Option("--dtype", help="In which checkpoints score what the trainer scored."),
    ] = "float32",
    tensors: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option("--tensors", help="Write a single batch's tensors to this safetensors file."),
    ] = None,
    rules: RuleDirs = None,
    sets: Sets = None,
    store: StoreDir = pipeline.DEFAULT_STORE,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Recompute recorded batches: is the log right, and what caused what it says?"""
    if (run is None) == (bundle is None):
        raise UsageError("give either a run or --bundle DIR", hint="analyzer replay RUN")
    if bundle is not None:
        if format == "md":
            raise UsageError("--format md is for a run", hint="a single batch prints text or json")
        typer.echo(pipeline_replay.replay_bundle(bundle, conventions, format, tensors), nl=False)
        return
    assert run is not None
    if tensors is not None:
        raise UsageError("--tensors is for a single batch", hint="give --bundle DIR")
    choice = pipeline_replay.Choice(
        mode, tuple(findings or ()), _steps(steps), rows, budget, conventions, device, dtype
    )
    settings = settings_of(store, rules, sets, None)
    text = pipeline_replay.print_replay(run, settings, choice, format, teller(quiet))
    typer.echo(text, nl=False)


def _steps(text: str | None) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.split(",")) if text else ()
    except ValueError:
        raise UsageError(f"--steps {text!r} is not STEP,STEP", hint="--steps 40,80") from None


def _formats(text: str) -> tuple[str, ...]:
    chosen = tuple(part.strip() for part in text.split(",") if part.strip())
    for name in chosen:
        if name not in pipeline_documents.DOCUMENTS:
            raise UsageError(
                f"--formats: {name!r} is no document",
                hint=f"of {', '.join(pipeline_documents.DOCUMENTS)}",
            )
    return chosen


def _roles(texts: Sequence[str]) -> tuple[tuple[str, Path], ...]:
    roles = []
    for text in texts:
        role, equals, path = text.partition("=")
        if not equals or not path:
            raise UsageError(f"--against {text!r} is not ROLE=RUN", hint="--against sync=RUN")
        roles.append((role, Path(path)))
    return tuple(roles)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and leave with its exit code."""
    sys.exit(run_command(sys.argv[1:] if arguments is None else arguments))


def run_command(arguments: list[str]) -> int:
    """Run one command and return its exit code."""
    debug = "--debug" in arguments
    try:
        app(arguments, prog_name="analyzer")
        return int(ExitCode.JUDGED)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(ExitCode.JUDGED)
    except AnalyzerError as error:
        if debug:
            traceback.print_exc()
        typer.echo(str(error), err=True)
        return int(error.exit_code)
    except BrokenPipeError:
        sys.stderr.close()  # the reader of our output has gone; nothing is left to say
        return int(ExitCode.JUDGED)
    except Exception as error:
        if debug:
            traceback.print_exc()
        typer.echo(
            f"analyzer {__version__} has a defect: {type(error).__name__}: {error} "
            "(run it again with --debug and report what it prints)",
            err=True,
        )
        return int(ExitCode.DEFECT)


if __name__ == "__main__":
    main()
