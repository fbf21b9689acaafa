"""Numbers as a person writes them: unit, digits, typographic minus."""

from __future__ import annotations

import math

MINUS = "\u2212"
THIN = "\u202f"  # narrow no-break space, before a unit

_WHOLE = frozenset({"tokens", "count", "steps"})


def format_value(value: float, unit: str = "1") -> str:
    """A value with its unit: 0.34 fraction → "34 %", 3904.2 tokens → "3,904", 57.93 s → "57.9 s".

    Nats, rewards and plain numbers get three to four significant digits and no unit.
    """
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "∞" if value > 0 else f"{MINUS}∞"
    if unit == "fraction":
        text = f"{_digits(100 * value, 2)}{THIN}%"
    elif unit in _WHOLE and abs(value) >= 100:
        text = f"{value:,.0f}"
    elif unit == "s":
        text = f"{_digits(value, 3)}{THIN}s"
    elif unit == "versions":
        text = _digits(value, 2)
    elif unit in ("nats", "reward"):
        # A pair like 0.41 → 0.70 reads best with the same digits.
        text = _digits(value, 2 if abs(value) < 1 else 3, keep_zeros=True)
    else:
        text = _digits(value, 4)
    return MINUS + text[1:] if text.startswith("-") else text


def _digits(value: float, digits: int, keep_zeros: bool = False) -> str:
    """The value with so many significant digits, without an exponent where that reads well."""
    if value == 0:
        return "0"
    magnitude = math.floor(math.log10(abs(value)))
    if magnitude < -4 or magnitude > 6:
        return f"{value:.{digits - 1}e}"
    decimals = max(0, digits - 1 - magnitude)
    text = f"{value:,.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text and not keep_zeros else text


def number(value: float | None) -> float | str | None:
    """JSON has no NaN or infinity: they become "nan", "inf", "-inf".

    Nine significant digits: the last ones of a double depend on the order of a sum, and the same
    input must give the same bytes.
    """
    if value is None:
        return None
    return float(f"{value:.9g}") if math.isfinite(value) else str(float(value))
