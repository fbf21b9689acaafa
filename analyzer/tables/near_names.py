"""Names of a table that no series is known by, and what they may mean.

Only for files whose writer is not known: a framework's own names that the catalog does not have are
simply not judged, but a hand-made table may have everything under names of its own.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from difflib import get_close_matches

from analyzer.sources.records import Note
from analyzer.tables.catalog import Catalog

LIKE = 0.8  # of difflib's ratio: one letter in five may differ
SHOWN = 5
# Words that say how a number was taken, not what it is of.
_MANNER = frozenset({"mean", "avg", "average", "train", "training", "actor", "policy", "metrics"})
_WORD = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z0-9]+(?![a-z])")


def near_names(names: Iterable[str], known: Collection[str], catalog: Catalog) -> Note | None:
    """What names without a series may mean, with the line for `analyzer.yaml`; None for nothing.

    `known` are the series that the run has already; none of them is proposed.
    """
    words = _by_words(catalog, known)
    found: dict[str, str] = {}
    for name in sorted(names):
        near = get_close_matches(_words(name), words, n=1, cutoff=LIKE)
        if near:
            found.setdefault(words[near[0]], name)
    if not found:
        return None
    shown = list(found.items())[:SHOWN]
    lines = ", ".join(f"{series}: [{name}]" for series, name in shown)
    more = f", and {len(found) - len(shown)} more" if len(found) > len(shown) else ""
    return Note(
        "names-like-known",
        f"columns that look like known series{more}; where they are, put into analyzer.yaml "
        f"aliases: {{{lines}}}",
    )


def _by_words(catalog: Catalog, known: Collection[str]) -> dict[str, str]:
    """Words → the one series that they name, here or in a framework's log."""
    meant: dict[str, set[str]] = {}
    for words, series in _spellings(catalog):
        meant.setdefault(words, set()).add(series)
    return {
        words: next(iter(series))
        for words, series in meant.items()
        if words and len(series) == 1 and not series & set(known)
    }


def _spellings(catalog: Catalog) -> Iterator[tuple[str, str]]:
    for series in catalog.metrics:
        yield _words(series), series
    for vocabulary in catalog.vocabularies.values():
        for logged, alias in vocabulary.aliases.items():
            yield _words(logged), alias.canonical


def _words(name: str) -> str:
    """`train/meanReward` → "reward"."""
    words = [word.lower() for word in _WORD.findall(name)]
    return " ".join(word for word in words if word not in _MANNER)
