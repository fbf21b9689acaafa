"""The table of all runs, and the map of runs × rules."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from analyzer.findings.model import Verdict
from analyzer.fleet.rows import Row
from analyzer.fleet.site.heat import ROW, HeatMap, heat_map
from analyzer.fleet.site.model import SiteRun
from analyzer.fleet.site.weeks import VERDICTS
from analyzer.fleet.site.wording import amount, level, n


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the table of runs."""

    label: str
    style: str = ""


COLUMNS = (
    Column("Run"),
    Column("Verdict"),
    Column("Task reward"),
    Column("First finding"),
    Column("Onset", "n"),
    Column("Steps", "n"),
    Column("Hours", "n"),
    Column("GPU-hours", "n"),
    Column("Began", "n"),
)


@dataclass(frozen=True)
class IndexPage:
    """The table of all runs."""

    summary: str
    verdicts: tuple[tuple[Verdict, int], ...]
    rules: tuple[tuple[str, int], ...]  # by name
    notes: tuple[str, ...]
    root: str  # the folder that all runs lie below
    runs: tuple[SiteRun, ...]  # the latest first
    columns: tuple[Column, ...] = COLUMNS

    def place(self, row: Row) -> str:
        """Where the run lies below that folder; "" where its name says it."""
        place = os.path.relpath(row.path, self.root) if self.root else row.path
        return "" if place == row.run else place

    def level(self, run: SiteRun) -> str:
        """The reward's first and last value drawn."""
        return f"{level(run.curve[0][1])} → {level(run.curve[-1][1])}"


def index_page(runs: Sequence[SiteRun]) -> IndexPage:
    """The page with all runs."""
    verdicts = Counter(run.row.verdict for run in runs)
    found = Counter(finding.rule for run in runs for finding in run.findings)
    root = _root([run.row.path for run in runs])
    return IndexPage(
        _verdict_sentence(runs, verdicts),
        tuple((v, verdicts[v]) for v in VERDICTS if verdicts[v]),
        tuple(sorted(found.items())),
        tuple(_notes(runs, root)),
        root,
        tuple(sorted(runs, key=lambda run: run.row.started or "", reverse=True)),
    )


def _verdict_sentence(runs: Sequence[SiteRun], verdicts: Mapping[Verdict, int]) -> str:
    sick = verdicts["error"] + verdicts["warning"]
    judged = len(runs) - verdicts["cannot-judge"]
    said = f"{sick:,} of {judged:,} runs that could be judged have an error or a warning."
    return " ".join([said, *_costs(runs)])


def _costs(runs: Sequence[SiteRun]) -> list[str]:
    """Hours and GPU-hours in all, and of how many runs they are known."""
    hours = [run.row.hours for run in runs if run.row.hours is not None]
    costs = [run.gpu_hours for run in runs if run.gpu_hours is not None]
    if not hours:
        return []
    said = f"{amount(sum(hours))} hours"
    if costs and len(costs) < len(hours):
        said += f" in {n(len(hours), 'run')}"
    if costs:
        said += f" and {amount(sum(costs))} GPU-hours"
    return [f"{said} in {n(len(costs) or len(hours), 'run')}."]


def _root(paths: Sequence[str]) -> str:
    folders = [str(Path(path.partition("#")[0]).parent) for path in paths]
    return os.path.commonpath(folders) if folders else ""


def _notes(runs: Sequence[SiteRun], root: str) -> list[str]:
    notes = [f"Paths are below {root}."] if root else []
    reports = sum(bool(run.report) for run in runs)
    if reports < len(runs):
        written = f"{n(reports, 'run')} of {len(runs):,}" if reports else "no run"
        notes.append(f"A report was written for {written}; the others’ names are no links.")
    notes.append(
        "The line is the task reward over its own range, from its first to its last step; the "
        "dashed mark is the onset of the first finding. Hours are from the first logged step to "
        "the last; GPU-hours need the number of GPUs in the configuration."
    )
    return notes


@dataclass(frozen=True)
class MapPage:
    """The heat map."""

    map: HeatMap
    summary: str
    data: str  # JSON for the script
    row: int = ROW


def map_page(runs: Sequence[SiteRun]) -> MapPage:
    """The page with the map of runs × rules."""
    drawn = heat_map(runs)
    left = len(runs) - len(drawn.runs)
    summary = (
        f"{n(len(drawn.runs), 'run')} with {n(len(drawn.rules), 'rule')}: each column is a run, "
        f"each line a rule. Runs with the same findings stand together, and so do rules that the "
        f"same runs have."
    )
    if left:
        verb = "has" if left == 1 else "have"
        summary += f" {n(left, 'further run')} {verb} no finding and no column."
    data = {
        "column": drawn.column,
        "row": ROW,
        "rules": [rule for rule, _ in drawn.rules],
        "runs": [
            [run.row.run, run.report, cells]
            for run, cells in zip(drawn.runs, drawn.cells(), strict=True)
        ],
    }
    return MapPage(drawn, summary, _script_json(data))


def _script_json(data: object) -> str:
    """JSON that cannot end the script element it stands in."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")
