"""How wide a text is in IBM Plex, and how many lines it takes: what a page holds, before it is
laid out.
"""

from __future__ import annotations

import math
import re
import unicodedata
from functools import cache

from fontTools.ttLib import TTFont

from analyzer.report.fonts import sans_file

MONO = 0.6  # em, each letter of IBM Plex Mono
BOLD = 1.035  # of a text's width at weight 600 to that at 400
UNKNOWN = 0.6  # em, a letter that the font does not have
_WORDS = re.compile(r"[^\S\u00a0\u202f]+")  # where a line may be broken


def width(text: str, *, bold: bool = False, mono: bool = False) -> float:
    """The width of a text in one line, in em."""
    if mono:
        return sum(MONO * (1 + _wide(letter)) for letter in text)
    advances = _advances()
    em = sum(1.0 if _wide(letter) else advances.get(letter, UNKNOWN) for letter in text)
    return em * BOLD if bold else em


def lines(text: str, room: float, *, bold: bool = False, mono: bool = False) -> int:
    """How many lines the text takes where a line has room for so many em. Lines are broken at
    spaces, between Chinese letters, and inside a word that is longer than a line.
    """
    return sum(
        _wrapped(line, room, bold=bold, mono=mono) for line in text.split("\n") if line.strip()
    )


def wrapped(text: str, room: float, *, bold: bool = False) -> list[str]:
    """The text's lines of at most so many em, broken where a browser would; a word that is longer
    than a line has one of its own.
    """
    rows: list[str] = []
    for part in _parts(text):
        glued, piece = part.startswith("\0"), part.removeprefix("\0")
        longer = f"{rows[-1]}{'' if glued else ' '}{piece}" if rows else piece
        if rows and width(longer, bold=bold) <= room:
            rows[-1] = longer
        else:
            rows.append(piece)
    return rows


def _wrapped(text: str, room: float, *, bold: bool, mono: bool) -> int:
    count, used = 1, 0.0
    space = width(" ", bold=bold, mono=mono)
    for part in _parts(text):
        glued = part.startswith("\0")
        wide = width(part.removeprefix("\0"), bold=bold, mono=mono)
        gap = 0.0 if glued or used == 0 else space
        if used + gap + wide <= room:
            used += gap + wide
        elif wide <= room:
            count, used = count + 1, wide
        else:
            over = wide if used == 0 else wide - (room - used - gap)
            further = math.ceil(over / room) - (used == 0)
            count, used = count + further, over % room
    return count


def _parts(text: str) -> list[str]:
    """Words and single Chinese letters; those with a mark in front follow without a space."""
    parts: list[str] = []
    for word in filter(None, _WORDS.split(text)):
        pieces = re.findall(r"[\u2e80-\uffef]|[^\u2e80-\uffef]+", word)
        parts += [pieces[0], *("\0" + piece for piece in pieces[1:])]
    return parts


def _wide(letter: str) -> bool:
    return unicodedata.east_asian_width(letter) in "WF"


@cache
def _advances() -> dict[str, float]:
    """The advance of each letter of the sans, in em; {} where the font is not installed."""
    path = sans_file()
    if path is None:
        return {}
    with TTFont(path, lazy=True) as font:
        advances, em = font["hmtx"].metrics, font["head"].unitsPerEm
        return {chr(code): advances[glyph][0] / em for code, glyph in font.getBestCmap().items()}
