"""Labels: both languages say the same things, and every label that is asked for is there."""

from __future__ import annotations

import re
from pathlib import Path
from string import Formatter

import pytest

from analyzer.errors import UsageError
from analyzer.report.words import load_words

ASKED = re.compile(r"""\b(?:words|t)\(\s*"([a-z_0-9.\-]+)"\s*[,)]""")


def placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}


def test_both_languages_have_the_same_labels() -> None:
    assert load_words("en").entries.keys() == load_words("zh").entries.keys()


def test_both_languages_use_the_same_placeholders() -> None:
    english, chinese = load_words("en").entries, load_words("zh").entries
    for key, entry in english.items():
        other = chinese[key]
        texts = entry.values() if not isinstance(entry, str) else [entry]
        wanted = set().union(*(placeholders(text) for text in texts))
        told = [other] if isinstance(other, str) else list(other.values())
        assert set().union(*(placeholders(text) for text in told)) <= wanted, key


def test_every_label_that_is_asked_for_exists(repository: Path) -> None:
    files = [*repository.glob("analyzer/report/*.py"), *repository.glob("templates/*.j2")]
    asked = {key for file in files for key in ASKED.findall(file.read_text("utf-8"))}
    assert len(asked) > 100
    assert asked - load_words("en").entries.keys() == set()


def test_one_and_many() -> None:
    words = load_words("en")
    assert (words("steps", n=1), words("steps", n=1500)) == ("1 step", "1,500 steps")


def test_a_list_says_how_many_more() -> None:
    words = load_words("en")
    assert words.listed(("a", "b", "c", "d"), 2) == "a, b and 2 more"
    assert words.listed(("a", "b"), 2) == "a, b"


def test_a_series_without_a_label_keeps_its_name() -> None:
    words = load_words("en")
    assert words.series("my_own_series") == "my own series"
    assert words.series("entropy") == "Entropy per token"


def test_a_language_without_labels_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match=r"'de'.*known: en, zh"):
        load_words("de")


def test_no_label_shouts() -> None:
    assert not [key for key, entry in load_words("en").entries.items() if "!" in str(entry)]
