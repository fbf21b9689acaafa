"""What one framework calls the series of the catalog, and which framework a run's names are of."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from analyzer.tables.metric_files import Defect, Logged

# Names of files whose writer is not known: `reward`, `entropy` …
ANY = "any"
_ENOUGH_MARKS = 2
# What exporters write for `/` and `@`.
_SEPARATORS = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True)
class Alias:
    """A name as logged: which series it is, and how its values are made equal to the others."""

    canonical: str
    rank: int  # where a series has several names, the lowest counts
    scale: float = 1
    offset: float = 0

    def spelled(self, logged: str) -> str:
        """The name with its conversion: "1 - val/stop_rate", "-1 · actor/ppo_kl"."""
        if self.scale == 1 and self.offset == 0:
            return logged
        if self.offset == 0:
            return f"({self.scale:g} · {logged})"
        size = "" if abs(self.scale) == 1 else f"{abs(self.scale):g} · "
        return f"({self.offset:g} {'-' if self.scale < 0 else '+'} {size}{logged})"


@dataclass(frozen=True)
class Vocabulary:
    """The names of one framework."""

    framework: str  # "verl", as facts of a run name it
    title: str  # "verl", as it calls itself
    aliases: dict[str, Alias] = field(default_factory=dict)  # without those with a `*`
    patterns: dict[str, Alias] = field(default_factory=dict)  # `*` stands for anything
    marks: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    first_step: int = 0
    defects: dict[str, tuple[Defect, ...]] = field(default_factory=dict)  # by canonical name

    def find(self, logged: str) -> Alias | None:
        """The series of a name, also where an export wrote its separators in another way."""
        if logged in self.aliases:
            return self.aliases[logged]
        if any(pattern.fullmatch(logged) for pattern in self._ignored):
            return None
        if (exact := self._squashed.get(squash(logged))) is not None:
            return exact
        shown = (logged, squash(logged))
        return next(
            (alias for pattern, alias in self._regexes if any(map(pattern.fullmatch, shown))), None
        )

    def names_of(self, canonical: str) -> list[str]:
        """The names of a series, preferred first, each with its conversion."""
        tables = [*self.aliases.items(), *self.patterns.items()]
        return [a.spelled(name) for name, a in tables if a.canonical == canonical]

    def is_marked_by(self, logged: str) -> bool:
        """Does only this framework log such a name?"""
        exact, patterns = self._marks
        return squash(logged) in exact or any(p.fullmatch(logged) for p in patterns)

    @cached_property
    def _squashed(self) -> Mapping[str, Alias]:
        found: dict[str, Alias] = {}
        for name, alias in self.aliases.items():
            found.setdefault(squash(name), alias)
        return found

    @cached_property
    def _regexes(self) -> list[tuple[re.Pattern[str], Alias]]:
        return [(_regex(pattern), alias) for pattern, alias in self.patterns.items()]

    @cached_property
    def _ignored(self) -> list[re.Pattern[str]]:
        return [_regex(pattern) for pattern in self.ignored]

    @cached_property
    def _marks(self) -> tuple[frozenset[str], tuple[re.Pattern[str], ...]]:
        exact = frozenset(squash(mark) for mark in self.marks if "*" not in mark)
        return exact, tuple(_regex(mark) for mark in self.marks if "*" in mark)


def squash(name: str) -> str:
    """A name without its separators' spelling: equal for `actor/ppo_kl` and `actor_ppo_kl`."""
    return _SEPARATORS.sub("_", name.lower().replace("_at_", "@")).strip("_")


def _regex(pattern: str) -> re.Pattern[str]:
    """Matches the name, and the name squashed."""
    parts = pattern.split("*")
    plain = ".+".join(re.escape(part) for part in parts)
    squashed = ".+".join(_SEPARATORS.sub("_", part.lower()) for part in parts)
    return re.compile(f"{plain}|{squashed}")


def spellings(patterns: Iterable[str], roles: Mapping[str, tuple[str, ...]]) -> list[str]:
    """`<actor>/[update/]entropy/avg` → every name that it stands for, preferred first."""
    names: list[str] = []
    for pattern in patterns:
        parts: list[tuple[str, ...]] = []
        for part in re.split(r"(<\w+>|\[[^\]]+\])", pattern):
            if part.startswith("<") and part[1:-1] in roles:
                parts.append(roles[part[1:-1]])
            elif part.startswith("["):
                parts.append((part[1:-1], ""))
            else:
                parts.append((part,))
        names.extend("".join(choice) for choice in itertools.product(*parts))
    return names


def aliases_of(
    canonical: str, logged: Logged, roles: Mapping[str, tuple[str, ...]]
) -> list[tuple[str, Alias]]:
    """Every name that stands for a series, preferred first."""
    found: list[tuple[str, Alias]] = []
    for spelling in logged:
        name = spelling if isinstance(spelling, str) else spelling.name
        scale = 1.0 if isinstance(spelling, str) else spelling.scale
        offset = 0.0 if isinstance(spelling, str) else spelling.offset
        for full in spellings([name], roles):
            found.append((full, Alias(canonical, len(found), scale, offset)))
    return found


def framework_of(vocabularies: Iterable[Vocabulary], names: Iterable[str]) -> str | None:
    """The framework whose own names most of these are; None where none or two are as likely.

    One such name may be chance: people call things by the same words.
    """
    known = list(names)
    counts = {
        vocabulary.framework: sum(vocabulary.is_marked_by(name) for name in known)
        for vocabulary in vocabularies
    }
    best = max(counts.values(), default=0)
    winners = [framework for framework, count in counts.items() if count == best]
    return winners[0] if best >= _ENOUGH_MARKS and len(winners) == 1 else None
