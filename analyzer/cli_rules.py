"""`analyzer rules …` and `analyzer metrics …`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from analyzer import pipeline_rules
from analyzer.errors import ExitCode
from analyzer.findings.model import Severity

rules_app = typer.Typer(no_args_is_help=True, help="List, show, lint and test the rules.")
metrics_app = typer.Typer(no_args_is_help=True, help="List and explain the metrics.")

RuleDirs = Annotated[
    Optional[list[Path]], typer.Option("--rules", help="A further directory of rules.")  # noqa: UP045
]
Quiet = Annotated[bool, typer.Option("--quiet", help="No messages on stderr but errors.")]
Debug = Annotated[bool, typer.Option("--debug", help="A traceback with an error.")]


@rules_app.command("list")
def list_rules(
    topic: Annotated[
        Optional[str], typer.Option("--topic", help="Only rules of this topic.")  # noqa: UP045
    ] = None,
    severity: Annotated[
        Optional[Severity],  # noqa: UP045
        typer.Option("--severity", help="Only rules that can have this severity."),
    ] = None,
    metric: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option("--metric", help="Only rules that look at this series."),
    ] = None,
    rules: RuleDirs = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """One line a rule: topic, severity, title."""
    typer.echo(pipeline_rules.list_rules(rules or [], topic, severity, metric), nl=False)


@rules_app.command("new")
def new_rule(
    rule: Annotated[str, typer.Argument(help="The new rule's id, in kebab-case.")],
    folder: Annotated[
        Path, typer.Option("--rules", help="The directory of one's own rules.")
    ] = Path("rules"),
    topic: Annotated[str, typer.Option("--topic", help="The folder inside it.")] = "policy",
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Write a new rule with tests and a runbook, to be filled in."""
    typer.echo(pipeline_rules.new_rule(rule, topic, folder), nl=False)


@rules_app.command("show")
def show_rule(
    rule: Annotated[str, typer.Argument(help="The rule's id.")],
    rules: RuleDirs = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """A rule in words, what it computes, its parameters, its YAML and its runbook."""
    typer.echo(pipeline_rules.show_rule(rule, rules or []), nl=False)


@rules_app.command("lint")
def lint_rules(rules: RuleDirs = None, quiet: Quiet = False, debug: Debug = False) -> None:
    """Look for mistakes that loading does not find."""
    typer.echo(pipeline_rules.lint_rules(rules or []), nl=False)


@rules_app.command("test")
def test_rules(
    rules: RuleDirs = None,
    only: Annotated[
        str | None,
        typer.Option("--run", help="Only rules whose id matches this pattern (glob)."),
    ] = None,
    junit: Annotated[
        Optional[Path], typer.Option("--junit", help="Write the results as JUnit XML too.")  # noqa: UP045
    ] = None,
    mutate: Annotated[
        bool, typer.Option("--mutate", help="Nudge every parameter: does a test notice?")
    ] = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Run the tests that stand beside the rules."""
    if mutate:
        passed, text = pipeline_rules.mutate_rules(rules or [], only)
    else:
        passed, text = pipeline_rules.test_rules(rules or [], only, junit)
    typer.echo(text, nl=False)
    raise typer.Exit(int(ExitCode.JUDGED if passed else ExitCode.RULES_WRONG))


@rules_app.command("schema")
def schema(quiet: Quiet = False, debug: Debug = False) -> None:
    """The JSON Schema of a rule file, for editors."""
    typer.echo(pipeline_rules.rule_schema(), nl=False)


@metrics_app.command("list")
def list_metrics(quiet: Quiet = False, debug: Debug = False) -> None:
    """One line a metric: name, unit, meaning."""
    typer.echo(pipeline_rules.list_metrics(), nl=False)


@metrics_app.command("show")
def show_metric(
    name: Annotated[str, typer.Argument(help="Canonical name, or a name as logged.")],
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """What a metric means, its names, its known defects, and the rules that use it."""
    typer.echo(pipeline_rules.show_metric(name), nl=False)
