"""Whether page one fits on a page, and how tall its chart may be. In lines of its text."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence

PAGE = 51  # lines of a page
HEAD = 9  # kicker, headline, facts of three notes
NOTES, NOTE_LETTERS = 3, 20  # lines of notes under a fact that HEAD has room for; of one line
HEADING = 3  # a section's heading with its white space
ROW = 0.5  # white space of a table row
CHART, LEAST_CHART = 18, 13  # a chart of three panels at full and at its least height
FOURTH = 3  # what a fourth panel adds
LEAST_SCALE = 0.6
LETTERS = 104  # of a line


def text_lines(texts: Sequence[str], letters: int = LETTERS) -> int:
    """About how many lines the texts take in print; a Chinese letter is as wide as two."""
    widths = (
        sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)
        for text in texts
    )
    return sum(math.ceil(width / letters) for width in widths)


def table_lines(rows: Sequence[Sequence[str]], letters: Sequence[int]) -> float:
    """The lines of a table's head and rows; `letters` are those of a line in each column."""
    tall = [
        max(text_lines([cell], width) for cell, width in zip(row, letters, strict=True))
        for row in rows
    ]
    return sum(tall) + 1 + ROW * (len(tall) + 1) if tall else 0


def room_for_chart(lines: float, headings: int) -> float:
    """Lines left for a chart beside so many of text and so many headings."""
    return PAGE - HEAD - HEADING * headings - lines


def further_notes(facts: Sequence[Sequence[str]]) -> int:
    """Lines that the notes under the facts take beyond what the head has room for."""
    tallest = max((text_lines(notes, NOTE_LETTERS) for notes in facts), default=0)
    return max(0, tallest - NOTES)


def chart_scale(room: float, panels: int = 3) -> float:
    """The height of the chart's panels, as a share of the full."""
    further = FOURTH * (panels > 3)
    share = (room - LEAST_CHART - further) / (CHART - LEAST_CHART)
    return LEAST_SCALE + (1 - LEAST_SCALE) * min(1.0, max(0.0, share))


def fits(room: float, panels: int) -> bool:
    """Does the page hold it all, with the chart at its least height where it has panels?"""
    if panels == 0:
        return room >= 0
    return room >= LEAST_CHART + FOURTH * (panels > 3)
