"""How wide text is. Widths are those of IBM Plex Sans: a space 0.236 em, an m 0.888, an i 0.272,
as the font's own table has them."""

from __future__ import annotations

import pytest
from fontTools.ttLib import TTFont

from analyzer.report.fonts import sans_file
from analyzer.report.measure import BOLD, MONO, lines, width, wrapped


def advance(letter: str) -> float:
    """The letter's width by the font file."""
    path = sans_file()
    assert path is not None
    with TTFont(path) as font:
        return float(font["hmtx"][font.getBestCmap()[ord(letter)]][0] / font["head"].unitsPerEm)


def test_a_width_is_the_sum_of_the_letters() -> None:
    assert width("mi") == pytest.approx(advance("m") + advance("i"))
    assert width("mi", bold=True) == pytest.approx(BOLD * (advance("m") + advance("i")))
    assert width("mi", mono=True) == pytest.approx(2 * MONO)


def test_a_chinese_letter_is_one_em() -> None:
    assert width("长度") == 2


def test_lines_break_at_spaces() -> None:
    room = width("two words")
    assert lines("two words", room + 0.01) == 1
    assert lines("two words", room - 0.01) == 2
    assert lines("two words two words", room + 0.01) == 2
    assert lines("held\u202ftogether", width("together") + 0.1) == 2


def test_chinese_breaks_between_letters_and_long_words_inside() -> None:
    assert lines("长" * 10, 5) == 2 and lines("长" * 11, 5) == 3
    assert lines("a" * 100, 50 * MONO + 0.001, mono=True) == 2
    assert lines("ab " + "a" * 48, 50 * MONO + 0.001, mono=True) == 2


def test_line_ends_count_and_empty_text_does_not() -> None:
    assert lines("a\nb\n", 10) == 2 and lines("", 10) == 0


def test_the_lines_themselves() -> None:
    room = width("two words") + 0.01
    assert wrapped("two words two words", room) == ["two words", "two words"]
    assert wrapped("two words", room, bold=True) == ["two", "words"]
    assert wrapped("长度" * 3, 4) == ["长度长度", "长度"]
    assert wrapped("a " + "b" * 50 + " c", 3) == ["a", "b" * 50, "c"]
    assert wrapped("", 3) == []
