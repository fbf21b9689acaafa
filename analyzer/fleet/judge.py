"""One run of the fleet: read, judged and published, whatever becomes of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from analyzer import __version__
from analyzer.errors import AnalyzerError
from analyzer.findings.exports.document import document
from analyzer.fleet.curve import reward_curve
from analyzer.fleet.depot import Depot
from analyzer.fleet.find import Found
from analyzer.fleet.reports import Reports, publish_report, wants_report
from analyzer.fleet.rows import Entry, Row, broken, load, publish, told
from analyzer.fleet.summaries import Stored, summarized
from analyzer.pipeline import Judged, Rules, Settings, judge_opened, open_rules, open_run
from analyzer.pipeline_documents import postmortem
from analyzer.report.clock import Clock
from analyzer.tables.manifest import Manifest
from analyzer.tables.run import RunTables

OUT_OF_MEMORY = "ran out of memory; with fewer --jobs each run may have more"

Work = Callable[[Found], bool]  # judges a run and publishes its row; was it judged?


@dataclass(frozen=True)
class Judging:
    """What each worker is told: how runs are judged, and where the results go."""

    settings: Settings
    depot: Depot | None = None  # None: the store is a folder
    reports: Reports = "none"  # which runs' postmortems are kept in the store beside

    def work(self) -> Work:
        """What a worker does with each run; rules are loaded once. Raises RuleErrors."""
        rules = open_rules(self.settings)

        def judge(found: Found) -> bool:
            old = self._load(found.path)
            entry, was_judged = judge_found(found, old, rules, self.settings, self.reports)
            self._publish(entry, old)
            return was_judged

        return judge

    def fail(self, found: Found, error: str) -> None:
        """The row of a run that no worker could end. Raises RunError."""
        self._publish(failed(found, error), self._load(found.path))

    def _load(self, path: str) -> Entry | None:
        return self.depot.load(path) if self.depot else load(self.settings.store, path)

    def _publish(self, entry: Entry, old: Entry | None) -> None:
        if self.depot:
            self.depot.publish(entry, old)
        else:
            publish(self.settings.store, entry)


def rules_key(rules: Rules, settings: Settings) -> str:
    """Digest of all that bears on a judgement beside the run: version, rules, parameters."""
    entries = rules.suppressions.entries
    # The rules of a project's folders count by what they say, not by where they lie.
    project = replace(settings.project, rules=())
    return _digest(
        __version__,
        rules.rulebook.sha256,
        repr((project, settings.overrides, settings.language)),
        *(f"{place} {entry.model_dump_json()}" for entry, place in entries),
        # An entry whose day has passed counts no more.
        *(str(e.until is None or e.until >= settings.today) for e, _ in entries),
    )


def judge_found(
    found: Found, old: Entry | None, rules: Rules, settings: Settings, reports: Reports
) -> tuple[Entry, bool]:
    """What is to be kept of a run from now on, and whether it was judged.

    It was not where it cannot be or has no series, and its row says why, or where the files say
    the same as before. Its postmortem, where one is wanted, is written to the store's folder.
    """
    judging = rules_key(rules, settings)
    was_judged = False
    try:
        if found.error:
            raise AnalyzerError(found.error)
        place = Path(found.path)
        tables = open_run(place, settings.store, rules.catalog)
        key = content_key(tables.manifest, judging)
        if old and old.key == key and not wants_report(old, settings.store, reports):
            return replace(old, listing=found.listing, tables=_folder(tables)), False
        judged = judge_opened(tables, rules, settings)
        was_judged = True
        entry = _entry(found, judged, judging, key)
        if wants_report(entry, settings.store, reports):
            publish_report(settings.store, entry, postmortem(judged, settings.language))
    except AnalyzerError as cause:
        entry = Entry(broken(found.path, told(cause)), found.listing, judging, "", None)
    except (MemoryError, duckdb.OutOfMemoryException, pa.ArrowMemoryError):
        entry = failed(found, OUT_OF_MEMORY)
    except Exception as cause:
        entry = failed(found, f"a defect of analyzer: {type(cause).__name__}: {cause}", defect=True)
    return entry, was_judged and not entry.row.error


def failed(found: Found, error: str, *, defect: bool = False) -> Entry:
    """The entry of a run that failed here and now: the next batch tries it again."""
    return Entry(broken(found.path, error, defect=defect), "", "", "", None)


def content_key(manifest: Manifest, judging: str) -> str:
    """Digest of what was read, and of what it is judged by."""
    sources = [(s.path, s.format, s.bytes, s.sha256) for s in manifest.sources]
    skipped = [(s.path, s.reason) for s in manifest.skipped]
    return _digest(judging, json.dumps([manifest.run, sources, skipped]))


def _digest(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode("utf-8", "surrogateescape")).hexdigest()


def _entry(found: Found, judged: Judged, judging: str, key: str) -> Entry:
    tables, manifest = judged.tables, judged.manifest
    config = tables.sql("SELECT key, value FROM config ORDER BY key").to_pydict()
    metrics: dict[str, list[Any]] = {}
    if tables.home is not None:
        stored = Stored(tables.home, manifest.framework, tables.first_step, tables.last_step)
        (summary,) = summarized([stored], tables.catalog)
        metrics = summary.to_pydict()
    return Entry(
        _row(found.path, judged),
        found.listing,
        judging,
        key,
        document(judged.verdicts),
        dict(zip(config["key"], config["value"], strict=True)),
        metrics,
        reward_curve(tables),
        _folder(tables),
    )


def _folder(tables: RunTables) -> str:
    return tables.home.name if tables.home else ""


def _row(path: str, judged: Judged) -> Row:
    judgement, manifest, tables = judged.verdicts.judgement, judged.manifest, judged.tables
    counting = [finding for finding in judgement.findings if finding.counts]
    first = counting[0] if counting else None
    onset = first.onset.step if first and first.onset else None
    gpus = tables.fact("gpus")
    return Row(
        path,
        manifest.run,
        judgement.verdict,
        framework=manifest.framework,
        framework_version=manifest.framework_version,
        model=_configured(tables, "actor.path"),
        task=_configured(tables, "train_dataset.path"),
        gpus=int(gpus[0]) if gpus else None,
        steps=manifest.step_count,
        first_step=manifest.first_step,
        last_step=manifest.last_step,
        started=manifest.started,
        ended=manifest.ended,
        hours=_hours_from(manifest.first_step, tables),
        findings=len(counting),
        first_finding=first.rule if first else None,
        onset=onset,
        hours_after_onset=_hours_from(onset, tables) if first else None,
        checks=judgement.coverage.rules,
        not_checked=judgement.coverage.not_checked,
        tool_version=__version__,
        rules_sha256=judgement.rules_sha256,
        error=_no_series(judgement.verdict),
    )


def _configured(tables: RunTables, key: str) -> str | None:
    """What the configuration says, as text; None where it says nothing."""
    value = tables.config(key)
    if value is None or value.value in (None, "", []):
        return None
    if isinstance(value.value, str):
        return value.value
    return json.dumps(value.value, ensure_ascii=False)


def _hours_from(step: int | None, tables: RunTables) -> float | None:
    """From that step, or the first, to the last, both counted."""
    if tables.manifest.last_step is None:
        return None
    first = tables.first_step if step is None else step
    return Clock(tables.manifest, tables).hours(first, tables.last_step).hours


def _no_series(verdict: str) -> str | None:
    return "no series recognised in it" if verdict == "cannot-judge" else None
