"""Results as JSON that a diff can be read of, and pages whose tables are made from them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

BEGIN = "<!-- {} : made by `make {}`, do not edit -->"
END = "<!-- end of {} -->"


def as_json(results: Mapping[str, Any]) -> str:
    """One record of a list a line."""
    lines = []
    for key, value in results.items():
        if isinstance(value, list):
            rows = ",\n".join("  " + json.dumps(row, ensure_ascii=False) for row in value)
            lines.append(f"{json.dumps(key)}: [\n{rows}\n ]")
        else:
            lines.append(f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}")
    return "{\n " + ",\n ".join(lines) + "\n}\n"


def filled(text: str, tables: Mapping[str, str], target: str) -> str:
    """The page with every table between its markers replaced; `target` is the make target that does
    it. Raises ValueError for a marker that is not there."""
    for name, table in tables.items():
        begin, end = BEGIN.format(name, target), END.format(name)
        if begin not in text or end not in text:
            raise ValueError(f"the page lacks the markers of {name}")
        head, rest = text.split(begin)
        text = f"{head}{begin}\n\n{table}\n\n{end}{rest.split(end)[1]}"
    return text
