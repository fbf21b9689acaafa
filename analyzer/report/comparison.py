"""A comparison as the report shows it: levels at the end, with their verdicts, and settings."""

from __future__ import annotations

from analyzer.compare.model import Comparison, KeyDifference, MetricDifference
from analyzer.findings.numbers import format_value
from analyzer.report.capped import cap
from analyzer.report.page import ComparisonView, ConfigDifference, LevelDifference
from analyzer.report.show import signed
from analyzer.report.words import Words

ROWS = 30


def comparison_view(found: Comparison, words: Words) -> ComparisonView:
    """The comparison in that language, its tables capped."""
    key = "known" if found.knows_seeds else "unknown"
    return ComparisonView(
        words.get(f"role.{found.role}", found.role),
        words("list.comma").join(found.other),
        words(f"compared.seeds.{key}", mine=len(found.mine), other=len(found.other)),
        cap([_key(row, words) for row in found.config or ()], ROWS),
        cap([_level(row, words) for row in found.metrics], ROWS),
        tuple(words.phrase(note) for note in found.notes),
    )


def _level(metric: MetricDifference, words: Words) -> LevelDifference:
    level, unit = metric.level, metric.unit
    difference = words(
        "compared.difference",
        value=signed(level.difference.value, unit),
        low=signed(level.difference.low, unit),
        high=signed(level.difference.high, unit),
    )
    if unit == "fraction":
        difference = difference.replace("%", words("compared.points"))
    return LevelDifference(
        metric.metric,
        format_value(level.mine, unit),
        format_value(level.other, unit),
        difference,
        words(f"compared.verdict.{level.verdict}"),
    )


def _key(row: KeyDifference, words: Words) -> ConfigDifference:
    def told(value: str | None, default: bool) -> str:
        if value is None:
            return ""
        return words("compared.default", value=value) if default else value

    return ConfigDifference(
        row.key, told(row.mine, row.mine_default), told(row.other, row.other_default)
    )
