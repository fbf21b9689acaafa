"""A rule's conditions in words, and where its numbers come from."""

from __future__ import annotations

from collections.abc import Iterator

from analyzer.rulebook.conditions.base import Condition, Windowed
from analyzer.rulebook.tree import Node
from analyzer.tables.catalog import Catalog

# One sentence a kind; {…} are the condition's own fields, `amount` and `names` are made below.
SENTENCES = {
    "level": "{names} is {amount}",
    "target": "{names} is off {value:g} by more than {tolerance:g}",
    "trend": "{names} {amount}",
    "shift": "{names} jumps {direction}, by at least {min_effect:g} σ of its noise",
    "spread": "the noise of {names} ({measure}) is above {above:g}",
    "spike": "{names} has at least {at_least} outliers ({direction}) beyond {z:g} σ",
    "constant": "{names} has the same value",
    "nonfinite": "{names} is NaN or infinite",
    "missing": "{names} is missing",
    "together": "{names} move together ({sign} direction, ρ ≥ {min_rho:g})",
    "order": "{first} begins to move before {then}",
    "differs": "{names} differs from the {against} run ({direction}), by more than {min_effect:g}",
    "config": "the configuration has {key} {amount}",
    "log": "the text logs have lines that match /{pattern}/ {amount}",
    "fact": "{name} is {amount}",
}

# What a kind computes, for those that are more than a comparison.
METHODS = {
    "trend": "Mann–Kendall's test, variance corrected for autocorrelation; size by Theil–Sen",
    "together": "Spearman on levels; p from drifts at the same time, or by block bootstrap",
    "shift": "change points by squared error, penalty c·σ²·ln n, then a test of the two levels",
    "order": "the 95 % intervals of the steps where two drifts start",
    "differs": "difference of means, the variance of each corrected for autocorrelation",
    "spike": "distance from the median of 11 neighbours, in σ of first differences",
    "spread": "σ from the median absolute deviation of the detrended series",
}


def in_words(node: Node, depth: int = 0) -> Iterator[str]:
    """The tree as indented lines."""
    indent = "  " * depth
    if node.condition is not None:
        yield f"{indent}- {sentence(node.condition)}"
        return
    yield indent + {"all": "all of:", "any": "any of:", "not": "not:"}[node.joint or "all"]
    for child in node.children:
        yield from in_words(child, depth + 1)


def sentence(condition: Condition) -> str:
    """One condition as a sentence, its duration and part of the run included."""
    fields = {name: getattr(condition, name) for name in type(condition).model_fields}
    fields["names"] = " and ".join(condition.series_names())
    fields["amount"] = _amount(condition)
    text = SENTENCES[condition.kind].format(**fields)
    return text + (_duration(condition) if isinstance(condition, Windowed) else "")


def _amount(condition: Condition) -> str:
    parts = []
    for name, words in (
        ("above", "above {}"),
        ("below", "below {}"),
        ("outside", "outside {}"),
        ("equals", "equal to {}"),
        ("not_equals", "other than {}"),
        ("one_of", "one of {}"),
        ("at_least", "at least {} times"),
        ("at_most", "at most {} times"),
    ):
        value = getattr(condition, name, None)
        if value is not None and (name in condition.model_fields_set):
            parts.append(words.format(_plain(value)))
    if getattr(condition, "present", None):
        parts.append("set")
    if getattr(condition, "absent", None):
        parts.append("not set")
    if condition.kind == "trend":
        parts.append(_drift(condition))
    return ", ".join(parts)


def _drift(condition: Condition) -> str:
    direction = getattr(condition, "direction", "")
    verb = {"up": "rises", "down": "falls"}.get(direction, "neither rises nor falls")
    sizes = []
    if (change := getattr(condition, "min_change", None)) is not None:
        sizes.append(_plain(change))
    if (ratio := getattr(condition, "min_change_ratio", None)) is not None:
        sizes.append(f"{100 * ratio:g} % of its start")
    if not sizes:
        return verb
    return f"{verb} by {'' if direction == 'none' else 'at least '}{' and '.join(sizes)}"


def _plain(value: object) -> str:
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, tuple):
        return " to ".join(_plain(item) for item in value)
    return str(value)


def _duration(condition: Windowed) -> str:
    parts = []
    if condition.for_ > 1:
        parts.append(f"for {condition.for_} logged steps in a row")
    if condition.allow_gaps:
        parts.append(f"{condition.allow_gaps} exceptions allowed")
    if (share := getattr(condition, "share", None)) is not None:
        parts.append(f"at {100 * share:g} % of the steps")
    if condition.after is not None:
        parts.append(f"after the first {condition.after} steps")
    for name in ("first", "last"):
        amount = getattr(condition, name)
        if amount is not None:
            part = f"{100 * amount:g} % of the run" if amount < 1 else f"{amount:g} steps"
            parts.append(f"in the {name} {part}")
    if condition.around is not None:
        parts.append("around a restart")
    return "".join(f", {part}" for part in parts)


def sql_of(name: str, catalog: Catalog) -> str:
    """The query that a series comes from."""
    derived = catalog.derived.get(name)
    if derived is None:
        return f"SELECT step, value FROM standing WHERE canonical = '{name}' ORDER BY step"
    if derived.sql is not None:
        return " ".join(derived.sql.split())
    return f"SELECT step, {derived.expressions[0]} AS value  -- over series joined by step"
