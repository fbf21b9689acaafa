"""Orders of the heat map, worked out by hand."""

from __future__ import annotations

import numpy as np

from analyzer.fleet.site.order import jaccard, rule_order, run_order


def test_jaccard_by_hand() -> None:
    rows = np.array([[1, 1, 0], [1, 0, 0], [0, 0, 1], [0, 0, 0]], dtype=bool)
    assert jaccard(rows).tolist() == [
        [0, 0.5, 1, 1],
        [0.5, 0, 1, 1],
        [1, 1, 0, 1],
        [1, 1, 1, 0],  # two empty rows are alike
    ]


def test_rules_of_the_same_runs_stand_together() -> None:
    # Columns 0 and 3 are in the same runs, and so are 1 and 2; 1 is the most frequent.
    fired = np.array(
        [[1, 0, 0, 1], [1, 0, 0, 1], [0, 1, 1, 0], [0, 1, 1, 0], [0, 1, 0, 0]], dtype=bool
    )
    assert rule_order(fired) == [1, 2, 0, 3]


def test_the_nearest_two_are_joined_first() -> None:
    # Distances by hand: 0–1 is 1/4, 0–2 is 1/3, 1–2 is 1/2. So 1 and 0 are joined, then 2.
    fired = np.array([[1, 1, 1], [1, 1, 1], [1, 1, 0], [0, 1, 0]], dtype=bool)
    np.testing.assert_allclose(jaccard(fired.T)[0], [0, 1 / 4, 1 / 3])
    assert rule_order(fired) == [1, 0, 2]


def test_nothing_has_no_order() -> None:
    assert rule_order(np.zeros((0, 0), dtype=bool)) == []
    assert run_order(np.zeros((0, 0), dtype=np.int64), []) == []


def test_runs_with_the_same_findings_stand_together() -> None:
    # Grades: 3 error, 2 warning. The first rule decides before the second; then the path.
    grades = np.array([[0, 2], [3, 0], [2, 2], [3, 0], [3, 2]])
    assert run_order(grades, ["e", "d", "c", "b", "a"]) == [4, 3, 1, 2, 0]
