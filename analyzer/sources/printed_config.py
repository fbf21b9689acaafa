"""A configuration that a trainer printed as a Python dictionary, over many lines."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from analyzer.sources.areal_lines import Line
from analyzer.sources.config_rows import flattened

_LONGEST = 3000  # lines
# How a line goes on with such a dictionary; a warning of the same process may stand between.
_GOES_ON = re.compile(rb"\s+(?:['\"\[\](){}]|-?\d|True|False|None)")


@dataclass
class PrintedConfig:
    """Takes the lines of the dictionary that begins with one of these keys."""

    begins: re.Pattern[bytes]
    lines: list[str] = field(default_factory=list)
    config: Mapping[str, str] = field(default_factory=dict)
    depth: int = 0
    writers: bytes = b""  # who prints it; lines of others may stand between

    @property
    def open(self) -> bool:
        """Is the dictionary not closed yet?"""
        return bool(self.lines)

    def take(self, line: Line) -> bool:
        """Is this a line of the dictionary?"""
        if self.lines and not (line.writers == self.writers and _GOES_ON.match(line.body)):
            return False
        if not self.lines and not self.begins.match(line.body):
            return False
        self.writers = line.writers
        text = line.body.decode("utf-8", "replace")
        self.lines.append(text)
        self.depth += text.count("{") - text.count("}")
        if self.depth <= 0 or len(self.lines) > _LONGEST:
            self._close()
        return True

    def _close(self) -> None:
        try:
            found = ast.literal_eval("\n".join(self.lines))
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            found = {}  # another process broke in, or an object stands in it
        if isinstance(found, dict) and found:
            self.config = self.config or flattened(found)
        self.lines, self.depth = [], 0

    def to_json(self) -> dict[str, Any]:
        """All that a later reading must know."""
        return {
            "lines": self.lines,
            "config": dict(self.config),
            "depth": self.depth,
            "writers": self.writers.decode("latin-1"),
        }

    def restore(self, data: dict[str, Any]) -> None:
        """Remember what to_json() wrote."""
        self.lines, self.config, self.depth = data["lines"], data["config"], data["depth"]
        self.writers = data["writers"].encode("latin-1")
