"""Recomputed numbers as the page writes them: with the digits that their tolerance allows."""

from __future__ import annotations

import math

from analyzer.findings.numbers import MINUS, format_value
from analyzer.findings.replayed import Compared
from analyzer.report.replay_page import ComparedRow
from analyzer.report.show import NARROW
from analyzer.report.words import Words

DIGITS = 6  # significant ones, at most
WHOLE = ("tokens", "count", "steps")


def resolved(value: float, unit: str, tolerance: float) -> str:
    """A value to the last digit that the tolerance carries, as far as six significant ones go."""
    if not math.isfinite(value) or value == 0 or not tolerance > 0 or unit in WHOLE:
        return format_value(value, unit)
    shown, bound, suffix = value, tolerance, f"{NARROW}s" if unit == "s" else ""
    if unit == "fraction":
        shown, bound, suffix = 100 * value, 100 * tolerance, f"{NARROW}%"
    magnitude = math.floor(math.log10(abs(shown)))
    if not -5 < magnitude < 7:
        return format_value(value, unit)
    carried = -math.floor(math.log10(bound) + 1e-9)
    decimals = max(0, min(carried, DIGITS - 1 - magnitude))
    text = f"{shown:,.{decimals}f}{suffix}"
    return MINUS + text[1:] if text.startswith("-") else text


def tolerance_text(tolerance: float, unit: str, words: Words) -> str:
    """What two values may differ by; shares in percentage points."""
    if not tolerance > 0:
        return words("replay.exact")
    if unit == "fraction":
        return words("replay.points", value=f"±{NARROW}{100 * tolerance:.1g}")
    return f"±{NARROW}{tolerance:.1g}"


def compared_row(one: Compared, words: Words) -> ComparedRow:
    """A comparison as a table row."""

    def shown(value: float | None) -> str:
        return words("none") if value is None else resolved(value, one.unit, one.tolerance)

    verdict = {True: "replay.agrees", False: "replay.differs", None: "none"}[one.agrees]
    mark = "differs" if one.agrees is False else ""
    return ComparedRow(
        f"{one.step:,}",
        words.series(one.metric),
        one.logged_as,
        shown(one.logged),
        shown(one.recomputed),
        "" if one.corrected is None else shown(one.corrected),
        tolerance_text(one.tolerance, one.unit, words),
        words(verdict),
        mark if one.corrected is None else "corrected",
    )


def decisive_number(compared: tuple[Compared, ...]) -> Compared | None:
    """The comparison that shows best that the log is wrong: the latest with a corrected value,
    else the latest that disagrees.
    """
    corrected = [one for one in compared if one.corrected is not None and one.logged is not None]
    differing = [one for one in compared if one.agrees is False]
    return next(reversed(corrected or differing), None)
