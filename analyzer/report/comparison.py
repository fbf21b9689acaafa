"""A comparison as the report shows it: what is told apart, the curves, settings, findings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from analyzer.compare.model import (
    Comparison,
    KeyDifference,
    Measure,
    MetricDifference,
    OnsetDifference,
)
from analyzer.findings.numbers import format_value
from analyzer.report.capped import cap
from analyzer.report.compared_chart import compared_chart, difference_words
from analyzer.report.page import ComparisonView, ConfigDifference, LevelDifference, OnsetRow
from analyzer.report.words import Words

ROWS = 30
CHARTS = 2
SAME_THING = {"rollout_reward": "task_reward"}  # drawn only where the other is not
COST = "t_step"  # says what training costs, not how it went


def comparison_view(found: Comparison, words: Words) -> ComparisonView:
    """The comparison in that language, its tables capped."""
    key = "known" if found.knows_seeds else "unknown"
    role = words.get(f"role.{found.role}", found.role)
    rows = [row for metric in found.metrics for row in _levels(metric, words)]
    drawn = [
        compared_chart(metric, role, found.align, _verdict(metric.level, words), words)
        for metric in shown(found.metrics)
    ]
    return ComparisonView(
        role,
        words("list.comma").join(found.other),
        tuple(_lead(found.metrics, words)),
        words(f"compared.seeds.{key}", mine=len(found.mine), other=len(found.other)),
        tuple(drawn),
        cap(rows, ROWS),
        not found.knows_seeds,
        cap([_key(row, words) for row in found.config or ()], ROWS),
        _config_note(found, words),
        cap([_onset(row, words) for row in found.onsets], ROWS),
        tuple(words.phrase(note) for note in found.notes),
    )


def shown(metrics: Sequence[MetricDifference]) -> list[MetricDifference]:
    """The series that are drawn: the first, and of those told apart the clearest."""
    names = {metric.metric for metric in metrics}
    told = [metric for metric in metrics[1:] if any(map(_is_told, metric.measures))]
    others = [m for m in told if m.metric != COST and SAME_THING.get(m.metric) not in names]
    others.sort(key=lambda metric: min(row.difference.p_value for row in metric.measures))
    return [*metrics[:1], *others][:CHARTS]


def _is_told(row: Measure) -> bool:
    return row.verdict not in ("same", "not-separable")


def _lead(metrics: Sequence[MetricDifference], words: Words) -> Iterator[str]:
    """The first series at the end, then what else is told apart at the end."""
    if not metrics:
        return
    first = metrics[0]
    level, unit = first.level, first.unit
    kind = level.verdict if level.verdict in ("same", "not-separable") else "told"
    yield words(
        f"compared.lead.{kind}",
        series=words.series(first.metric),
        verdict=_verdict(level, words),
        here=format_value(level.mine, unit),
        there=format_value(level.other, unit),
        difference=difference_words(level, words),
    )
    if level.only_the_pair:
        yield words("compared.lead.pair")
    others = [metric for metric in metrics[1:] if _is_told(metric.level)]
    names = tuple(
        words(
            "compared.lead.item",
            series=words.series(metric.metric),
            verdict=_verdict(metric.level, words),
        )
        for metric in others
    )
    if names:
        yield words("compared.lead.others", items=words("list.comma").join(names))
    elif len(metrics) > 1:
        yield words("compared.lead.none")


def _levels(metric: MetricDifference, words: Words) -> Iterator[LevelDifference]:
    """The level, and where it does not tell the runs apart, the measures that do."""
    yield _level(metric, metric.level, words)
    if not _is_told(metric.level):
        for row in metric.measures[1:]:
            if _is_told(row):
                yield _level(metric, row, words)


def _level(metric: MetricDifference, row: Measure, words: Words) -> LevelDifference:
    unit = row.unit
    verdict = _verdict(row, words)
    if row.only_the_pair:
        verdict = words("compared.pair", verdict=verdict)
    return LevelDifference(
        metric.metric,
        "" if row.name == "level" else words(f"compared.measure.{row.name}"),
        format_value(row.mine, unit),
        format_value(row.other, unit),
        difference_words(row, words),
        "" if row.seed_spread is None else _spread(row.seed_spread, unit, words),
        verdict,
        _is_told(row),
    )


def _spread(value: float, unit: str, words: Words) -> str:
    text = format_value(value, unit)
    return text.replace("%", words("compared.points")) if unit == "fraction" else text


def _verdict(row: Measure, words: Words) -> str:
    return words(f"compared.verdict.{row.verdict}")


def _config_note(found: Comparison, words: Words) -> str:
    if found.config is None:
        return words("compared.config.unknown")
    return "" if found.config else words("compared.config.none")


def _key(row: KeyDifference, words: Words) -> ConfigDifference:
    def told(value: str | None, default: bool) -> str:
        if value is None:
            return ""
        return words("compared.default", value=value) if default else value

    return ConfigDifference(
        row.key, told(row.mine, row.mine_default), told(row.other, row.other_default)
    )


def _onset(row: OnsetDifference, words: Words) -> OnsetRow:
    def told(fired: bool, step: int | None) -> str:
        if not fired:
            return ""
        return (
            words("compared.fired") if step is None else words("compared.since", step=f"{step:,}")
        )

    return OnsetRow(row.title, told(row.mine_fired, row.mine), told(row.other_fired, row.other))
