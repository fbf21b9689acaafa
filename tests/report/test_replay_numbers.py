"""Recomputed numbers as they are written."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from replay_parts import FLOOR, LENGTH, WEIGHT

from analyzer.report.replay_numbers import (
    compared_row,
    decisive_number,
    resolved,
    tolerance_text,
)
from analyzer.report.words import load_words

WORDS = load_words("en")


@pytest.mark.parametrize(
    ("value", "unit", "tolerance", "text"),
    [
        (1.0312449, "1", 1e-4, "1.0312"),
        (1.0312449, "1", 1e-12, "1.03124"),  # six digits, whatever the tolerance
        (0.03512, "fraction", 1e-4, "3.51\u202f%"),
        (0.0, "fraction", 1e-4, "0\u202f%"),
        (-0.25, "1", 0.01, "\u22120.25"),
        (3904.2, "tokens", 0.5, "3,904"),
        (57.93, "s", 0.1, "57.9\u202fs"),
        (1e-9, "1", 1e-6, "1.000e-09"),
        (math.nan, "1", 0.1, "NaN"),
        (math.inf, "fraction", 0.1, "∞"),
        (2.5, "1", 0.0, "2.5"),
    ],
)
def test_digits_go_as_far_as_the_tolerance(
    value: float, unit: str, tolerance: float, text: str
) -> None:
    assert resolved(value, unit, tolerance) == text


def test_tolerances() -> None:
    assert tolerance_text(1e-4, "1", WORDS) == "±\u202f0.0001"
    assert tolerance_text(1e-4, "fraction", WORDS) == "±\u202f0.01 pp"
    assert tolerance_text(0.0, "1", WORDS) == "exact"


def test_a_row_says_what_agrees_and_what_is_lacking() -> None:
    assert compared_row(WEIGHT, WORDS).agrees == "yes"
    row = compared_row(replace(WEIGHT, logged=1.5, agrees=False), WORDS)
    assert (row.logged, row.recomputed, row.agrees, row.mark) == (
        "1.5000",
        "1.0312",
        "no",
        "differs",
    )
    lacking = compared_row(replace(WEIGHT, logged=None, agrees=None), WORDS)
    assert (lacking.logged, lacking.agrees) == ("–", "–")
    assert compared_row(FLOOR, WORDS).mark == "corrected"


def test_the_number_that_shows_best_that_the_log_is_wrong() -> None:
    differing = replace(WEIGHT, agrees=False)
    assert decisive_number((FLOOR, differing, LENGTH)) is FLOOR
    assert decisive_number((LENGTH, differing)) is differing
    assert decisive_number((LENGTH, WEIGHT)) is None
