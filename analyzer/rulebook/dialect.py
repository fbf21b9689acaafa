"""Texts that differ by framework: `<areal>…</areal>` is said of AReaL's runs and of no others.

`<else>…</else>` is said where the text has no words for the run's framework.
"""

from __future__ import annotations

import re

_ELSE = "else"
_MARKED = re.compile(r"<([a-z][a-z-]*)>(.*?)</\1>", re.DOTALL)


def spoken(text: str, framework: str | None) -> str:
    """The text as it is said of a run of this framework; empty where nothing of it holds there."""
    told = framework if framework in frameworks_in(text) else _ELSE
    return _MARKED.sub(lambda m: m[2] if m[1] == told else "", text)


def frameworks_in(text: str) -> set[str]:
    """The frameworks that a text has words of its own for."""
    return {match[1] for match in _MARKED.finditer(text)} - {_ELSE}
