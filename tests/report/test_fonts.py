"""Embedded fonts hold the letters of the page, and little else."""

from __future__ import annotations

import base64
from io import BytesIO

from fontTools.ttLib import TTFont

from analyzer.report.fonts import EmbeddedFont, embedded_fonts


def opened(font: EmbeddedFont) -> TTFont:
    data = base64.b64decode(font.uri.removeprefix("data:font/woff2;base64,"))
    return TTFont(BytesIO(data))


def test_three_faces_with_the_letters_that_are_used() -> None:
    fonts = embedded_fonts("Ø θ")
    assert [(f.family, f.weight) for f in fonts] == [
        ("IBM Plex Sans", 400),
        ("IBM Plex Sans", 600),
        ("IBM Plex Mono", 400),
    ]
    for font in fonts:
        letters = opened(font).getBestCmap()
        assert {ord("Ø"), ord("a"), ord("→"), ord("•")} <= letters.keys()
        assert ord("ж") not in letters
        assert len(font.uri) < 20_000


def test_each_weight_is_a_fixed_one() -> None:
    regular, bold, _ = (opened(font) for font in embedded_fonts(""))
    assert regular["OS/2"].usWeightClass == 400 and bold["OS/2"].usWeightClass == 600
    assert "fvar" not in regular


def test_the_same_letters_give_the_same_bytes() -> None:
    embedded = embedded_fonts("abc")
    from analyzer.report import fonts

    fonts._cut.cache_clear()
    assert embedded_fonts("cba") == embedded
