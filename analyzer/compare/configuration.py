"""What two configurations set differently, the framework's defaults filled in."""

from __future__ import annotations

import json
from collections.abc import Sequence

from analyzer.compare.model import KeyDifference
from analyzer.tables.config_keys import ConfigKey
from analyzer.tables.run import RunTables

# Keys that name a run or a place differ between any two runs and say nothing of the training.
NAMES = ("experiment_name", "trial_name", "fileroot", "name_resolve", "logdir")
LOGS = "stats_logger."  # where a run logs to, with paths
SEEDS = ("seed", "random_seed")
NO_DEFAULT = ("section", "REQUIRED")
FRAMEWORK = "areal"  # whose schema of keys is here


def config_difference(mine: RunTables, other: RunTables) -> tuple[KeyDifference, ...] | None:
    """Keys whose values differ, by name; None where a run has no configuration.

    A key that a configuration leaves out has the framework's default, where the schema of its
    version tells one.
    """
    if not (mine.has_config and other.has_config):
        return None
    keys = {key for run in (mine, other) for key, _ in run.config_items()}
    rows = []
    for key in sorted(keys):
        if key.rpartition(".")[2] in NAMES or key.startswith(LOGS):
            continue
        (a, a_default), (b, b_default) = (_value(run, key) for run in (mine, other))
        if a != b:
            rows.append(KeyDifference(key, a, b, a_default, b_default))
    return tuple(rows)


def is_another_seed(differences: Sequence[KeyDifference] | None) -> bool:
    """Do two configurations differ in nothing but seeds?"""
    return differences is not None and all(
        row.key.rpartition(".")[2] in SEEDS for row in differences
    )


def _value(run: RunTables, key: str) -> tuple[str | None, bool]:
    """The value as JSON text, and whether it is a default."""
    found = run.config(key)
    if found is not None:
        return _json(found.value), False
    known = run.catalog.config_keys.get(key)
    if known is None or not _has_default(run, key, known):
        return None, False
    return _json(known.default), True


def _json(value: object) -> str:
    """1 and 1.0 are one value."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        value = int(value)
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _has_default(run: RunTables, key: str, known: ConfigKey) -> bool:
    if known.default in NO_DEFAULT or (run.manifest.framework or "").lower() != FRAMEWORK:
        return False
    return is_in_version(run, known) and all(_is_there(run, section) for section in _above(key))


def _above(key: str) -> list[str]:
    parts = key.split(".")
    return [".".join(parts[:n]) for n in range(1, len(parts))]


def _is_there(run: RunTables, section: str) -> bool:
    """A section that is null unless it is written has no keys, and so no defaults."""
    found = run.config(section)
    if found is not None:
        return found.value is not None
    known = run.catalog.config_keys.get(section)
    return known is None or known.default is not None


def is_in_version(run: RunTables, known: ConfigKey) -> bool:
    """Is the key in every version of the schema, or in all since the run's build?"""
    every = sorted({v for k in run.catalog.config_keys.values() for v in k.versions}, key=_month)
    since = run.build_since
    later = [v for v in every if since is not None and _month(v) >= f"{since:%Y-%m}"]
    return set(later or every) <= set(known.versions)


def _month(version: str) -> str:
    """`cbff54d6 2026-08` → `2026-08`."""
    return version.rpartition(" ")[2]
