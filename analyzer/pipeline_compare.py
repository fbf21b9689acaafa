"""Runs against one another: for the report, and as `analyzer compare` prints it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from analyzer import pipeline
from analyzer.compare.model import Align, Comparison
from analyzer.compare.onsets import onset_differences
from analyzer.compare.procedure import follow
from analyzer.compare.procedure_model import Procedure
from analyzer.compare.runs import WATCHED, compare
from analyzer.errors import Location, RunError, UsageError
from analyzer.report.compared import PRINTED
from analyzer.strict_yaml import did_you_mean
from analyzer.tables.catalog import Catalog

OF_COMPARE = ("sibling", "baseline")  # roles that add a run to one of two sides


def comparisons(judged: pipeline.Judged, language: str) -> tuple[Comparison, ...]:
    """The run, with its siblings as further seeds, against the runs of each role.

    Against its siblings it stands alone.
    """
    return tuple(_against(judged, role, language) for role in judged.tables.others)


def procedures(
    judged: pipeline.Judged, others: Sequence[Comparison], language: str
) -> tuple[Procedure, ...]:
    """The procedures that apply to the run, followed with the runs beside it. Raises RuleErrors."""
    loaded = pipeline.open_procedures(judged.tables.catalog, judged.rulebook, judged.settings)
    return follow(loaded, judged.tables, judged.verdicts.judgement, others, language)


def compare_runs(
    run: Path,
    baseline: Path,
    settings: pipeline.Settings,
    align: Align,
    metrics: Sequence[str],
    delta: float,
    form: str,
) -> str:
    """A run against a baseline as text, JSON or Markdown.

    `settings.against` adds siblings of the run and further baselines. Raises RunError where they
    cannot be compared, UsageError for another role or an unknown series.
    """
    for role, _ in settings.against:
        if role not in OF_COMPARE:
            raise UsageError(
                f"--against {role}=… is not for compare",
                hint="sibling: another seed of RUN; baseline: another seed of BASELINE",
            )
    names = _known(metrics, pipeline.open_catalog(settings.project)) or WATCHED
    against = (("baseline", baseline), *settings.against)
    judged = pipeline.judge_run(run, replace(settings, against=against))
    found = _against(judged, "baseline", settings.language, align, names, delta)
    if not found.metrics:
        reasons = "; ".join(f"{name}: {why}" for name, why in found.left_out[:3])
        raise RunError(
            f"not comparable with {baseline}: {reasons}",
            at=Location(str(run)),
            hint="name series that both log with --metric",
        )
    return PRINTED[form](found)


def _against(
    judged: pipeline.Judged,
    role: str,
    language: str,
    align: Align = "step",
    metrics: Sequence[str] = WATCHED,
    delta: float = 0.0,
) -> Comparison:
    tables = judged.tables
    others = tables.others[role]
    siblings = () if role == "sibling" else tables.others.get("sibling", ())
    theirs = pipeline.judge_tables(others[0], judged.rulebook, language)
    return compare(
        role,
        (tables, *siblings),
        others,
        align=align,
        metrics=metrics,
        delta=delta,
        onsets=onset_differences(judged.verdicts.judgement, theirs),
    )


def _known(metrics: Sequence[str], catalog: Catalog) -> tuple[str, ...]:
    known = [*catalog.metrics, *catalog.derived]
    for name in metrics:
        if name not in known:
            hint = did_you_mean(name, known) or "analyzer metrics list"
            raise UsageError(f"--metric {name}: no such series", hint=hint)
    return tuple(dict.fromkeys(metrics))
