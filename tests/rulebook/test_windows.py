from __future__ import annotations

import numpy as np
import pytest

from analyzer.findings.model import Evidence, Onset
from analyzer.rulebook.conditions.level import Level
from analyzer.rulebook.outcome import Outcome, unknown
from analyzer.rulebook.tree import Node
from analyzer.rulebook.windows import combine, intersect, unite, windows_of


def told(text: str) -> tuple[Evidence, ...]:
    """One line of evidence."""
    return (Evidence("level", "x", "x", "1", None, None, None, text),)


def held(*windows: tuple[int, int], at: int | None = None, sure: float = 1.0) -> Outcome:
    """An outcome that holds there, its onset at the first step unless told otherwise."""
    step = windows[0][0] if at is None and windows else at
    onset = None if step is None else Onset(step, step - 1, step + 2)
    return Outcome("holds", told(f"held {windows}"), windows, onset, confidence=sure)


NOT = Outcome("not", told("not"), confidence=0.8, margin="close")


@pytest.mark.parametrize(
    ("mask", "for_", "gaps", "windows"),
    [
        ("", 1, 0, []),
        ("000", 1, 0, []),
        ("0110111", 3, 0, [(8, 12)]),
        ("0110111", 2, 0, [(2, 4), (8, 12)]),
        ("0110111", 5, 1, [(2, 12)]),
        ("0110111", 6, 1, []),
        ("1001001", 3, 1, []),
        ("1001001", 3, 2, [(0, 12)]),
    ],
)
def test_windows_of_a_mask(mask: str, for_: int, gaps: int, windows: list[tuple[int, int]]) -> None:
    steps = np.arange(0, 2 * len(mask), 2)
    assert windows_of(steps, np.array([c == "1" for c in mask], bool), for_, gaps) == windows


def test_intersect_and_unite() -> None:
    assert intersect([(0, 10), (20, 30)], [(5, 22), (30, 40)]) == [(5, 10), (20, 22), (30, 30)]
    assert intersect([(0, 4)], [(5, 9)]) == []
    assert unite([(20, 30), (0, 4), (5, 6), (8, 9), (25, 40)]) == [(0, 6), (8, 9), (20, 40)]


def test_all_holds_where_all_hold() -> None:
    outcome = combine("all", [held((0, 50), sure=0.9), held((30, 80)), held()])
    assert (outcome.state, outcome.windows, outcome.confidence) == ("holds", ((30, 50),), 0.9)
    assert outcome.onset == Onset(30, 29, 32)
    assert [e.text for e in outcome.evidence] == ["held ((0, 50),)", "held ((30, 80),)", "held ()"]


def test_all_never_at_the_same_steps() -> None:
    outcome = combine("all", [held((0, 10)), held((20, 30))])
    assert (outcome.state, outcome.margin) == ("not", "never at the same steps")


def test_all_of_timeless_conditions_has_no_windows() -> None:
    outcome = combine("all", [held(), held()])
    assert (outcome.state, outcome.windows, outcome.onset) == ("holds", (), None)


def test_all_is_not_before_it_is_unknown() -> None:
    assert combine("all", [unknown("no log"), NOT]).state == "not"
    assert combine("all", [unknown("no log"), NOT]).margin == "close"
    assert combine("all", [held((0, 9)), unknown("no log")]).reason == "no log"


def test_any() -> None:
    outcome = combine("any", [NOT, held((20, 30)), held((5, 22)), unknown("no log")])
    assert (outcome.state, outcome.windows) == ("holds", ((5, 30),))
    assert outcome.onset == Onset(5, 4, 7)
    assert combine("any", [NOT, unknown("no log")]).state == "unknown"
    assert combine("any", [NOT, NOT]).state == "not"


def test_not_turns_the_answer_and_keeps_the_evidence() -> None:
    assert combine("not", [held((0, 9))]).state == "not"
    turned = combine("not", [NOT])
    assert (turned.state, turned.windows, turned.confidence) == ("holds", (), 0.8)
    assert [e.text for e in turned.evidence] == ["not"]
    assert combine("not", [unknown("no log")]).reason == "no log"


@pytest.mark.parametrize(("first", "windows"), [(3, ((0, 49),)), (None, ((0, 2),))])
def test_how_a_run_began_bounds_no_finding(
    first: int | None, windows: tuple[tuple[int, int], ...]
) -> None:
    """Off at the first three steps, and off for all fifty: the whole run."""
    early = Level(series="early", above=1, first=first)
    whole = Level(series="whole", above=1)
    found = {"early": held((0, 2), at=0), "whole": held((0, 49), at=0)}
    tree = Node("all", (Node(None, condition=early), Node(None, condition=whole)))
    outcome = tree.evaluate(lambda condition: found[condition.series_names()[0]])
    assert outcome.windows == windows
    assert outcome.onset is not None and outcome.onset.step == 0


def test_the_start_of_a_run_alone_has_its_window() -> None:
    tree = Node("all", (Node(None, condition=Level(series="early", above=1, first=3)),))
    assert tree.evaluate(lambda condition: held((0, 2), at=0)).windows == ((0, 2),)
