"""The procedures of the rule pack, and a run's way through them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from compared_runs import CATALOG

from analyzer.compare.model import Comparison
from analyzer.compare.procedure import follow
from analyzer.compare.procedure_files import LoadedProcedure, load_procedures
from analyzer.compare.procedure_model import Procedure
from analyzer.compare.runs import compare
from analyzer.findings.model import Judgement
from analyzer.resources import rules_dir
from analyzer.rulebook.evaluate import Judge
from analyzer.rulebook.load import load_rulebook
from analyzer.tables.run import RunTables

RULEBOOK = load_rulebook([rules_dir()], CATALOG)
RULES = [rule.id for rule in RULEBOOK.rules]
PROCEDURES = load_procedures([rules_dir()], CATALOG, RULES)


def named(name: str) -> LoadedProcedure:
    """The procedure of the pack of that id."""
    return next(procedure for procedure in PROCEDURES if procedure.spec.id == name)


def judged(run: RunTables) -> Judgement:
    """What the rules of the pack say of the run."""
    return Judge(RULEBOOK, CATALOG, run, "test").judgement(has_series=True)


def followed(
    run: RunTables,
    others: Mapping[str, Sequence[RunTables]] | None = None,
    procedures: Sequence[LoadedProcedure] = PROCEDURES,
    language: str = "en",
) -> dict[str, Procedure]:
    """The procedures that apply to the run beside others in their roles, by id."""
    found: list[Comparison] = []
    for role, runs in (others or {}).items():
        run.others[role] = tuple(runs)
        found.append(compare(role, [run], runs))
    return {p.id: p for p in follow(procedures, run, judged(run), found, language)}
