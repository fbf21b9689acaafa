"""Remedies against this run's own configuration: to apply, already in force, or unknown."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Literal

from analyzer.findings.model import ConfigChange, Remedy
from analyzer.rulebook.context import RunView
from analyzer.rulebook.model import Change, Lower, Multiply, Raise, RemedySpec, SetTo
from analyzer.tables.config_keys import ConfigKey

Status = Literal["apply", "already", "unknown"]


def judge_remedy(
    spec: RemedySpec, do: str, why: str, run: RunView, keys: Mapping[str, ConfigKey], blocked: bool
) -> Remedy:
    """The remedy as it fits this run.

    `do` and `why` are its sentences in the language of the report; `blocked` says that its
    `unless` holds. A key that the configuration leaves out has the framework's default, and the
    change says so by `now=None`. Keys that the run's framework does not have are left out.
    """
    if blocked:
        return Remedy(do, "already", (), why)
    if not spec.config:
        return Remedy(do, "apply", (), why)
    named = {key: name for key in spec.config if (name := run.key_of(key)) is not None}
    if not named:
        return Remedy(do, "unknown", (), why)
    judged = [_judge(key, name, spec.config[key], run, keys) for key, name in named.items()]
    states = [status for status, _ in judged]
    changes = tuple(change for status, change in judged if change and status != "already")
    if all(status == "already" for status in states):
        return Remedy(do, "already", tuple(c for _, c in judged if c), why)
    status: Status = "unknown" if "unknown" in states else "apply"
    own_names = zip(named.values(), judged, strict=True)
    unnamed = [name for name, (_, change) in own_names if change is None]
    if unnamed:
        do = f"{do} ({', '.join(unnamed)})"
    return Remedy(do, status, changes, why)


def _judge(
    key: str, name: str, change: Change, run: RunView, keys: Mapping[str, ConfigKey]
) -> tuple[Status, ConfigChange | None]:
    value = run.config(key)
    known = keys.get(key) if name == key else None  # another framework has defaults of its own
    current = value.value if value is not None else (known.default if known else None)
    now = None if value is None else json.dumps(value.value)
    if isinstance(change, SetTo):
        status: Status = "already" if value is not None and current == change.set else "apply"
        return (status if run.has_config else "unknown"), ConfigChange(
            name, now, json.dumps(change.set)
        )
    if isinstance(current, bool) or not isinstance(current, int | float) or not run.has_config:
        return "unknown", None
    wanted = _wanted(change, current)
    if value is not None and value.whole is not None:
        return _through_divisor(value.whole, current, wanted, value.key)
    if wanted is None:
        return "already", ConfigChange(name, now, json.dumps(current))
    number = int(wanted) if isinstance(current, int) else float(f"{wanted:.6g}")
    return "apply", ConfigChange(value.key or name if value else name, now, json.dumps(number))


def _through_divisor(
    whole: float, current: float, wanted: float | None, key: str
) -> tuple[Status, ConfigChange]:
    """The change of the divisor that gives the quotient wanted."""
    now, then = whole / current, whole / (current if wanted is None else max(wanted, 1))
    change = ConfigChange(key, json.dumps(round(now)), json.dumps(round(then)))
    return ("already" if wanted is None or round(now) == round(then) else "apply"), change


def _wanted(change: Multiply | Lower | Raise, current: float) -> float | None:
    """The new value, or None where the present one is good."""
    if isinstance(change, Multiply):
        return current * change.multiply if current * change.multiply != current else None
    if isinstance(change, Lower):
        return change.at_most if current > change.at_most else None
    return change.at_least if current < change.at_least else None
