"""What the findings document says of past runs."""

from __future__ import annotations

import json
from typing import Any

from analyzer.findings.seen import PastNote, PastRun, SeenBefore, SettingPair, Shape


def seen_document(seen: SeenBefore) -> dict[str, Any]:
    """`seen_before` of the findings document."""
    findings = {name: [_run(run) for run in runs] for name, runs in seen.nearest}
    return {"runs": seen.runs, "findings": findings}


def _run(run: PastRun) -> dict[str, Any]:
    return {
        "run": run.run,
        "path": run.path,
        "started": run.started,
        "distance": run.distance,
        "rules": {"both": list(run.both), "here": list(run.here), "there": list(run.there)},
        "onset": {"here": _shape(run.shape_here), "there": _shape(run.shape_there)},
        "settings": None if run.keys is None else _settings(run.keys, run.differ),
        "same_rules": run.same_rules,
        "note": run.note and _note(run.note),
        "note_error": run.note_error or None,
        "report": run.report or None,
    }


def _shape(shape: Shape | None) -> dict[str, float] | None:
    if shape is None:
        return None
    return {"place": shape.place, "interval": shape.interval, "held": shape.held}


def _settings(keys: int, differ: tuple[SettingPair, ...]) -> dict[str, Any]:
    return {
        "compared": keys,
        "differ": [
            {"key": pair.key, "here": _value(pair.here), "there": _value(pair.there)}
            for pair in differ
        ],
    }


def _value(text: str | None) -> Any:
    return None if text is None else json.loads(text)


def _note(note: PastNote) -> dict[str, str | None]:
    return {
        "done": note.done,
        "outcome": note.outcome or None,
        "by": note.by or None,
        "link": note.link or None,
    }
