"""The whole flow: files, tables, rules, findings, documents."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from analyzer import __version__
from analyzer.errors import ExitCode
from analyzer.findings.model import (
    SEVERITIES,
    DataNote,
    Judgement,
    RunSummary,
    Severity,
    SourceSummary,
    Verdicts,
)
from analyzer.resources import rules_dir
from analyzer.rulebook.evaluate import Judge
from analyzer.rulebook.load import Override, Rulebook, load_rulebook
from analyzer.sources.discover import discover
from analyzer.tables.catalog import Catalog, load_catalog
from analyzer.tables.ingest import Store, ingest
from analyzer.tables.manifest import Manifest
from analyzer.tables.run import RunTables

DEFAULT_STORE = Path(".analyzer")


@dataclass(frozen=True)
class Settings:
    """What a command was asked to do, beside the run."""

    store: Path = DEFAULT_STORE
    rules: tuple[Path, ...] = ()  # further rule directories
    overrides: tuple[Override, ...] = ()
    language: str = "en"


@dataclass(frozen=True)
class Judged:
    """A run with its judgement, and the tables behind it."""

    tables: RunTables
    manifest: Manifest
    verdicts: Verdicts


def open_catalog() -> Catalog:
    """The metric catalog of this installation."""
    return load_catalog(rules_dir())


def open_rulebook(catalog: Catalog, settings: Settings) -> Rulebook:
    """The rules of this installation and of the directories asked for."""
    return load_rulebook([rules_dir(), *settings.rules], catalog, settings.overrides)


def ingest_run(run: Path, store: Path, catalog: Catalog) -> Store:
    """Read what is new of a run into the store."""
    return ingest(discover(run), store, catalog)


def open_run(run: Path, store: Path, catalog: Catalog) -> RunTables:
    """A run's tables, brought up to date."""
    found = ingest_run(run, store, catalog)
    return RunTables.open(found.path, found.state.manifest, catalog)


def judge_run(run: Path, settings: Settings) -> Judged:
    """Read a run and judge it by all rules."""
    catalog = open_catalog()
    rulebook = open_rulebook(catalog, settings)
    tables = open_run(run, settings.store, catalog)
    manifest = tables.manifest
    judge = Judge(rulebook, catalog, tables, manifest.run, settings.language)
    judgement = judge.judgement(has_series=manifest.step_count > 0)
    return Judged(tables, manifest, _verdicts(manifest, judgement))


def _verdicts(manifest: Manifest, judgement: Judgement) -> Verdicts:
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
        tuple(DataNote(n.kind, n.detail, n.steps, n.source) for n in manifest.notes)
        + tuple(DataNote("left-aside", s.reason, None, s.path) for s in manifest.skipped),
    )


def exit_code(judged: Judged, fail_on: Severity) -> ExitCode:
    """0, 1 or 2 of the contract."""
    verdict = judged.verdicts.judgement.verdict
    if verdict == "cannot-judge":
        return ExitCode.CANNOT_JUDGE
    if verdict != "ok" and SEVERITIES.index(verdict) >= SEVERITIES.index(fail_on):
        return ExitCode.FINDINGS
    return ExitCode.JUDGED
