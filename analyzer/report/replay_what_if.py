"""What would have been otherwise: alternatives on a recorded batch, beside the remedies."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from analyzer.findings.model import Finding, Remedy
from analyzer.findings.numbers import format_value
from analyzer.findings.replayed import Replays, WhatIf, WhatIfTable
from analyzer.report.replay_page import WhatIfRow, WhatIfView
from analyzer.report.words import Words

Column = tuple[str, str, Callable[[WhatIf], float | None]]
COLUMNS: tuple[Column, ...] = (
    ("importance_weight", "1", lambda row: row.importance_weight),
    ("behave_weight", "1", lambda row: row.behave_weight),
    ("effective", "fraction", lambda row: row.effective),
    ("filtered", "fraction", lambda row: row.filtered),
    ("loss", "1", lambda row: row.loss),
    ("gradient", "1", lambda row: row.gradient_cosine),
)


def what_ifs(finding: Finding, replays: Replays, words: Words) -> tuple[WhatIfView, ...]:
    """The tables that are about this finding's remedies."""
    return tuple(
        _table(table, finding, words)
        for table in replays.what_if
        if finding.id in table.findings and len(table.rows) > 1
    )


def supported(finding: Finding, replays: Replays, words: Words) -> dict[str, str]:
    """What the remedies that were tried on a recorded batch did there, by the remedy's text."""
    found: dict[str, str] = {}
    for table in replays.what_if:
        if finding.id not in table.findings or not table.rows:
            continue
        before = table.rows[0].effective
        for row in table.rows[1:]:
            remedy = _remedy(row, finding.remedies)
            if remedy is not None and before is not None and row.effective is not None:
                found.setdefault(remedy.do, _support(table.step, before, row.effective, words))
    return found


def _support(step: int, before: float, after: float, words: Words) -> str:
    return words(
        "replay.support",
        step=f"{step:,}",
        before=format_value(before, "fraction"),
        after=format_value(after, "fraction"),
    )


def _table(table: WhatIfTable, finding: Finding, words: Words) -> WhatIfView:
    columns = [c for c in COLUMNS if any(c[2](row) is not None for row in table.rows)]
    first, *others = table.rows
    as_it_ran = WhatIfRow(words("replay.as_it_ran"), "", _cells(first, columns, words), "")
    rows = (as_it_ran, *(_row(row, columns, finding, words) for row in others))
    heads = tuple(words(f"replay.column.{name}") for name, _, _ in columns)
    return WhatIfView(words("replay.what_if", step=f"{table.step:,}"), heads, rows)


def _row(row: WhatIf, columns: Sequence[Column], finding: Finding, words: Words) -> WhatIfRow:
    config = "\n".join(_settings(row.config))
    remedy = _remedy(row, finding.remedies)
    mark = "" if remedy is None else words("replay.remedy", do=remedy.do)
    said = config and row.change in config.replace(":", "")
    change = "" if said else words.phrase(row.change)
    return WhatIfRow(change, config, _cells(row, columns, words), mark)


def _cells(row: WhatIf, columns: Sequence[Column], words: Words) -> tuple[str, ...]:
    numbers = [(value(row), unit) for _, unit, value in columns]
    none = words("none")
    return tuple(none if value is None else format_value(value, unit) for value, unit in numbers)


def _settings(config: Sequence[tuple[str, str]]) -> list[str]:
    """`key: value`; keys of one part of the configuration share a line."""
    parts: dict[str, list[tuple[str, str]]] = {}
    for key, to in config:
        part, _, name = key.rpartition(".")
        parts.setdefault(part, []).append((name, to))
    lines = []
    for part, settings in parts.items():
        if len(settings) > 1:
            lines.append(f"{part}: {', '.join(f'{name} {to}' for name, to in settings)}")
        else:
            lines += [f"{part}.{name}: {to}".lstrip(".") for name, to in settings]
    return lines


def _remedy(row: WhatIf, remedies: Sequence[Remedy]) -> Remedy | None:
    """The remedy, still to be done, that sets just what the row sets."""
    wanted = {(key, _value(to)) for key, to in row.config}
    for remedy in remedies:
        changes = {(c.key, _value(c.to)) for c in remedy.changes if c.now != c.to}
        if remedy.status != "already" and changes and changes == wanted:
            return remedy
    return None


def _value(text: str) -> object:
    """What a JSON text says, so that 2 and 2.0 are one; the text itself where it is none."""
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return float(value) if isinstance(value, int | float) else json.dumps(value, sort_keys=True)
