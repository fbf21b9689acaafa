"""Numbers, spans and times as the page writes them."""

from __future__ import annotations

from datetime import datetime

from analyzer.findings.numbers import format_value
from analyzer.report.clock import Instant

NARROW = "\u202f"  # narrow no-break space, between a number and its unit
SIZES = ("B", "kB", "MB", "GB", "TB")
THOUSAND = 1000


def signed(value: float, unit: str) -> str:
    """A difference with its sign."""
    text = format_value(abs(value), unit)
    if value == 0:
        return text
    return f"\u2212{text}" if value < 0 else f"+{text}"


def steps_text(span: tuple[int, int] | None) -> str:
    """First and last step, "" for none."""
    if span is None:
        return ""
    first, last = span
    return f"{first:,}" if first == last else f"{first:,}\u2013{last:,}"


def windows_text(windows: tuple[tuple[int, int], ...], limit: int = 3) -> str:
    """The first stretches of steps."""
    shown = ", ".join(steps_text(window) for window in windows[:limit])
    return shown + (" …" if len(windows) > limit else "")


def hours_text(hours: float) -> str:
    """Hours, or minutes below one."""
    if hours < 1:
        return f"{hours * 60:.0f}{NARROW}min"
    return f"{hours:.1f}{NARROW}h" if hours < 10 else f"{hours:,.0f}{NARROW}h"


def amount(value: float) -> str:
    """A positive number with about two digits."""
    if value < 1:
        return f"{value:.2g}"
    return f"{value:.1f}" if value < 10 else f"{value:,.0f}"


def size_text(size: int) -> str:
    """Bytes in a unit that keeps the number short."""
    value, unit = float(size), SIZES[0]
    for unit in SIZES:
        if value < THOUSAND or unit == SIZES[-1]:
            break
        value /= THOUSAND
    return f"{value:.0f}{NARROW}{unit}" if unit == "B" else f"{value:.1f}{NARROW}{unit}"


def time_text(moment: datetime) -> str:
    """A time in UTC to the second."""
    return f"{moment:%Y-%m-%d %H:%M:%S}"


def instant_text(instant: Instant | None, about: str) -> str:
    """A time in UTC, marked where it is not exact; "" for none."""
    if instant is None:
        return ""
    return time_text(instant.time) if instant.exact else f"{about} {instant.time:%Y-%m-%d %H:%M}"


def format_parameter(value: float | int | str | bool, unit: str) -> str:
    """A rule's parameter with its unit."""
    if isinstance(value, bool | str):
        return str(value).lower() if isinstance(value, bool) else value
    return format_value(value, unit)
