"""Numbers and names as the pages write them."""

from __future__ import annotations

from collections.abc import Sequence

from analyzer.findings.numbers import format_value
from analyzer.fleet.site.model import SiteRun

WORDS = {
    "error": "Error",
    "warning": "Warning",
    "info": "Note",
    "ok": "Nothing found",
    "cannot-judge": "Not judged",
}


def n(count: int, noun: str) -> str:
    """A count with its noun."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def listed(parts: Sequence[str]) -> str:
    """With commas, and "and" before the last."""
    return " and ".join(filter(None, (", ".join(parts[:-1]), *parts[-1:])))


def whole(value: int | None) -> str:
    """A step or a count; "" where it is not known."""
    return "" if value is None else f"{value:,}"


def amount(value: float | None) -> str:
    """Hours with about two digits."""
    if value is None:
        return ""
    if value < 1:
        return f"{value:.2f}"
    return f"{value:.1f}" if value < 10 else f"{value:,.0f}"


def level(value: float) -> str:
    """A reward."""
    return format_value(value, "reward")


def percent(part: int, whole: int) -> str:
    """A share of runs, to a whole per cent where that says enough."""
    share = 100 * part / whole
    return f"{share:.1f}\u202f%" if 0 < share < 10 else f"{share:.0f}\u202f%"


def day(run: SiteRun) -> str:
    """When it began; "" where that is not known."""
    return f"{run.started:%Y-%m-%d}" if run.started else ""
