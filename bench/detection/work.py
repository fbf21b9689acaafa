"""One run from its settings to its record: what a worker process does."""

from __future__ import annotations

from pathlib import Path

from detection.cases import Case, made
from detection.judged import Record, demanded, first_told, judged, judging
from sample_logs.lab import SCENARIOS
from sample_logs.lab.truth import may_find, onset


def done(case: Case, cache: Path, lab: str, delays: range, make: bool) -> Record | None:
    """A run made, where the cache lacks it and it may be, and judged; else None."""
    folder = made(case, cache, lab, make)
    if folder is None:
        return None
    scenario, settings = SCENARIOS[case.scenario], case.settings
    record: Record = {
        "name": case.name,
        "scenario": case.scenario,
        "strength": case.strength,
        "seed": case.seed,
        "must": list(scenario.must_find),
        "may": list(may_find(scenario)),
        "must_not": list(scenario.must_not),
        "since": settings.changes[0].step if settings.changes else onset(settings) or 0,
        "onset": None if scenario.healthy else onset(settings),
    }
    record |= judged(judging().tables(folder, cache / "stores" / folder.name))
    due = demanded(scenario.must_find)
    if due and case.seed in delays and "killed-silently" not in due:
        record["told"] = first_told(folder, due)
    return record
