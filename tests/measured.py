"""What the benches last measured, and their modules, for the tests of the pages they write."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest


def results(repository: Path, name: str) -> dict[str, Any]:
    """The results of that name."""
    text = (repository / "bench" / "results" / f"{name}.json").read_text("utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def module(repository: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> ModuleType:
    """A module of the benches, which stand beside the package."""
    monkeypatch.syspath_prepend(str(repository / "bench"))
    return importlib.import_module(name)
