"""The postmortems of the runs of a store: one HTML file each, named by what it was made from."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from analyzer.fleet.rows import FLEET, Entry, row_name, written

Reports = Literal["findings", "all", "none"]
REPORTS = "reports"


def report_file(store: Path, path: str, key: str) -> Path:
    """Where the postmortem of a run with those contents, judged by those rules, lies."""
    return store / FLEET / REPORTS / f"{row_name(path)}-{key[:16]}.html"


def wants_report(entry: Entry, store: Path, reports: Reports) -> bool:
    """Is a postmortem of this run asked for and not there?"""
    row = entry.row
    if reports == "none" or not entry.key or row.error is not None:
        return False
    if reports == "findings" and not row.findings:
        return False
    return not report_file(store, row.path, entry.key).is_file()


def publish_report(store: Path, entry: Entry, html: str) -> None:
    """Write a run's postmortem in place of an older one. Raises RunError."""
    file = report_file(store, entry.row.path, entry.key)
    written(file, html.encode("utf-8", "surrogateescape"))
    for old in file.parent.glob(f"{row_name(entry.row.path)}-*.html"):
        if old != file:
            old.unlink(missing_ok=True)
