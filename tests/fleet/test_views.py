"""What the views say of a fleet made by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.stats
from entries_of import Run, write_fleet_of

from analyzer.fleet.tables import answer
from analyzer.fleet.views import VIEWS

MODEL = {"model": "Qwen/Qwen2.5-1.5B", "task": "openai/gsm8k"}


def rows(fleet: Path, query: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = answer(fleet, query).to_pylist()
    return found


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ten runs of two weeks: `cut` fires in three and is set aside in one; `late` follows it."""
    may = {"started": "2026-05-05T10:00:00Z", **MODEL}  # a Tuesday
    june = {"started": "2026-06-07T23:00:00Z", "framework": "areal", "framework_version": "1.0"}
    cost = {"gpus": 8, "hours": 2.0}
    runs = [
        Run({"cut": 10, "late": 30}, row={**may, **cost, "hours_after_onset": 1.5}),
        Run({"cut": 20, "late": 25}, row={**may, **cost, "hours_after_onset": 1.0}),
        Run({"cut": None, "late": 5}, row={**june, "hours": 4.0, "hours_after_onset": 4.0}),
        Run({"late": 99, "cut": 40}, set_aside=("cut",), row=june),
        *[Run(clear=("cut", "late", "never"), row=june)] * 4,
        Run({"notice": 0}, clear=("late",), not_checked=("cut",), row={**june, **cost}),
        Run(row={**june, "verdict": "cannot-judge", "error": "empty file"}),
    ]
    return write_fleet_of(tmp_path_factory.mktemp("views"), runs)


def test_each_view_has_the_columns_that_are_told_and_an_example_that_runs(fleet: Path) -> None:
    for view in VIEWS:
        told = [name for names, _ in view.columns for name in names.split(", ")]
        assert answer(fleet, f"SELECT * FROM {view.name}").column_names == told
        assert answer(fleet, view.example).num_columns


def test_prevalence_counts_only_runs_where_the_rule_was_checked(fleet: Path) -> None:
    query = "SELECT * FROM prevalence WHERE rule = 'cut' ORDER BY dimension, value"
    found = {(row["dimension"], row["value"]): row for row in rows(fleet, query)}
    whole = found["all", "all"]
    # Ten runs, less the one where it was not checked and the one that could not be judged.
    assert (whole["checked"], whole["fired"], whole["set_aside"]) == (8, 3, 1)
    interval = scipy.stats.binomtest(3, 8).proportion_ci(0.95, "wilson")
    assert (whole["low"], whole["high"]) == pytest.approx((interval.low, interval.high))
    assert whole["share"] == 3 / 8
    assert {v: (r["checked"], r["fired"]) for (d, v), r in found.items() if d == "week"} == {
        "2026-05-04": (2, 2),
        "2026-06-01": (6, 1),  # a Sunday belongs to the Monday before it
    }
    assert (found["version", "areal 1.0"]["checked"], found["version", None]["checked"]) == (6, 2)
    assert (found["model", MODEL["model"]]["fired"], found["task", None]["fired"]) == (2, 1)
    (never,) = rows(fleet, "SELECT * FROM prevalence WHERE rule = 'never' AND value = 'all'")
    interval = scipy.stats.binomtest(0, 4).proportion_ci(0.95, "wilson")
    assert (never["checked"], never["low"]) == (4, 0.0)
    assert never["high"] == pytest.approx(interval.high)


def test_onsets_are_those_of_findings_that_count(fleet: Path) -> None:
    (cut,) = rows(fleet, "SELECT * FROM onsets WHERE rule = 'cut'")
    assert (cut["runs"], cut["with_onset"], cut["median"]) == (3, 2, 15.0)
    assert cut["p90"] == pytest.approx(19.0)
    assert cut["median_share"] == pytest.approx(15 / 99)
    query = "SELECT tenth, runs FROM onset_tenths WHERE rule = 'late'"
    tenths = {row["tenth"]: row["runs"] for row in rows(fleet, query)}
    assert tenths == {1: 1, 3: 1, 4: 1, 10: 1}  # steps 5, 25, 30 and 99 of 100


def test_hours_are_lost_to_the_first_finding(fleet: Path) -> None:
    found = {row["rule"]: row for row in rows(fleet, "SELECT * FROM lost_hours")}
    cut = found["cut"]
    assert (cut["runs"], cut["with_hours"], cut["with_gpu_hours"]) == (3, 3, 2)
    assert (cut["hours"], cut["gpu_hours"]) == (6.5, 20.0)
    assert cut["share"] == pytest.approx(20 / 48)  # three runs of two hours on eight GPUs
    assert (found["late"]["runs"], found["late"]["gpu_hours"]) == (1, None)
    assert found["notice"]["severity"] == "info"


def test_what_comes_together_and_in_which_order(fleet: Path) -> None:
    (pair,) = rows(fleet, "SELECT * FROM together WHERE rule = 'cut' AND other = 'late'")
    # Consequences count; the run where `cut` was not checked does not.
    assert (pair["checked"], pair["fired"], pair["other_fired"]) == (8, 4, 4)
    assert (pair["together"], pair["expected"]) == (4, 2.0)
    assert (pair["before"], pair["same"], pair["after"]) == (3, 0, 0)
    assert pair["steps_between"] == 20  # of 20, 5 and 59
    (other,) = rows(fleet, "SELECT * FROM together WHERE rule = 'late' AND other = 'cut'")
    assert (other["before"], other["after"], other["steps_between"]) == (0, 3, -20)


def test_ranges_of_healthy_runs_and_what_lies_far_from_them(tmp_path: Path) -> None:
    lates = [float(i) for i in range(12)]
    healthy = [Run(metrics={"grad_norm": (late + 0.5, late)}, row=MODEL) for late in lates]
    noticed = Run({"notice": 3}, metrics={"grad_norm": (6.5, 6.0)}, row=MODEL)
    sick = [Run({"cut": 3}, metrics={"grad_norm": (50.0, late)}, row=MODEL) for late in (30.0, 24)]
    elsewhere = Run({"cut": 3}, metrics={"grad_norm": (50.0, 100.0)})
    fleet = write_fleet_of(tmp_path, [*healthy, noticed, *sick, elsewhere])
    (found,) = rows(fleet, "SELECT * FROM healthy_ranges")  # none healthy without a model
    late = [*lates, 6.0]
    assert (found["runs"], found["late_runs"], found["model"]) == (13, 13, MODEL["model"])
    bounds = [found[name] for name in ("late_low", "late_q1", "late", "late_q3", "late_high")]
    assert bounds == pytest.approx(list(np.quantile(late, [0.05, 0.25, 0.5, 0.75, 0.95])))
    assert (found["lowest"], found["median"], found["highest"]) == (-0.5, 6.5, 12.5)
    # Quartiles 3 and 8, at 5 from one another: beyond 8 + 15 it is far.
    far = rows(fleet, "SELECT run, distance, healthy_runs FROM far_from_healthy")
    assert far == [
        {"run": "run-013", "distance": 22 / 5, "healthy_runs": 13},
        {"run": "run-014", "distance": 16 / 5, "healthy_runs": 13},
    ]
