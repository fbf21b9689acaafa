"""How tall the parts of page one are in print, in points, and how tall its chart may be.

The numbers are those of templates/page.css and print.css; a test holds both together. A margin
at the end of a part falls together with the larger one of the next heading and is not counted.
"""

from __future__ import annotations

from collections.abc import Sequence

from analyzer.report.measure import lines
from analyzer.report.page import CheckRow, FactBox, FirstPage, RemedyView, TimelineRow
from analyzer.report.panels import Picture

PT = 72 / 25.4  # points of a millimetre
WIDTH, HEIGHT = 178 * PT, 258 * PT  # of A4 inside its margins
BODY, LEADING = 9.4, 1.45
LINE = BODY * LEADING
CONFIG = 0.92 * BODY  # type size of configuration lines
TABLE = 0.93 * BODY
TABLE_LINE, CELL = TABLE * 1.4, TABLE * 0.76 + 0.75  # a line; padding and rule of a row
COLUMN_GAP = TABLE * 0.9
HEADING = 1.2 * BODY  # type size of a section's heading
FACT = 0.84 * BODY  # type size under a fact's value
CHECKS = (0.25, 0.35, 0.40)  # columns of the table of checks
EVENTS = (0.19, 0.085, 0.105, 0.44, 0.18)  # of the timeline
PIXELS = 666.0  # width of a chart as drawn
TITLE, TITLE_GAP, PANEL_GAP, LABELS, AXIS = 13.0, 6.0, 18.0, 11.0, 33.0  # px in a chart
LEAST_SCALE = 0.6
RESERVE = LINE / 2  # a letter of another font may be wider


def page_height(page: FirstPage) -> float:
    """The height of page one without its chart."""
    parts = [
        _answer(page),
        _facts(page.facts),
        _section(_events(page.events.rows), page.events.more) if page.events.rows else 0.0,
        _section(_remedies(page)) if page.remedies or page.remedies_note else 0.0,
        _section(_checks(page.closest.rows), page.closest.more) if page.closest.rows else 0.0,
        _section(_text(" ".join(page.data))) if page.data else 0.0,
        _section(_know(page)),
    ]
    return sum(parts)


def chart_height(picture: Picture, scale: float) -> float:
    """The height of the picture's chart, with the panels at that share of their full height."""
    panels = picture.panels
    pixels = AXIS + LABELS * picture.labelled + PANEL_GAP * (len(panels) - 1)
    pixels += sum(scale * p.height + TITLE * len(p.title) + TITLE_GAP for p in panels)
    return pixels * WIDTH / PIXELS


def chart_scale(room: float, picture: Picture) -> float | None:
    """The share of their full height at which the panels fit into so many points; None where
    they do not fit at the least share.
    """
    full, none = chart_height(picture, 1), chart_height(picture, 0)
    share = (room - RESERVE - none) / (full - none)
    return min(1.0, share) if share >= LEAST_SCALE else None


def _text(text: str, size: float = BODY, leading: float = LEADING, room: float = WIDTH) -> float:
    return lines(text, room / size) * size * leading


def _answer(page: FirstPage) -> float:
    room = WIDTH - 3 - 1.1 * BODY
    h1, summary = 1.75 * BODY, 1.05 * BODY
    height = 0.4 * BODY + 0.85 * BODY * LEADING + 0.2 * 0.85 * BODY
    height += lines(page.headline, room / h1, bold=True) * h1 * 1.25 + 0.2 * h1
    height += _text(page.summary, summary, room=room)
    if page.decision:
        height += 0.5 * BODY + _text(page.decision, room=room)
    if page.also.rows:
        height += 0.5 * BODY + bool(page.also.more) * LINE
        # "Also: " and "Warning ·" stand before each.
        height += sum(_text(f"Also: {r.label} · {r.text}", room=room) for r in page.also.rows)
    return height + BODY


def _facts(facts: Sequence[FactBox]) -> float:
    room = WIDTH / 5 - 8
    tallest = 0.0
    for fact in facts:
        notes = sum(_text(note, FACT, 1.4, room) for note in fact.notes)
        value = lines(fact.value, room / (1.3 * BODY), bold=True) * 1.3 * BODY * 1.3
        tallest = max(tallest, FACT * 1.4 + value + notes)
    return 0.75 + 0.6 * BODY + tallest + 0.8 * BODY


def _section(body: float, more: int = 0) -> float:
    heading = HEADING * (1.2 + 1.25 + 0.3 + 0.6) + 0.75
    return heading + body + bool(more) * (0.8 * BODY + TABLE * LEADING)


def _remedies(page: FirstPage) -> float:
    height = _text(page.remedies_note) + 0.55 * BODY if page.remedies_note else 0.0
    return height + sum(_remedy(remedy) for remedy in page.remedies)


def _remedy(remedy: RemedyView) -> float:
    room = (WIDTH - 1.4 * BODY) / BODY
    said = f"{remedy.do}: {remedy.why} {remedy.note}"
    height = lines(said, room, bold=not remedy.why) * LINE
    if not remedy.config:
        return height + 0.55 * BODY
    config = lines(remedy.config, room * BODY / CONFIG - 2, mono=True) * 1.5 * CONFIG
    return height + 0.4 * CONFIG + config + CONFIG + 0.55 * BODY


def _checks(rows: Sequence[CheckRow]) -> float:
    return _table(
        [((row.rule, True), (row.title, False), (row.note, False)) for row in rows], CHECKS
    )


def _events(rows: Sequence[TimelineRow]) -> float:
    cells = [
        ((r.time, False), (r.step, False), (r.label, False), (r.what, False), (r.place, True))
        for r in rows
    ]
    return _table(cells, EVENTS)


def _table(rows: Sequence[Sequence[tuple[str, bool]]], shares: Sequence[float]) -> float:
    """Head and rows; a cell is its text and whether it is set in the monospace."""
    height = TABLE_LINE + CELL
    for row in rows:
        tall = 1
        for (text, mono), share in zip(row, shares, strict=True):
            room = (WIDTH * share - COLUMN_GAP) / (CONFIG * 0.93 if mono else TABLE)
            tall = max(tall, lines(text, room, mono=mono))
        height += tall * TABLE_LINE + CELL
    return height


def _know(page: FirstPage) -> float:
    told = [*page.to_know.rows, *page.not_checked.rows]
    told += ["…"] * (bool(page.to_know.more) + bool(page.not_checked.more))
    room = WIDTH - 1.1 * BODY
    return sum(_text(text, room=room) + 0.2 * BODY for text in told)
