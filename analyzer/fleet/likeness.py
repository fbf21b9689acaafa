"""How alike two runs are in a finding: a distance from 0 to 1, by rules, onset and settings.

It is the mean of three parts, each in [0, 1]:

- rules: Jaccard's distance of the sets of rules that fired, 1 − |both| / |either|
- onset: the mean of how far apart its place in the run, the length of its interval and the share of
  steps where it held are, all as shares of the run; 1 where only one of the two has an onset
- settings: of the keys that vary in the history, the share that differs; 1 where a configuration is
  not known

What is not known counts as not alike, so that a run of which little is known is never the nearest
for that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from analyzer.compare.configuration import LOGS, NAMES, SEEDS
from analyzer.findings.seen import SettingPair, Shape

Config = Mapping[str, str]  # key → JSON text


def rules_distance(here: frozenset[str], there: frozenset[str]) -> float:
    """Jaccard's distance; 0 for two empty sets."""
    either = here | there
    return 1 - len(here & there) / len(either) if either else 0.0


def shape_of(finding: Mapping[str, Any], first: int | None, last: int | None) -> Shape | None:
    """The shape of a finding of the findings document; None where it has no onset."""
    onset = finding["onset"]
    if onset is None or first is None or last is None:
        return None
    length = max(1, last - first)
    after = last - onset["step"] + 1
    held = sum(b - a + 1 for a, b in finding["windows"])
    return Shape(
        _share((onset["step"] - first) / length),
        _share((onset["high"] - onset["low"]) / length),
        _share(held / after) if after > 0 else 0.0,
    )


def _share(value: float) -> float:
    return round(min(1.0, max(0.0, value)), 6)


def shape_distance(here: Shape | None, there: Shape | None) -> float:
    """How differently a finding came; 0 where neither has an onset, 1 where one has."""
    if here is None or there is None:
        return 0.0 if here is there else 1.0
    parts = (
        here.place - there.place,
        here.interval - there.interval,
        here.held - there.held,
    )
    return sum(map(abs, parts)) / len(parts)


def varying(configs: Sequence[Config]) -> tuple[str, ...]:
    """Keys that not all of these runs set alike; names, places and seeds are left out."""
    keys = sorted({key for config in configs for key in config})
    return tuple(
        key
        for key in keys
        if key.rpartition(".")[2] not in (*NAMES, *SEEDS)
        and not key.startswith(LOGS)
        and len({config.get(key) for config in configs}) > 1
    )


def settings_differ(
    here: Config, there: Config, keys: Sequence[str]
) -> tuple[SettingPair, ...] | None:
    """The keys that differ; None where a configuration is not known."""
    if not here or not there:
        return None
    pairs = (SettingPair(key, here.get(key), there.get(key)) for key in keys)
    return tuple(pair for pair in pairs if pair.here != pair.there)


def settings_distance(differ: Sequence[SettingPair] | None, keys: Sequence[str]) -> float:
    """The share of the keys that differs; 1 where it is not known."""
    if differ is None:
        return 1.0
    return len(differ) / len(keys) if keys else 0.0


def distance(rules: float, shape: float, settings: float) -> float:
    """The three parts together."""
    return round((rules + shape + settings) / 3, 6)
