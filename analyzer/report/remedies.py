"""Remedies as the page tells them, with configuration lines ready to paste."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from analyzer.findings.model import ConfigChange, Remedy
from analyzer.report.page import RemedyView
from analyzer.report.words import Words

COMMENT_AT = 44  # column of the comments, where the lines are short enough


def to_do(
    remedies: Sequence[Remedy], words: Words, support: Mapping[str, str] = MappingProxyType({})
) -> tuple[RemedyView, ...]:
    """Those still to be done, in the rule's order; `support` says what speaks for one, by its
    text.
    """
    return tuple(_view(r, words, support.get(r.do, "")) for r in remedies if r.status != "already")


def already_set(remedies: Sequence[Remedy], words: Words) -> tuple[RemedyView, ...]:
    """Those that this run's configuration has already."""
    return tuple(_view(r, words) for r in remedies if r.status == "already")


def _view(remedy: Remedy, words: Words, support: str = "") -> RemedyView:
    unknown = remedy.status == "unknown" and remedy.changes
    note = words("list.space").join(
        filter(None, (support, words("remedy.unknown") if unknown else ""))
    )
    known = remedy.status != "unknown"
    return RemedyView(remedy.do, remedy.why, note, config_lines(remedy.changes, known, words))


def config_lines(changes: Sequence[ConfigChange], known: bool, words: Words) -> str:
    """`key: value  # now old`, a line a key, comments under each other. `known`: the run's
    configuration was read, so that a key without a value is one that is not set.
    """
    lines = [(f"{change.key}: {change.to}", _comment(change, known, words)) for change in changes]
    widths = [len(line) for line, _ in lines if len(line) < COMMENT_AT]
    column = max(widths, default=0) + 4
    return "\n".join(f"{line + '  ':<{column}}# {note}" if note else line for line, note in lines)


def _comment(change: ConfigChange, known: bool, words: Words) -> str:
    if change.now is None:
        return words("config.unset") if known else ""
    if change.now == change.to:
        return words("config.kept")
    return words("config.now", value=change.now)
