"""`analyzer rules …` and `analyzer metrics …`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from analyzer import pipeline_rules
from analyzer.errors import ExitCode

rules_app = typer.Typer(no_args_is_help=True, help="List, show, lint and test the rules.")
metrics_app = typer.Typer(no_args_is_help=True, help="List and explain the metrics.")

RuleDirs = Annotated[
    Optional[list[Path]], typer.Option("--rules", help="A further directory of rules.")  # noqa: UP045
]
Quiet = Annotated[bool, typer.Option("--quiet", help="No messages on stderr but errors.")]
Debug = Annotated[bool, typer.Option("--debug", help="A traceback with an error.")]


@rules_app.command("list")
def list_rules(rules: RuleDirs = None, quiet: Quiet = False, debug: Debug = False) -> None:
    """One line a rule: topic, severity, title."""
    typer.echo(pipeline_rules.list_rules(rules or []), nl=False)


@rules_app.command("show")
def show_rule(
    rule: Annotated[str, typer.Argument(help="The rule's id.")],
    rules: RuleDirs = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """A rule in words, its parameters, its YAML and its runbook."""
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
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Run the tests that stand beside the rules."""
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
