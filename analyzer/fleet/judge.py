"""One run of the fleet: read, judged and published, whatever becomes of it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path

import duckdb
import pyarrow as pa

from analyzer import __version__
from analyzer.errors import AnalyzerError
from analyzer.findings.exports.document import document
from analyzer.fleet.find import Found
from analyzer.fleet.rows import Entry, Row, broken, load, publish, told
from analyzer.pipeline import Judged, Rules, Settings, judge_opened, open_run
from analyzer.tables.manifest import Manifest

OUT_OF_MEMORY = "ran out of memory; with fewer --jobs each run may have more"


def rules_key(rules: Rules, settings: Settings) -> str:
    """Digest of all that bears on a judgement beside the run: version, rules, parameters."""
    entries = rules.suppressions.entries
    return _digest(
        __version__,
        rules.rulebook.sha256,
        repr((settings.project, settings.overrides, settings.language)),
        *(f"{place} {entry.model_dump_json()}" for entry, place in entries),
        # An entry whose day has passed counts no more.
        *(str(e.until is None or e.until >= settings.today) for e, _ in entries),
    )


def judge_found(found: Found, rules: Rules, settings: Settings) -> bool:
    """Bring the row of a run up to date; was it judged?

    False: it cannot be or has no series, and its row says why, or the files say the same as
    before. Raises RunError when the row cannot be written.
    """
    judging = rules_key(rules, settings)
    was_judged = False
    try:
        if found.error:
            raise AnalyzerError(found.error)
        place = Path(found.path)
        tables = open_run(place, settings.store, rules.catalog)
        key = content_key(tables.manifest, judging)
        old = load(settings.store, found.path)
        if old is not None and old.key == key:
            publish(settings.store, replace(old, listing=found.listing))
            return False
        judged = judge_opened(tables, rules, settings)
        was_judged = True
        findings = document(judged.verdicts)
        entry = Entry(_row(found.path, judged), found.listing, judging, key, findings)
    except AnalyzerError as cause:
        entry = Entry(broken(found.path, told(cause)), found.listing, judging, "", None)
    except (MemoryError, duckdb.OutOfMemoryException, pa.ArrowMemoryError):
        entry = failed(found, OUT_OF_MEMORY)
    except Exception as cause:
        entry = failed(found, f"a defect of analyzer: {type(cause).__name__}: {cause}", defect=True)
    publish(settings.store, entry)
    return was_judged and not entry.row.error


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


def _row(path: str, judged: Judged) -> Row:
    judgement, manifest = judged.verdicts.judgement, judged.manifest
    counting = [finding for finding in judgement.findings if finding.counts]
    first = counting[0] if counting else None
    return Row(
        path,
        manifest.run,
        judgement.verdict,
        manifest.framework,
        manifest.framework_version,
        manifest.step_count,
        manifest.first_step,
        manifest.last_step,
        manifest.started,
        manifest.ended,
        len(counting),
        first.rule if first else None,
        first.onset.step if first and first.onset else None,
        judgement.coverage.rules,
        judgement.coverage.not_checked,
        __version__,
        judgement.rules_sha256,
        _no_series(judgement.verdict),
    )


def _no_series(verdict: str) -> str | None:
    return "no series recognised in it" if verdict == "cannot-judge" else None
