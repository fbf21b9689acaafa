"""Numbers as a person writes them."""

from __future__ import annotations

import pytest

from analyzer.findings.numbers import format_value


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0.34, "fraction", "34\u202f%"),
        (0.0004, "fraction", "0.04\u202f%"),
        (1.0, "fraction", "100\u202f%"),
        (3904.2, "tokens", "3,904"),
        (12.5, "tokens", "12.5"),
        (57.93, "s", "57.9\u202fs"),
        (0.70, "reward", "0.70"),
        (0.41, "reward", "0.41"),
        (-0.17, "reward", "\u22120.17"),
        (12.345, "reward", "12.3"),
        (0.0883, "nats", "0.088"),
        (1.0869, "1", "1.087"),
        (8e-05, "1", "8.000e-05"),
        (0.0, "1", "0"),
        (2.26, "versions", "2.3"),
        (float("nan"), "1", "NaN"),
        (float("inf"), "1", "∞"),
        (float("-inf"), "s", "\u2212∞"),
    ],
)
def test_values_with_their_units(value: float, unit: str, text: str) -> None:
    assert format_value(value, unit) == text
