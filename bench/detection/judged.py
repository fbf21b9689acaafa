"""A run judged by all rules, by the plain thresholds, and at which step it would have been told."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from analyzer.findings.model import Finding
from analyzer.pipeline import Settings, open_catalog, open_rulebook, open_run
from analyzer.rulebook.evaluate import Judge
from analyzer.tables.run import RunTables
from detection.plain import last_values

TABLE_END = re.compile(rb"^\xe2\x95\x98.*$", re.MULTILINE)  # ╘, the lower edge of a step's table
NEAR = 2  # steps that the first telling step is known to
Record = dict[str, object]


@dataclass(frozen=True)
class Told:
    """A finding as the counts need it."""

    rule: str
    severity: str
    confidence: float
    onset: int | None
    suppressed: bool


class Judging:
    """Judges runs by the rules of this checkout, which are read once."""

    def __init__(self) -> None:
        self.catalog = open_catalog()
        self.rulebook = open_rulebook(self.catalog, Settings())

    def tables(self, run: Path, store: Path) -> RunTables:
        """The tables of a run."""
        return open_run(run, store, self.catalog)

    def findings(self, tables: RunTables) -> tuple[Finding, ...]:
        """Its findings, as `pipeline.judge_run` makes them."""
        judge = Judge(self.rulebook, self.catalog, tables, tables.manifest.run)
        return judge.judgement(has_series=tables.manifest.step_count > 0).findings

    def rules(self, tables: RunTables) -> frozenset[str]:
        """The rules whose findings count."""
        return frozenset(f.rule for f in self.findings(tables) if f.counts)


@cache
def judging() -> Judging:
    """One for each process."""
    return Judging()


def judged(tables: RunTables) -> Record:
    """Findings, what the plain thresholds say, and the number of steps."""
    found = [
        Told(
            finding.rule,
            finding.severity,
            finding.confidence,
            finding.onset.step if finding.onset else None,
            not finding.counts,
        )
        for finding in judging().findings(tables)
    ]
    return {
        "steps": tables.last_step + 1,
        "findings": [asdict(told) for told in found],
        "plain": sorted(last_values(tables)),
    }


def first_told(run: Path, rules: frozenset[str]) -> int | None:
    """The first logged step after which the run so far is told by one of the rules, to `NEAR`
    steps; None where the whole is not. It takes for granted that what was told once is told on.
    """
    log = next(run.rglob("main.log"))
    content = log.read_bytes()
    ends = [match.end() for match in TABLE_END.finditer(content)]
    with tempfile.TemporaryDirectory() as name:
        copy = Path(name) / "run"
        shutil.copytree(run, copy)
        short = copy / log.relative_to(run)

        def tells(count: int) -> bool:
            # What follows the last table belongs to the whole: an error that ended the run.
            short.write_bytes(content if count == len(ends) else content[: ends[count - 1] + 1])
            tables = judging().tables(copy, Path(name) / str(count))
            return bool(judging().rules(tables) & rules)

        return bisected(tells, len(ends))


def bisected(tells: Callable[[int], bool], count: int) -> int | None:
    """The smallest number of steps, to `NEAR`, for which it is true, from 0 as steps are."""
    if not count or not tells(count):
        return None
    below, at = 0, count
    while at - below > NEAR:
        middle = (below + at) // 2
        if tells(middle):
            at = middle
        else:
            below = middle
    return at - 1


def demanded(must: Sequence[str]) -> frozenset[str]:
    """All rules of the requirements."""
    return frozenset(rule for each in must for rule in each.split("|"))
