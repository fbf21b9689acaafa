"""Page one on one page: what gives way, in which order, until it fits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from analyzer.report.budget import HEIGHT, LEAST_SCALE, RESERVE, chart_scale, page_height
from analyzer.report.page import FirstPage
from analyzer.report.panels import Picture


@dataclass(frozen=True)
class Limits:
    """How many rows of each kind page one may have."""

    also: int = 3
    caveats: int = 3
    reasons: int = 2
    remedies: int = 3
    closest: int = 5
    events: int = 5
    panels: int = 4


# What is told elsewhere in full gives way first; what was not checked is never left out.
GIVES_WAY: tuple[tuple[str, int], ...] = (
    ("reasons", 1),
    ("caveats", 2),
    ("panels", 3),
    ("caveats", 1),
    ("closest", 3),
    ("events", 3),
    ("also", 1),
    ("panels", 2),
    ("remedies", 2),
    ("panels", 1),
    ("remedies", 1),
    ("panels", 0),
)


@dataclass(frozen=True)
class Fitted:
    """Page one without its chart, the limits it was built with, and the chart's scale."""

    page: FirstPage
    limits: Limits
    picture: Picture | None
    scale: float


def fitted(
    build: Callable[[Limits], FirstPage], picture_of: Callable[[int], Picture | None]
) -> Fitted:
    """The fullest page that fits; where even the barest does not, that one, told to flow on."""
    page, limits = build(Limits()), Limits()
    for limits in _rungs():
        page, picture = build(limits), picture_of(limits.panels)
        room = HEIGHT - page_height(page)
        if picture is None:
            if room >= RESERVE:
                return Fitted(page, limits, None, 1.0)
        elif (scale := chart_scale(room, picture)) is not None:
            return Fitted(page, limits, picture, scale)
    return Fitted(replace(page, alone=False), limits, picture_of(limits.panels), LEAST_SCALE)


def _rungs() -> Iterator[Limits]:
    limits = Limits()
    yield limits
    for name, limit in GIVES_WAY:
        limits = replace(limits, **{name: limit})
        yield limits
