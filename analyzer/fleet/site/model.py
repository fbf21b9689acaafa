"""What the pages are made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from analyzer.findings.model import Severity, State
from analyzer.fleet.rows import Row


@dataclass(frozen=True, slots=True)
class SiteFinding:
    """A finding that counts. Steps are inclusive."""

    rule: str
    severity: Severity
    headline: str
    onset: int | None
    onset_low: int | None
    onset_high: int | None
    place: float | None  # of the onset in the run: 0 at its first step, 1 at its last


@dataclass(frozen=True, slots=True)
class SiteRun:
    """A run with all that its pages tell."""

    id: str  # of its files on the site
    row: Row
    findings: tuple[SiteFinding, ...]  # causes first
    states: Mapping[str, State]  # rule → how its check ended
    curve: tuple[tuple[int, float], ...]  # step and task reward, thinned
    source: Path | None  # the report in the store

    @property
    def report(self) -> str:
        """Its path below the site; "" where none was written."""
        return f"runs/{self.id}.html" if self.source else ""

    @property
    def gpu_hours(self) -> float | None:
        """Of the whole run."""
        hours, gpus = self.row.hours, self.row.gpus
        return None if hours is None or gpus is None else hours * gpus

    @property
    def started(self) -> datetime | None:
        """When it began, UTC."""
        return datetime.fromisoformat(self.row.started) if self.row.started else None

    def finding(self, rule: str) -> SiteFinding | None:
        """The finding of that rule."""
        return next((f for f in self.findings if f.rule == rule), None)


@dataclass(frozen=True, slots=True)
class SiteRule:
    """What a rule's page says beside its runs; of a rule that is no longer loaded only the id."""

    id: str
    topic: str = ""
    title: str = ""
    severities: str = ""
    why: str = ""
    when: tuple[str, ...] = ()  # indented lines
    parameters: tuple[tuple[str, str, str], ...] = ()  # name, value, where it is from
    false_positives: str = ""
    runbook: str = ""  # HTML
