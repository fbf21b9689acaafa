"""From a judgement to everything that the page says, computed before any template."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from analyzer.compare.model import Comparison
from analyzer.compare.procedure_model import Procedure
from analyzer.findings.model import Coverage, Judgement
from analyzer.findings.replayed import Replays
from analyzer.findings.seen import SeenBefore
from analyzer.report.appendix import appendix, evidence_sha256, short_hash
from analyzer.report.capped import Capped, cap
from analyzer.report.checks import broken_rows, clear_rows, reason_groups
from analyzer.report.clock import Clock
from analyzer.report.comparison import comparison_view
from analyzer.report.facts import Desk
from analyzer.report.finding_views import FindingWriter
from analyzer.report.first_page import first_page
from analyzer.report.page import PostmortemView, QualityRow
from analyzer.report.procedure import procedure_view
from analyzer.report.replay_view import replay_section
from analyzer.report.seen import seen_section
from analyzer.report.show import steps_text
from analyzer.report.source import SeriesSource
from analyzer.report.timeline import timeline
from analyzer.report.words import Words, load_words
from analyzer.tables.manifest import Manifest

CLEAR_ROWS = 80
QUALITY_ROWS = 30

__all__ = ["SeriesSource", "build_view"]


def build_view(
    judgement: Judgement,
    manifest: Manifest,
    source: SeriesSource,
    *,
    tool_version: str,
    language: str,
    comparisons: Sequence[Comparison] = (),
    procedures: Sequence[Procedure] = (),
    replays: Replays | None = None,
    seen: SeenBefore | None = None,
) -> PostmortemView:
    """The whole document in that language; without `replays` none was asked for, and without
    `seen` no history was given. Raises UsageError for a language without labels.
    """
    words = load_words(language)
    desk = Desk(manifest, source, Clock(manifest, source), words, replays)
    writer = FindingWriter(judgement, desk)
    return PostmortemView(
        run=manifest.run,
        verdict=judgement.verdict,
        ended=manifest.ended,
        footer=_footer(judgement, manifest, tool_version, words),
        first=first_page(judgement, desk, writer, procedures),
        findings=writer.findings(),
        configuration=writer.configuration(),
        set_aside=writer.set_aside(),
        replay=replay_section(replays, [f for f in judgement.findings if f.counts], words),
        seen=seen_section(seen, judgement.findings, words),
        procedures=tuple(procedure_view(p, words) for p in procedures),
        timeline=timeline(judgement.findings, desk),
        broken=broken_rows(judgement),
        clear=cap(clear_rows(judgement, words), CLEAR_ROWS),
        not_checked=tuple(
            replace(group, reason=words.phrase(group.reason)) for group in reason_groups(judgement)
        ),
        quality=_quality(manifest, words),
        comparisons=tuple(comparison_view(c, words) for c in comparisons),
        appendix=appendix(judgement, desk, tool_version),
        coverage=_coverage(judgement.coverage, words),
    )


def _footer(judgement: Judgement, manifest: Manifest, tool_version: str, words: Words) -> str:
    return words(
        "footer",
        version=tool_version,
        rules=judgement.rules_sha256[:8],
        evidence=short_hash(evidence_sha256(manifest)),
    )


def _coverage(coverage: Coverage, words: Words) -> str:
    parts = [
        words("fact.fired", n=coverage.fired),
        words("fact.clear", n=coverage.clear),
        words("fact.not_checked", n=coverage.not_checked),
    ]
    if coverage.errors:
        parts.append(words("fact.broken", n=coverage.errors))
    counts = words("list.comma").join(parts)
    return words("coverage", n=coverage.rules, counts=counts)


def _quality(manifest: Manifest, words: Words) -> Capped[QualityRow]:
    rows = [
        QualityRow(
            words.phrase(note.kind.replace("-", " ")),
            words.phrase(note.detail),
            steps_text(note.steps),
            note.source if note.line is None else f"{note.source}:{note.line}",
        )
        for note in manifest.notes
    ]
    return cap(rows, QUALITY_ROWS)
