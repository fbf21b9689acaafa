"""The page's labels, in English or Chinese, from templates/i18n."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from analyzer.errors import UsageError
from analyzer.report.phrases import load_phrases
from analyzer.resources import templates_dir

Entry = str | Mapping[str, str]


@dataclass(frozen=True)
class Words:
    """Labels by dotted key. An entry with `one` and `other` is chosen by the value `n`."""

    language: str
    entries: Mapping[str, Entry]

    def __call__(self, key: str, **values: object) -> str:
        """The label with its {placeholders} filled. Raises KeyError for an unknown key."""
        entry = self.entries[key]
        if not isinstance(entry, str):
            entry = entry["one" if values.get("n") == 1 else "other"]
        if isinstance(number := values.get("n"), int):
            values["n"] = f"{number:,}"
        return entry.format(**values)

    def get(self, key: str, default: str) -> str:
        """The label, or the default where there is none."""
        return self(key) if key in self.entries else default

    def phrase(self, text: str) -> str:
        """A text that the tool made of a measurement, in this language."""
        return load_phrases(self.language, self("list.semicolon"))(text)

    def series(self, name: str) -> str:
        """A series' meaning in a few words; its name with spaces where it has none."""
        return self.get(f"series.{name}", name.replace("_", " "))

    def listed(self, items: tuple[str, ...], limit: int) -> str:
        """The first `limit` items with commas, and how many more there are."""
        text = self("list.comma").join(items[:limit])
        rest = len(items) - limit
        return text if rest <= 0 else text + self("list.more", n=rest)


@cache
def load_words(language: str) -> Words:
    """The labels of a language. Raises UsageError where there are none."""
    path = templates_dir() / "i18n" / f"{language}.json"
    if not path.is_file():
        known = ", ".join(sorted(p.stem for p in path.parent.glob("*.json")))
        raise UsageError(f"no labels for language {language!r}", hint=f"known: {known}")
    return Words(language, dict(_flat(json.loads(path.read_text("utf-8")), "")))


def _flat(tree: Mapping[str, object], prefix: str) -> Iterator[tuple[str, Entry]]:
    for key, value in tree.items():
        if isinstance(value, dict) and value.keys() != {"one", "other"}:
            yield from _flat(value, f"{prefix}{key}.")
        elif isinstance(value, str | dict):
            yield prefix + key, value
