"""The table of a batch as text, JSON or CSV."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Literal

import pyarrow as pa

from analyzer.fleet.rows import Row
from analyzer.pipeline_documents import render_answer

TableForm = Literal["text", "json", "csv"]


def render_rows(rows: Sequence[Row], form: TableForm) -> str:
    """The rows: six columns as text, every field as JSON or CSV."""
    if form == "json":
        return json.dumps([asdict(row) for row in rows], indent=2, ensure_ascii=False) + "\n"
    if form == "csv":
        return _csv(rows)
    here = Path.cwd()
    table = {
        "run": [_shown(row.path, here) for row in rows],
        "verdict": [row.verdict for row in rows],
        "first finding": [row.first_finding for row in rows],
        "onset": [row.onset for row in rows],
        "steps": [row.steps for row in rows],
        "error": [row.error for row in rows],
    }
    return render_answer(pa.table(table), "text")


def _csv(rows: Sequence[Row]) -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, [field.name for field in fields(Row)], lineterminator="\n")
    writer.writeheader()
    writer.writerows(asdict(row) for row in rows)
    return out.getvalue()


def _shown(path: str, here: Path) -> str:
    """As short as it can be given to `check` from here."""
    return str(Path(path).relative_to(here)) if Path(path).is_relative_to(here) else path
