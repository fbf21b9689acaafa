"""What can be told of a response's text without a model, in one pass over it.

Words are compared, or characters where a text has hardly any spaces (Chinese, Japanese). A gram is
four of them in a row. While the grams are read from left to right, each is looked up in those seen
before: a stretch whose every gram stood before at the same distance is a repeated block. A block
may overlap its earlier copy, which is what a loop does.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

GRAM = 4
SHORTEST_BLOCK = 8  # words; a phrase of four to seven is found twice in any long text
LOOP_PERIODS = 3
SHORTEST_LOOP = 12  # words
LOOP = 0.1  # share of the response that a loop at its end has, to be called one that loops
FEW_DIFFERENT = 0.3  # distinct grams; a loop with a counter in it is none of exact copies
_LETTERS_A_WORD = 20  # more characters than this between spaces: a script without spaces

# Marks of a turn's end that tokenizers write where special tokens are kept.
_END = re.compile(r"(?:<[|｜][^<>|｜]{1,40}[|｜]>|</s>|<eos>|<end_of_turn>)\s*\Z")
_TAIL = 64
_TAGS = re.compile(r"<[^<>]{0,40}>")
_SENTENCE_ENDS = frozenset(".!?…。！？\"'”’)]}）】》」』`*_$|>")  # with what may close after them
_ANSWERS = ("\\boxed", "<answer>", "####", "answer is", "answer:", "答案")


@dataclass(frozen=True, slots=True)
class Measures:
    """Of one response; shares are 0 to 1."""

    chars: int
    ended: bool  # its last token is an end of turn, told by the text
    empty: bool  # no letter and no digit but in tags
    mid_sentence: bool  # its last sentence has no end
    has_answer: bool  # there is an answer box or a phrase that announces an answer
    distinct_ngrams: float | None  # different grams of all grams; None: fewer than four words
    repetition: float  # longest repeated block of the whole
    loop_share: float  # the loop that it ends in of the whole; 0: it ends in none

    @property
    def loops(self) -> bool:
        """Does it end in a loop, or go round in one that changes a little?"""
        varied = self.distinct_ngrams is None or self.distinct_ngrams >= FEW_DIFFERENT
        return self.loop_share >= LOOP or not varied


def measure(text: str) -> Measures:
    """All measures of a response. Linear in its length."""
    end = _END.search(text, max(0, len(text) - _TAIL))
    body = text[: end.start()] if end else text
    distinct, block, loop = _repetition(body)
    return Measures(
        len(text),
        end is not None,
        _is_empty(body),
        _stops_mid_sentence(body),
        _has_answer(body),
        distinct,
        block,
        loop,
    )


def _is_empty(body: str) -> bool:
    if any(map(str.isalnum, body[:_TAIL])) and "<" not in body[:_TAIL]:
        return False
    return not any(map(str.isalnum, _TAGS.sub("", body)))


def _stops_mid_sentence(body: str) -> bool:
    tail = body[-_TAIL:].rstrip()
    return bool(tail) and tail[-1] not in _SENTENCE_ENDS and not tail[-1].isdigit()


def _has_answer(body: str) -> bool:
    lowered = body.lower()
    return any(phrase in lowered for phrase in _ANSWERS)


def _units(body: str) -> Sequence[str]:
    """Words, or characters; the last word is left out, as it may be cut off."""
    words = body.split()
    if len(words) * _LETTERS_A_WORD < len(body):
        return "".join(words)
    return words[:-1]


def _repetition(body: str) -> tuple[float | None, float, float]:
    """Share of distinct grams, of the longest repeated block, and of the loop at the end."""
    units = _units(body)
    grams = len(units) - GRAM + 1
    if grams < 1:
        return None, 0.0, 0.0
    seen: dict[tuple[str, ...], int] = {}
    longest = run = distance = 0
    for i, gram in enumerate(zip(units, units[1:], units[2:], units[3:], strict=False)):
        before = seen.get(gram)
        seen[gram] = i
        if before is None:
            run = 0
        elif i - before == distance:
            run += 1
            if run > longest:  # noqa: PLR1730 (the loop is read for each word; max() takes as long)
                longest = run
        else:
            run, distance = 1, i - before
            longest = max(longest, 1)
    block = longest + GRAM - 1 if longest else 0
    loop = run + GRAM - 1 + distance if run else 0
    loops = run and loop >= max(LOOP_PERIODS * distance, SHORTEST_LOOP)
    return (
        round(len(seen) / grams, 4),
        round(block / len(units), 4) if block >= SHORTEST_BLOCK else 0.0,
        round(loop / len(units), 4) if loops else 0.0,
    )


def foreign_share(prompt: str, completion: str) -> float | None:
    """Letters of non-Latin scripts in the response, of all its letters; None: the prompt has some.

    Greek is not counted, for mathematics is written with it.
    """
    if prompt.isascii() or not _letters(prompt)[1]:
        if completion.isascii():
            return 0.0
        latin, foreign = _letters(completion)
        return round(foreign / (latin + foreign), 4) if foreign else 0.0
    return None


def _letters(text: str) -> tuple[int, int]:
    """Latin letters, and letters of other scripts but Greek."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    lowered = codes | 0x20
    latin = ((lowered >= 0x61) & (lowered <= 0x7A)) | ((codes >= 0xC0) & (codes <= 0x24F))
    foreign = (
        ((codes >= 0x400) & (codes < 0x1D00))  # Cyrillic to Vedic
        | ((codes >= 0x2E80) & (codes <= 0x2FDF))  # CJK radicals
        | ((codes >= 0x3040) & (codes <= 0xA4CF))  # kana, Hangul letters, CJK, Yi
        | ((codes >= 0xAC00) & (codes <= 0xD7FF))  # Hangul syllables
        | ((codes >= 0xF900) & (codes <= 0xFAFF))
        | ((codes >= 0x20000) & (codes <= 0x3FFFF))
    )
    return int(latin.sum()), int(foreign.sum())
