"""The whole flow: files, tables, rules, findings, documents."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

from analyzer import __version__
from analyzer.compare.procedure_files import LoadedProcedure, load_procedures
from analyzer.errors import ExitCode, Location, UsageError
from analyzer.findings.model import (
    SEVERITIES,
    DataNote,
    Judgement,
    RunSummary,
    Severity,
    SourceSummary,
    Verdicts,
)
from analyzer.findings.suppressions import Suppressions, load_suppressions, mark_known, suppress
from analyzer.project import Project
from analyzer.resources import rules_dir
from analyzer.rulebook.evaluate import Judge
from analyzer.rulebook.load import Override, Rulebook, load_rulebook
from analyzer.sources.discover import discover
from analyzer.strict_yaml import did_you_mean
from analyzer.tables.catalog import Catalog, load_catalog
from analyzer.tables.ingest import Store, ingest
from analyzer.tables.manifest import Manifest
from analyzer.tables.run import RunTables

DEFAULT_STORE = Path(".analyzer")
ROLES = ("sync", "testset", "baseline", "sibling")  # of a run set beside; procedures have more


@dataclass(frozen=True)
class Settings:
    """What a command was asked to do, beside the run."""

    store: Path = DEFAULT_STORE
    rules: tuple[Path, ...] = ()  # further rule directories
    overrides: tuple[Override, ...] = ()  # from the command line; they count before the project's
    language: str = "en"
    project: Project = field(default_factory=Project)
    suppressions: Path | None = None  # suppress.yaml
    baseline: Path | None = None  # findings of an earlier check
    against: tuple[tuple[str, Path], ...] = ()  # role → run
    today: date = field(default_factory=date.today)


@dataclass(frozen=True)
class Rules:
    """What runs are judged by, loaded once."""

    catalog: Catalog
    rulebook: Rulebook
    suppressions: Suppressions
    known: frozenset[str] | None  # fingerprints of the baseline; None: there is none


@dataclass(frozen=True)
class Judged:
    """A run with its judgement, and the tables and rules behind it."""

    tables: RunTables
    manifest: Manifest
    verdicts: Verdicts
    rulebook: Rulebook
    settings: Settings


def open_catalog(project: Project | None = None) -> Catalog:
    """The metric catalog of this installation, with the project's own names."""
    return load_catalog(rules_dir(), (project or Project()).aliases)


def open_rulebook(catalog: Catalog, settings: Settings) -> Rulebook:
    """The rules of this installation, of the project and of the directories asked for."""
    project = settings.project
    theirs = (Override(p.rule, p.param, p.value, p.source) for p in project.parameters)
    return load_rulebook(
        rule_folders(settings),
        catalog,
        (*settings.overrides, *theirs),
        dict(project.disabled),
    )


def rule_folders(settings: Settings) -> list[Path]:
    """Where rules and procedures lie: of this installation, of the project, and those asked for."""
    return [rules_dir(), *settings.project.rules, *settings.rules]


def open_procedures(
    catalog: Catalog, rulebook: Rulebook, settings: Settings
) -> tuple[LoadedProcedure, ...]:
    """The procedures beside the rules. Raises RuleErrors."""
    return load_procedures(rule_folders(settings), catalog, [rule.id for rule in rulebook.rules])


def ingest_run(run: Path, store: Path, catalog: Catalog) -> Store:
    """Read what is new of a run into the store."""
    return ingest(discover(run), store, catalog)


def open_run(run: Path, store: Path, catalog: Catalog) -> RunTables:
    """A run's tables, brought up to date."""
    files = discover(run)
    found = ingest(files, store, catalog)
    return RunTables.open(found.path, found.state.manifest, catalog, files.root)


def open_rules(settings: Settings) -> Rules:
    """Everything that a run is judged by.

    Raises RuleErrors, and UsageError for the baseline and for a role that no run can have.
    """
    catalog = open_catalog(settings.project)
    rulebook = open_rulebook(catalog, settings)
    if any(role not in ROLES for role, _ in settings.against):
        _check_roles(settings, open_procedures(catalog, rulebook, settings))
    suppressions = _suppressions(settings, rulebook)
    known = known_fingerprints(settings.baseline) if settings.baseline else None
    return Rules(catalog, rulebook, suppressions, known)


