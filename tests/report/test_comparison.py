"""A comparison as the report shows it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from analyzer.compare.model import (
    Band,
    Comparison,
    DrawnCurves,
    KeyDifference,
    Measure,
    MeasureName,
    MetricDifference,
    OnsetDifference,
    Parting,
    Verdict,
)
from analyzer.report.comparison import comparison_view, shown
from analyzer.report.words import load_words
from analyzer.statistics.bootstrap import Estimate

WORDS = load_words("en")
NONE: Verdict = "not-separable"


def measure(name: MeasureName, verdict: Verdict, p: float = 0.001, **more: Any) -> Measure:
    estimate = Estimate(-0.2, -0.3, -0.1, p, 0.05, 20)
    values: dict[str, Any] = {"unit": "reward", "mine": 0.4, "other": 0.6, "seed_spread": 0.02}
    return Measure(name, difference=estimate, verdict=verdict, pair=estimate, **(values | more))


def metric(name: str, *measures: Measure, parting: Parting | None = None) -> MetricDifference:
    places = np.arange(40.0)
    zeros = np.zeros(40)
    flat = Band(zeros + 0.5, zeros + 0.4, zeros + 0.6)
    low = Band(zeros - 0.2, zeros - 0.3, zeros - 0.1)
    curves = DrawnCurves(places, flat, flat, low)
    return MetricDifference(name, "reward", f"a/{name}", 40, 0.0, 39.0, measures, parting, curves)


def comparison(*metrics: MetricDifference, **changes: Any) -> Comparison:
    whole = Comparison("sync", ("mine",), ("twin",), "step", 0.0, metrics, (), (), (), ())
    return replace(whole, **changes)


def test_the_lead_names_the_first_series_and_what_else_is_told_apart() -> None:
    found = comparison_view(
        comparison(
            metric("task_reward", measure("level", "worse")),
            metric("entropy", measure("level", "higher")),
            metric("seq_len", measure("level", NONE)),
        ),
        WORDS,
    )
    assert found.lead == (
        "Training reward is worse at the end: 0.40 here, 0.60 there; "
        "the difference is −0.20 (−0.30 to −0.10).",
        "Also told apart: Entropy per token (higher).",
    )
    assert [row.told for row in found.levels.rows] == [True, True, False]
    assert found.assumed and found.levels.rows[0].seeds == "0.020"


def test_what_only_the_pair_differs_by_is_said() -> None:
    found = comparison_view(comparison(metric("task_reward", measure("level", NONE))), WORDS)
    assert "cannot be told apart" in found.lead[0]
    assert found.lead[1].startswith("The two runs do differ there")
    assert found.levels.rows[0].verdict == "not separable; the two runs differ, as seeds may"


def test_a_measure_that_tells_more_than_the_level_has_a_row() -> None:
    rows = comparison_view(
        comparison(
            metric(
                "entropy", measure("level", NONE), measure("rise", NONE), measure("area", "lower")
            )
        ),
        WORDS,
    ).levels.rows
    assert [(row.measure, row.told) for row in rows] == [("", False), ("mean height", True)]


def test_the_first_series_and_the_clearest_are_drawn() -> None:
    found = shown(
        [
            metric("task_reward", measure("level", NONE)),
            metric("rollout_reward", measure("level", "worse", p=1e-9)),
            metric("seq_len", measure("level", "higher", p=1e-4)),
            metric("entropy", measure("level", "higher", p=1e-6)),
            metric("t_step", measure("level", "worse", p=1e-9)),
        ]
    )
    assert [row.metric for row in found] == ["task_reward", "entropy"]


@pytest.mark.parametrize(
    ("config", "rows", "note"),
    [
        (None, 0, "Not compared: a run has no configuration."),
        ((), 0, "Nothing is set differently but names."),
        ((KeyDifference("actor.eps_clip", "0.2", None),), 1, ""),
    ],
)
def test_settings(config: tuple[KeyDifference, ...] | None, rows: int, note: str) -> None:
    found = comparison_view(comparison(config=config), WORDS)
    assert (len(found.config.rows), found.config_note) == (rows, note)


def test_findings_of_either_run() -> None:
    onsets = (
        OnsetDifference("r", "Of both", True, True, 1040, None),
        OnsetDifference("s", "Of one", False, True, None, 7),
    )
    rows = comparison_view(comparison(onsets=onsets), WORDS).onsets.rows
    assert [(row.here, row.there) for row in rows] == [
        ("since step 1,040", "fired"),
        ("", "since step 7"),
    ]


def test_the_picture_has_both_curves_the_difference_and_where_they_part() -> None:
    row = metric("task_reward", measure("level", "worse"), parting=Parting(12.0, 9.0, 20.0))
    (chart,) = comparison_view(comparison(row), WORDS).charts
    (svg,) = chart.svgs
    assert "solid: this run, dashed: Synchronous run" in svg and "apart from step 12" in svg
    assert "at the end −0.20 (−0.30 to −0.10), worse" in svg
    # The difference lies below 0 throughout, and the zero line is on its axis.
    assert ">0.0<" in svg and ">−0.3<" in svg
    assert "apart from the start" in _drawn(replace(row, parting=Parting(0.0, 0.0, 0.0)))
    assert "apart from" not in _drawn(replace(row, parting=None))


def _drawn(row: MetricDifference) -> str:
    return comparison_view(comparison(row), WORDS).charts[0].svgs[0]
