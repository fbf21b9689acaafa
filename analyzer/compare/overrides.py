"""Settings of an experiment: this run's keys and values, as YAML and as arguments."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping, Sequence

from analyzer.compare.configuration import NO_DEFAULT, is_in_version
from analyzer.compare.procedure_spec import Append, CopyOf, ExperimentChange, Planned
from analyzer.findings.model import ConfigChange
from analyzer.rulebook.model import Change, RemedySpec, SetTo
from analyzer.rulebook.remedies import judge_remedy
from analyzer.tables.catalog import AREAL
from analyzer.tables.run import RunTables

# What needs no quotes, neither in Hydra's grammar of overrides nor in a shell.
PLAIN = re.compile(r"[A-Za-z_/][A-Za-z0-9_./:@-]*")
WORDS = ("true", "false", "null", "nan", "inf")
EXPONENT = re.compile(r"^(-?\d+)e")


def overrides(
    wanted: Mapping[str, ExperimentChange], run: RunTables, steps: int | None
) -> tuple[tuple[ConfigChange, ...], tuple[tuple[str, str], ...]]:
    """The changes by the framework's own keys, and AReaL's keys that cannot be given, with why.

    What is so already is left out of both.
    """
    changes: list[ConfigChange] = []
    left: list[tuple[str, str]] = []
    for key, change in wanted.items():
        found = _change(key, change, run, steps)
        if isinstance(found, str):
            left.append((key, found))
        else:
            changes += [row for row in found if row.now != row.to]
    return tuple(changes), tuple(left)


def _change(
    key: str, change: ExperimentChange, run: RunTables, steps: int | None
) -> tuple[ConfigChange, ...] | str:
    """The change as it fits this run, or why there is none."""
    framework = run.manifest.framework
    if run.key_of(key) is None:
        return f"not known for {framework}" if framework else "the framework is not known"
    known = run.catalog.config_keys[key]
    if run.framework == AREAL and run.config(key) is None and not is_in_version(run, known):
        return known.removed or f"not in every version of {framework} that this run may be of"
    fixed = _fixed(key, change, run, steps)
    if isinstance(fixed, str):
        return fixed
    spec = RemedySpec(do="", config={key: fixed})
    found = judge_remedy(spec, "", "", run, run.catalog.config_keys, blocked=False)
    return found.changes or f"{run.key_of(key)} is not in the configuration"


def _fixed(key: str, change: ExperimentChange, run: RunTables, steps: int | None) -> Change | str:
    """The change as a rule's remedy has it, or why it has no value."""
    if isinstance(change, CopyOf):
        value = _present(change.copy_of, run)
        return (
            f"{change.copy_of} is not in the configuration" if value is None else SetTo(set=value)
        )
    if isinstance(change, Append):
        value = _present(key, run)
        if not isinstance(value, str):
            return f"{key} is not in the configuration"
        return SetTo(set=value.removesuffix(change.append) + change.append)
    if isinstance(change, Planned):
        return "the number of steps is not known" if steps is None else SetTo(set=steps)
    return change


def _present(key: str, run: RunTables) -> str | int | float | None:
    """The text or number at AReaL's key, or its default; None for anything else."""
    found = run.config(key)
    value = found.value if found is not None else None
    if found is None and run.framework == AREAL:
        default = run.catalog.config_keys[key].default
        value = None if default in NO_DEFAULT else default
    return value if isinstance(value, str | int | float) else None


def as_yaml(changes: Sequence[ConfigChange]) -> str:
    """The changes as a YAML document of nested sections, by YAML 1.1 and 1.2 alike."""
    lines: list[str] = []
    above: tuple[str, ...] = ()
    for change in sorted(changes, key=lambda change: change.key.split(".")):
        *sections, last = change.key.split(".")
        shared = 0
        while shared < min(len(above), len(sections)) and above[shared] == sections[shared]:
            shared += 1
        lines += [f"{'  ' * i}{name}:" for i, name in enumerate(sections) if i >= shared]
        # `1e-06` is text by YAML 1.1, which wants a point.
        value = EXPONENT.sub(r"\1.0e", change.to)
        lines.append(f"{'  ' * len(sections)}{last}: {value}")
        above = tuple(sections)
    return "\n".join(lines)


def as_arguments(changes: Sequence[ConfigChange], form: str) -> str:
    """The changes as arguments of a shell's command line, by the framework's form."""
    words = [
        shlex.quote(part.format(key=c.key, flag=c.key.replace("_", "-"), value=_argument(c.to)))
        for c in changes
        for part in form.split()
    ]
    return " ".join(words)


def _argument(text: str) -> str:
    """A value that is plain text stands without quotes."""
    value = json.loads(text)
    plain = isinstance(value, str) and PLAIN.fullmatch(value) and value.lower() not in WORDS
    return str(value) if plain else text