def judge_run(run: Path, settings: Settings) -> Judged:
    """Read a run and judge it by all rules."""
    rules = open_rules(settings)
    return judge_opened(open_run(run, settings.store, rules.catalog), rules, settings)


def judge_opened(tables: RunTables, rules: Rules, settings: Settings) -> Judged:
    """Judge a run that has been read, beside others if it is to be, and set findings aside."""
    for role, other in settings.against:
        beside = open_run(other, settings.store, rules.catalog)
        tables.others[role] = (*tables.others.get(role, ()), beside)
    manifest = tables.manifest
    judgement = judge_tables(tables, rules.rulebook, settings.language)
    judgement, notes = suppress(judgement, rules.suppressions, manifest.run, settings.today)
    if rules.known is not None:
        judgement = mark_known(judgement, rules.known)
    verdicts = _verdicts(manifest, judgement, notes)
    return Judged(tables, manifest, verdicts, rules.rulebook, settings)


def judge_tables(tables: RunTables, rulebook: Rulebook, language: str) -> Judgement:
    """What the rules say of a run that was read, nothing set aside."""
    judge = Judge(rulebook, tables.catalog, tables, tables.manifest.run, language)
    return judge.judgement(has_series=tables.manifest.step_count > 0)


def _check_roles(settings: Settings, procedures: Iterable[LoadedProcedure]) -> None:
    """Raise UsageError for a role that neither the analyzer nor a procedure knows."""
    roles = dict.fromkeys([*ROLES, *(role for p in procedures for role in p.roles())])
    for role, run in settings.against:
        if role not in roles:
            hint = did_you_mean(role, list(roles)) or f"roles: {', '.join(roles)}"
            raise UsageError(f"--against {role}={run}: no such role", hint=hint)


def _suppressions(settings: Settings, rulebook: Rulebook) -> Suppressions:
    if settings.suppressions is None:
        return Suppressions()
    return load_suppressions(settings.suppressions, [rule.id for rule in rulebook.rules])


def known_fingerprints(path: Path) -> frozenset[str]:
    """The fingerprints in a findings document. Raises UsageError when it is none."""
    try:
        data = json.loads(path.read_text("utf-8"))
        return frozenset(finding["fingerprint"] for finding in data["findings"])
    except (OSError, ValueError, KeyError, TypeError) as cause:
        raise UsageError(
            f"not a findings document: {type(cause).__name__}",
            at=Location(str(path)),
            hint="give what `check --format json` wrote",
        ) from cause


def _verdicts(manifest: Manifest, judgement: Judgement, notes: tuple[DataNote, ...]) -> Verdicts:
    return Verdicts(
        __version__,
        RunSummary(
            manifest.run,
            tuple(
                SourceSummary(s.path, s.format, s.bytes, s.sha256, s.rows, s.notes)
                for s in manifest.sources
            ),
            manifest.framework,
            manifest.framework_version,
            manifest.first_step,
            manifest.last_step,
            manifest.step_count,
            len(manifest.attempts),
            manifest.started,
            manifest.ended,
        ),
        judgement,
        notes
        + tuple(DataNote(n.kind, n.detail, n.steps, n.source) for n in manifest.notes)
        + tuple(DataNote("left-aside", s.reason, None, s.path) for s in manifest.skipped),
    )


def exit_code(judged: Judged, fail_on: Severity) -> ExitCode:
    """0, 1 or 2 of the contract; what the baseline knows does not count."""
    judgement = judged.verdicts.judgement
    if judgement.verdict == "cannot-judge":
        return ExitCode.CANNOT_JUDGE
    counting = [f.severity for f in judgement.findings if f.counts and not f.known]
    limit = SEVERITIES.index(fail_on)
    grave = any(SEVERITIES.index(severity) >= limit for severity in counting)
    return ExitCode.FINDINGS if grave else ExitCode.JUDGED
