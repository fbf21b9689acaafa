"""Phrases that several conditions use."""

from __future__ import annotations

from analyzer.findings.numbers import MINUS, THIN, format_value


def p_text(p_value: float) -> str:
    """p in words: `p < 0.001` or `p = 0.013`."""
    return "p < 0.001" if p_value < 0.001 else f"p = {p_value:.2g}"


def signed(value: float, unit: str) -> str:
    """A change with its sign; of a fraction in percentage points."""
    text = format_value(abs(value), unit)
    if unit == "fraction":
        text = text.replace(f"{THIN}%", " percentage points")
    if value == 0:
        return text
    return f"{'+' if value > 0 else MINUS}{text}"
