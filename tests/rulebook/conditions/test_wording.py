from __future__ import annotations

import pytest

from analyzer.rulebook.conditions.wording import p_text, signed


@pytest.mark.parametrize(
    ("p_value", "text"), [(1e-9, "p < 0.001"), (0.0012, "p = 0.0012"), (0.4349, "p = 0.43")]
)
def test_p(p_value: float, text: str) -> None:
    assert p_text(p_value) == text


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (3182.0, "tokens", "+3,182"),
        (-0.034, "fraction", "\u22123.4 percentage points"),
        (0.0, "1", "0"),
    ],
)
def test_changes_have_a_sign(value: float, unit: str, text: str) -> None:
    assert signed(value, unit) == text
