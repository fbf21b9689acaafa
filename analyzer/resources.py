"""Where the rules and templates lie: inside the installed package, or in the checkout."""

from __future__ import annotations

from pathlib import Path

from analyzer.errors import AnalyzerError

PACKAGE = Path(__file__).resolve().parent


def rules_dir() -> Path:
    """The folder of the rule pack, which also holds `metrics/`."""
    return _folder("rules")


def templates_dir() -> Path:
    """The folder of the page templates, stylesheets and chart specifications."""
    return _folder("templates")


def _folder(name: str) -> Path:
    for folder in (PACKAGE / "_data" / name, PACKAGE.parent / name):
        if folder.is_dir():
            return folder
    raise AnalyzerError(
        f"the folder {name}/ is missing from this installation, {PACKAGE}",
        hint="install the package again: pip install --force-reinstall rl-run-analyzer",
    )
