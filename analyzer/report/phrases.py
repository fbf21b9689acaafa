"""Texts that the tool makes of its measurements, in another language than English.

The rulebook writes them in English, and so do the exports. templates/i18n/phrases has a list of
pairs a language: a phrase with {placeholders} and what it becomes. What a placeholder stands for is
kept as it is; that of `{try_…}` is translated where it is a phrase itself, and that of `{tr_…}`
must be one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from analyzer.resources import templates_dir

PLACEHOLDER = re.compile(r"\\\{(\w+)\\\}")
# What a placeholder may stand for, by its name: counts and steps, names of series and keys, texts
# of any kind; all others are values.
KINDS = {
    **dict.fromkeys(("n", "m", "l", "h"), r"[\d,]+"),
    **dict.fromkeys(("s", "t", "k"), r"[\w./]+(?: and [\w.]+)*"),
    **dict.fromkeys(("message", "place", "file", "what"), r".+?"),
}
VALUE = r"[^;:]+?"
BETWEEN = "; "


@dataclass(frozen=True)
class Phrases:
    """The phrases of one language, in the order in which they are tried."""

    pairs: tuple[tuple[re.Pattern[str], str], ...]
    between: str  # what stands between two phrases

    def __call__(self, text: str) -> str:
        """The text in this language; unchanged where no phrase fits."""
        found = self._whole(text)
        if found is not None:
            return found
        parts = text.split(BETWEEN)
        said = [self._whole(part) or part for part in parts]
        return text if said == parts else self.between.join(said)

    def _whole(self, text: str) -> str | None:
        return next((said for said in self._fitting(text)), None)

    def _fitting(self, text: str) -> Iterator[str]:
        for pattern, translation in self.pairs:
            match = pattern.fullmatch(text)
            if match is None:
                continue
            values = {name: self._value(name, value) for name, value in match.groupdict().items()}
            if None not in values.values():
                yield translation.format(**values)

    def _value(self, name: str, value: str) -> str | None:
        if name.startswith("try_"):
            return self(value)
        return self._whole(value) if name.startswith("tr_") else value


@cache
def load_phrases(language: str, between: str) -> Phrases:
    """The phrases of a language; none for one that has no list."""
    path = templates_dir() / "i18n" / "phrases" / f"{language}.json"
    pairs = json.loads(path.read_text("utf-8")) if path.is_file() else []
    return Phrases(tuple((_pattern(phrase), said) for phrase, said in pairs), between)


def _pattern(phrase: str) -> re.Pattern[str]:
    def group(placeholder: re.Match[str]) -> str:
        name = placeholder[1]
        nested = name.startswith(("try_", "tr_"))
        return f"(?P<{name}>{'.+?' if nested else KINDS.get(name, VALUE)})"

    return re.compile(PLACEHOLDER.sub(group, re.escape(phrase)), re.DOTALL)
