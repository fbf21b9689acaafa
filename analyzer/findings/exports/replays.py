"""What a replay says, as JSON, text and Markdown."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator
from typing import Any

from analyzer.findings.numbers import format_value, number
from analyzer.findings.replayed import (
    Compared,
    ReplayedStep,
    Replays,
    ReplayVerdict,
    WhatIf,
    WhatIfTable,
)

WIDTH = 100
COLUMNS = ("weight", "behaviour weight", "effective", "filtered", "loss", "gradient")


def verdict_document(verdict: ReplayVerdict) -> dict[str, Any]:
    """What the replay says of a finding: `replay` in the findings document."""
    return {
        "verdict": verdict.verdict,
        "cause": verdict.cause,
        "why": verdict.why,
        "compared": [_compared(c) for c in verdict.compared],
    }


def replays_document(replays: Replays) -> dict[str, Any]:
    """What was replayed of a run: `replays` in the findings document."""
    return {
        "mode": replays.mode,
        "conventions": replays.conventions,
        "steps": [_step(step) for step in replays.steps],
        "what_if": [_table(table) for table in replays.what_if],
        "record_next": replays.record_next,
        "notes": list(replays.notes),
    }


def _compared(compared: Compared) -> dict[str, Any]:
    return {
        "step": compared.step,
        "metric": compared.metric,
        "logged_as": compared.logged_as,
        "unit": compared.unit,
        "logged": number(compared.logged),
        "recomputed": number(compared.recomputed),
        "tolerance": number(compared.tolerance),
        "agrees": compared.agrees,
        "corrected": number(compared.corrected),
        "corrected_by": compared.corrected_by,
    }


def _step(step: ReplayedStep) -> dict[str, Any]:
    return {
        "step": step.step,
        "path": step.path,
        "role": step.role,
        "stage": step.stage,
        "rows": step.rows,
        "rows_of": step.rows_of,
        "outcome": step.outcome,
        "why": step.why,
        "compared": [_compared(c) for c in step.compared],
    }


def _table(table: WhatIfTable) -> dict[str, Any]:
    return {
        "step": table.step,
        "findings": list(table.findings),
        "rows": [_row(row) for row in table.rows],
    }


def _row(row: WhatIf) -> dict[str, Any]:
    return {
        "change": row.change,
        "config": {key: json.loads(value) for key, value in row.config},
        "importance_weight": number(row.importance_weight),
        "behave_weight": number(row.behave_weight),
        "effective": number(row.effective),
        "filtered": number(row.filtered),
        "loss": number(row.loss),
        "gradient_cosine": number(row.gradient_cosine),
    }


def render_json(replays: Replays) -> str:
    """Verdicts by finding and everything that was replayed, ending in a newline."""
    verdicts = {verdict.finding: verdict_document(verdict) for verdict in replays.verdicts}
    document = {"verdicts": verdicts, **replays_document(replays)}
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def render_text(replays: Replays) -> str:
    """The verdicts first, then the steps, then the alternatives."""
    lines = [_head(replays)]
    for verdict in replays.verdicts:
        cause = f" ({verdict.cause})" if verdict.cause else ""
        lines += ["", f"{verdict.verdict}{cause}: {verdict.finding}"]
        lines += textwrap.wrap(verdict.why, WIDTH, initial_indent="    ", subsequent_indent="    ")
    if replays.steps:
        lines += ["", "Steps:"]
        lines += [
            f"  {step.step} {step.outcome}, {_rows(step)}: {step.why}" for step in replays.steps
        ]
    for table in replays.what_if:
        lines += ["", f"What if, on the batch of step {table.step} ({', '.join(table.findings)}):"]
        lines += _aligned(table)
    if replays.notes:
        lines += ["", "Notes:", *(f"  {note}" for note in replays.notes)]
    if replays.record_next:
        lines += ["", "To record next time:", "", replays.record_next.rstrip()]
    return "\n".join(lines) + "\n"


def _head(replays: Replays) -> str:
    how = {"math": "without a model", "model": "with checkpoints", "off": "not replayed"}
    conventions = f" as {replays.conventions}" if replays.conventions else ""
    steps = len(replays.steps)
    return f"{steps} recorded step{'' if steps == 1 else 's'}{conventions}, {how[replays.mode]}"


def _rows(step: ReplayedStep) -> str:
    rows = (
        f"{step.rows} rows" if step.rows == step.rows_of else f"{step.rows} of {step.rows_of} rows"
    )
    return f"stage {step.stage}, {rows}"


def _aligned(table: WhatIfTable) -> Iterator[str]:
    rows = [("", *COLUMNS), *((row.change, *_cells(row)) for row in table.rows)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        cells = (
            c.ljust(w) if i == 0 else c.rjust(w)
            for i, (c, w) in enumerate(zip(row, widths, strict=True))
        )
        yield ("  " + "  ".join(cells)).rstrip()


def _cells(row: WhatIf) -> tuple[str, ...]:
    return (
        _cell(row.importance_weight),
        _cell(row.behave_weight),
        _cell(row.effective, "fraction"),
        _cell(row.filtered, "fraction"),
        _cell(row.loss),
        _cell(row.gradient_cosine),
    )


def _cell(value: float | None, unit: str = "1") -> str:
    return "–" if value is None else format_value(value, unit)


def render_markdown(replays: Replays) -> str:
    """The same for a comment or a ticket."""
    return "\n".join(_markdown(replays)) + "\n"


def _markdown(replays: Replays) -> Iterator[str]:
    yield f"## Replay\n\n{_head(replays)}."
    for verdict in replays.verdicts:
        cause = f" ({verdict.cause})" if verdict.cause else ""
        yield f"\n**{verdict.finding}: {verdict.verdict}{cause}.** {verdict.why}"
    if replays.steps:
        yield "\n| step | outcome | rows | why |\n|---|---|---|---|"
        for step in replays.steps:
            yield f"| {step.step} | {step.outcome} | {_rows(step)} | {step.why} |"
    for table in replays.what_if:
        yield f"\nWhat if, on the batch of step {table.step}:\n"
        yield "| | " + " | ".join(COLUMNS) + " |\n|---|" + "---|" * len(COLUMNS)
        for row in table.rows:
            yield f"| {row.change} | " + " | ".join(_cells(row)) + " |"
    for note in replays.notes:
        yield f"\n- {note}"
    if replays.record_next:
        yield f"\nTo record next time:\n\n```python\n{replays.record_next.rstrip()}\n```"


REPLAY_EXPORTS = {"text": render_text, "json": render_json, "md": render_markdown}
