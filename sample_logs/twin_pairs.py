"""Which twins stand beside one another, and what is said of them: locked in comparisons.json."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from analyzer.compare.model import Comparison
from analyzer.compare.procedure import follow
from analyzer.pipeline import Settings, judge_run, open_procedures
from analyzer.pipeline_compare import comparisons

HERE = Path(__file__).resolve().parent / "twins"
LOCKED = "comparisons.json"
# Run → the others that it is compared with, by role.
PAIRS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "stale": (("sync", "stale_sync"),),
    "stale_sync": (("sibling", "stale_sync_2"),),
    "slow": (("sync", "slow_sync"), ("testset", "slow_testset")),
    "hard": (("sync", "hard_sync"), ("testset", "hard_testset")),
}


def compared(name: str, store: Path, folder: Path = HERE) -> dict[str, object]:
    """What a run's comparisons say of all series, and what the procedures come to."""
    against = tuple((role, folder / other) for role, other in PAIRS[name])
    settings = Settings(store=store, against=against)
    judged = judge_run(folder / name, settings)
    others = comparisons(judged, "en")
    tables = judged.tables
    procedures = open_procedures(tables.catalog, judged.rulebook, settings)
    followed = follow(procedures, tables, judged.verdicts.judgement, others)
    return {
        "run": name,
        "comparisons": [_said(found) for found in others],
        "procedures": {procedure.id: procedure.concluded for procedure in followed},
    }


def _said(found: Comparison) -> dict[str, object]:
    return {
        "role": found.role,
        "set differently": [row.key for row in found.config or ()],
        "verdicts": {metric.metric: metric.verdict for metric in found.metrics},
    }


def lock(store: Path, folder: Path = HERE) -> None:
    """Write down what is said of all of them, a run a line."""
    rows = [json.dumps(compared(name, store, folder)) for name in PAIRS]
    text = ",\n".join(f"  {row}" for row in rows)
    (folder / LOCKED).write_text(f"[\n{text}\n]\n", "utf-8")
