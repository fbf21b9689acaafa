"""Texts of a run as they are shown."""

from __future__ import annotations

from analyzer.report.excerpt import HEAD, TAIL, excerpt


def test_a_short_text_is_whole() -> None:
    assert excerpt("a\n\tb", "[{n} left out]") == "a\n\tb"


def test_what_is_no_letter_is_replaced() -> None:
    assert excerpt("a\x00b\u202ec\x1b[31m", "[{n}]") == "a\ufffdb\ufffdc\ufffd[31m"


def test_a_long_text_keeps_its_ends() -> None:
    text = "".join(str(i % 10) for i in range(10_000))
    short = excerpt(text, "[{n} letters]")
    left = 10_000 - HEAD - TAIL
    assert short == f"{text[:HEAD]}\n[{left:,} letters]\n{text[-TAIL:]}"
