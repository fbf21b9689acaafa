"""Which steps and rows are replayed. Needs no torch."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from analyzer.replay.question import Limit, Pick, Question
from analyzer.replay.selection import select_rows, select_steps, usual_value
from analyzer.tables.evidence import Absent, Series

QUESTION = Question(
    finding="behave-weight-drift",
    series="behave_imp_weight",
    pick="worst",
    steps=2,
    windows=((40, 60),),
    evidence=(),
    onset=40,
    limits=(Limit("behave_imp_weight", 0.95, 1.05),),
    metrics=("behave_imp_weight",),
    says_metric_wrong=False,
    changes=(),
)


def series(values: dict[int, float]) -> Series:
    steps = np.array(list(values), dtype=np.int64)
    numbers = np.array(list(values.values()), dtype=np.float64)
    return Series("behave_imp_weight", "1", "behave_imp_weight/avg", steps, numbers)


# 1 up to step 39, then falling: the worst is the last one.
FALLING = series({s: 1.0 if s < 40 else 1.0 - (s - 39) / 100 for s in range(80)})


def test_the_worst_recorded_steps_come_first_and_the_latest_healthy_ones_beside() -> None:
    found = select_steps(QUESTION, (5, 20, 30, 45, 50, 58, 70), FALLING)
    assert found.steps == (58, 50)
    assert found.controls == (30, 20)
    assert found.reason == ""


def test_worst_is_furthest_from_the_healthy_level_on_either_side() -> None:
    values = {**dict.fromkeys(range(40), 1.0), 45: 1.2, 50: 0.7, 55: 1.1}
    assert select_steps(QUESTION, (45, 50, 55), series(values)).steps == (50, 45)


def test_a_value_that_is_no_number_is_worst_of_all() -> None:
    values = {**dict.fromkeys(range(40), 1.0), 45: 9.0, 50: math.nan}
    assert select_steps(QUESTION, (45, 50), series(values)).steps == (50, 45)


@pytest.mark.parametrize(("pick", "steps"), [("first", (45, 50)), ("last", (58, 50))])
def test_first_and_last(pick: Pick, steps: tuple[int, ...]) -> None:
    question = replace(QUESTION, pick=pick)
    assert select_steps(question, (45, 50, 58), FALLING).steps == steps


def test_equal_values_go_by_the_distance_from_the_worst_step() -> None:
    flat = series({**dict.fromkeys(range(40), 1.0), **dict.fromkeys(range(40, 60), 0.8)})
    assert select_steps(QUESTION, (42, 48, 59), flat).steps == (42, 48)  # the worst step is 40


def test_a_window_of_first_steps_does_not_hide_a_finding_that_lasts() -> None:
    question = replace(QUESTION, windows=((0, 2),), evidence=((0, 2), (0, 79)), onset=0)
    found = select_steps(question, (5, 58), FALLING)
    assert found.steps == (58, 5)
    assert found.controls == ()


def test_no_recorded_step_says_where_the_nearest_is() -> None:
    found = select_steps(QUESTION, (5, 30, 70), FALLING)
    assert found.steps == ()
    assert found.reason == (
        "no batch was recorded where the finding holds (steps 40–60); "
        "the nearest is that of step 30"
    )
    assert found.controls == (30, 5)


def test_steps_that_are_asked_for_are_the_only_ones() -> None:
    found = select_steps(QUESTION, (5, 45, 58), FALLING, asked=(5, 45))
    assert (found.steps, found.controls) == ((45,), (5,))
    found = select_steps(QUESTION, (5, 45, 58), FALLING, asked=(5,))
    assert found.steps == ()
    assert found.reason.startswith("none of the steps asked for")


def test_without_the_series_the_steps_come_in_order() -> None:
    absent = Absent("behave_imp_weight", "not logged")
    assert select_steps(QUESTION, (58, 45, 50), absent).steps == (45, 50)


def test_the_usual_level_of_a_finding_that_always_holds_is_within_its_limit() -> None:
    question = replace(QUESTION, windows=((0, 79),))
    assert usual_value(question, FALLING) == 1.0
    one_sided = replace(question, limits=(Limit("behave_imp_weight", -math.inf, 0.2),))
    assert usual_value(one_sided, FALLING) == 0.2


def test_rows_are_the_worst_and_as_many_of_the_others() -> None:
    # The worst two are rows 7 and 3; of the other eight, by contribution, the third and seventh.
    contribution = [0.1, 0.2, 0.3, 9.0, 0.4, 0.5, 0.6, 10.0, 0.7, 0.8]
    others = [9, 8, 6, 5, 4, 2, 1, 0]
    assert select_rows(contribution, [1] * 10, rows=2) == tuple(
        sorted((7, 3, others[2], others[6]))
    )


def test_all_rows_where_there_are_no_more() -> None:
    assert select_rows([1.0, 2.0, 3.0], [5, 5, 5], rows=2) == (0, 1, 2)


def test_a_budget_keeps_what_contributes_most() -> None:
    # In turns: row 3 (worst), row 2, row 0, row 1; row 2 alone is too long.
    assert select_rows([2.0, 1.0, 3.0, 4.0], [4, 4, 9, 4], rows=2, budget=12) == (0, 1, 3)


def test_a_limit_holds_at_its_own_value() -> None:
    limit = Limit("x", 0.95, 1.05)
    assert [limit.beyond(x) for x in (0.94, 0.95, 1.0, 1.05, 1.06, math.nan)] == [
        True,
        False,
        False,
        False,
        True,
        False,
    ]
