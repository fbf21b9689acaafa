"""A comparison of runs as text, Markdown and JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence

from analyzer.compare.model import (
    AXIS_UNITS,
    CONFIDENCE,
    Comparison,
    KeyDifference,
    Measure,
    MetricDifference,
    OnsetDifference,
)
from analyzer.findings.numbers import format_value, number
from analyzer.report.show import NARROW, signed

MEASURES = {
    "level": "level at the end",
    "rise": "rise over all",
    "area": "mean height (area)",
    "reach": "half of the rise at",
}
HEAD = ("series", "measure", "this side", "other side", "difference, 95 % interval", "verdict")
ASSUMED = "seeds, sd"
ONE_SEED = (
    "One run on each side: what another seed would have given is not known. The intervals hold the "
    "noise within the two runs and, for either, a spread of seeds that is assumed: one standard "
    f"deviation of it is in the column “{ASSUMED}” (docs/statistics.md)."
)
ONLY_THE_PAIR = "the two runs differ, as seeds may"
SEEDS = "The intervals hold the spread of {mine} and {other} seeds."


def render_text(found: Comparison) -> str:
    """For a terminal: a table of all measures, and what stands beside it."""
    rows = [_head(found), *_rows(found)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    table = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
    return "\n".join([_title(found), *_about(found), "", *table, *_beside(found)]) + "\n"


def render_markdown(found: Comparison) -> str:
    """The same in Markdown."""
    head = _head(found)
    lines = [f"**{_title(found)}**", "", *_about(found), ""]
    lines += [_row(head), "|---" * len(head) + "|", *map(_row, _rows(found))]
    beside = [f"- {line.strip()}" if line.startswith("  ") else line for line in _beside(found)]
    return "\n".join([*lines, *beside]) + "\n"


def render_json(found: Comparison) -> str:
    """The same as an object (docs/contracts.md)."""
    return json.dumps(comparison_document(found), indent=2, ensure_ascii=False) + "\n"


def comparison_document(found: Comparison) -> dict[str, object]:
    """A comparison as JSON holds it."""
    return {
        "schema_version": 1,
        "role": found.role,
        "runs": list(found.mine),
        "against": list(found.other),
        "align": found.align,
        "axis_unit": AXIS_UNITS[found.align],
        "delta": number(found.delta),
        "confidence": CONFIDENCE,
        "knows_seeds": found.knows_seeds,
        "metrics": [_metric(metric) for metric in found.metrics],
        "left_out": [{"metric": name, "reason": why} for name, why in found.left_out],
        "config": None if found.config is None else [_key(row) for row in found.config],
        "findings": [_onset(row) for row in found.onsets],
        "notes": list(found.notes),
    }


PRINTED: dict[str, Callable[[Comparison], str]] = {
    "text": render_text,
    "json": render_json,
    "md": render_markdown,
}


def difference_text(row: Measure) -> str:
    """The difference with its interval."""
    d = row.difference
    value, low, high = (signed(v, row.unit) for v in (d.value, d.low, d.high))
    text = f"{value} ({low} to {high})"
    return text.replace(f"{NARROW}%", f"{NARROW}pp") if row.unit == "fraction" else text


def seeds_text(found: Comparison) -> str:
    """What the intervals know of seeds."""
    if not found.knows_seeds:
        return ONE_SEED
    return SEEDS.format(mine=len(found.mine), other=len(found.other))


def _title(found: Comparison) -> str:
    return f"{', '.join(found.mine)} against {', '.join(found.other)} ({found.role})"


def _about(found: Comparison) -> list[str]:
    unit = AXIS_UNITS[found.align]
    limit = f"; differences up to {found.delta:g} do not matter" if found.delta else ""
    lines = [f"by {found.align}, in {unit}{limit}", seeds_text(found)]
    return lines + [f"note: {note}" for note in found.notes]


def _head(found: Comparison) -> tuple[str, ...]:
    return HEAD if found.knows_seeds else (*HEAD[:-1], ASSUMED, HEAD[-1])


def _rows(found: Comparison) -> list[tuple[str, ...]]:
    return [_cells(metric, row) for metric in found.metrics for row in metric.measures]


def spread_text(row: Measure) -> str:
    """The spread that is assumed of single seeds; "" where seeds are known."""
    if row.seed_spread is None:
        return ""
    text = format_value(row.seed_spread, row.unit)
    return text.replace(f"{NARROW}%", f"{NARROW}pp") if row.unit == "fraction" else text


def _cells(metric: MetricDifference, row: Measure) -> tuple[str, ...]:
    verdict = row.verdict.replace("-", " ")
    if row.only_the_pair:
        verdict += f"; {ONLY_THE_PAIR}"
    if row.improvement is not None:
        chance = row.improvement
        verdict += (
            f"; higher in {chance.share:.0%} of pairs ({chance.low:.0%} to {chance.high:.0%})"
        )
    values = (format_value(row.mine, row.unit), format_value(row.other, row.unit))
    cells = (metric.metric, MEASURES[row.name], *values, difference_text(row))
    return (*cells, verdict) if row.seed_spread is None else (*cells, spread_text(row), verdict)


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _beside(found: Comparison) -> Iterator[str]:
    if any(metric.parting for metric in found.metrics):
        yield from ("", "where they part:")
    for metric in found.metrics:
        if at := metric.parting:
            unit = AXIS_UNITS[found.align]
            between = f"{format_value(at.low, unit)} to {format_value(at.high, unit)}"
            yield f"  {metric.metric}: {format_value(at.place, unit)} ({between})"
    yield from ("", "configuration:")
    if found.config is None:
        yield "  not compared: a run has none"
    elif not found.config:
        yield "  no difference"
    for key in found.config or ():
        here, there = _set(key.mine, key.mine_default), _set(key.other, key.other_default)
        yield f"  {key.key}: {here} against {there}"
    if found.onsets:
        yield from ("", "findings, and the step at which they began:")
    for row in found.onsets:
        here, there = _began(row.mine_fired, row.mine), _began(row.other_fired, row.other)
        yield f"  {row.rule}: {here} against {there}"
    if found.left_out:
        yield from ("", "not compared:")
    for name, why in found.left_out:
        yield f"  {name}: {why}"


def _set(value: str | None, default: bool) -> str:
    if value is None:
        return "not set"
    return f"{value} (default)" if default else value


def _began(fired: bool, step: int | None) -> str:
    if not fired:
        return "no"
    return "yes" if step is None else f"{step:,}"


def _metric(metric: MetricDifference) -> dict[str, object]:
    at = metric.parting
    return {
        "metric": metric.metric,
        "unit": metric.unit,
        "logged_as": metric.logged_as,
        "places": metric.places,
        "first": number(metric.first),
        "last": number(metric.last),
        "verdict": metric.verdict,
        "measures": {row.name: _measure(row) for row in metric.measures},
        "parting": at
        and {"place": number(at.place), "low": number(at.low), "high": number(at.high)},
    }


def _measure(row: Measure) -> dict[str, object]:
    d, chance = row.difference, row.improvement
    return {
        "unit": row.unit,
        "here": number(row.mine),
        "there": number(row.other),
        "difference": number(d.value),
        "low": number(d.low),
        "high": number(d.high),
        "p_value": number(d.p_value),
        "verdict": row.verdict,
        "seed_spread": None if row.seed_spread is None else number(row.seed_spread),
        "pair": row.pair and {"low": number(row.pair.low), "high": number(row.pair.high)},
        "improvement": chance
        and {"share": number(chance.share), "low": number(chance.low), "high": number(chance.high)},
    }


def _key(row: KeyDifference) -> dict[str, object]:
    return {
        "key": row.key,
        "here": _value(row.mine),
        "there": _value(row.other),
        "here_from": _from(row.mine, row.mine_default),
        "there_from": _from(row.other, row.other_default),
    }


def _value(text: str | None) -> object:
    return None if text is None else json.loads(text)


def _from(value: str | None, default: bool) -> str:
    if value is None:
        return "not set"
    return "default" if default else "config"


def _onset(row: OnsetDifference) -> dict[str, object]:
    return {
        "rule": row.rule,
        "title": row.title,
        "here": {"fired": row.mine_fired, "onset": row.mine},
        "there": {"fired": row.other_fired, "onset": row.other},
    }
