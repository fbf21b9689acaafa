"""The `when` of a rule: conditions joined by all, any and not."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from pydantic import ValidationError

from analyzer.rulebook.conditions import BY_KIND
from analyzer.rulebook.conditions.base import Condition, Windowed
from analyzer.rulebook.outcome import Outcome
from analyzer.rulebook.windows import combine
from analyzer.strict_yaml import Document, YamlPath, did_you_mean, validation_errors

JOINTS = ("all", "any", "not")
Joint = Literal["all", "any", "not"]


@dataclass(frozen=True)
class Node:
    """A joint with its children, or a single condition."""

    joint: Joint | None
    children: tuple[Node, ...] = ()
    condition: Condition | None = None

    def conditions(self) -> Iterator[Condition]:
        """All conditions, in the order written."""
        if self.condition is not None:
            yield self.condition
        for child in self.children:
            yield from child.conditions()

    def evaluate(self, judge: Callable[[Condition], Outcome]) -> Outcome:
        """The outcome of the whole, asking `judge` for each condition."""
        if self.condition is not None:
            return judge(self.condition)
        assert self.joint is not None
        outcomes = [child.evaluate(judge) for child in self.children]
        if self.joint == "all":
            outcomes = self._bounded_by_more_than_the_start(outcomes)
        return combine(self.joint, outcomes)

    def _bounded_by_more_than_the_start(self, outcomes: Sequence[Outcome]) -> list[Outcome]:
        """How a run began bounds no finding, where another condition says how long it went on."""
        starts = [
            isinstance(child.condition, Windowed) and child.condition.first is not None
            for child in self.children
        ]
        if not any(o.windows for o, start in zip(outcomes, starts, strict=True) if not start):
            return list(outcomes)
        return [
            replace(outcome, windows=(), onset=None) if start else outcome
            for outcome, start in zip(outcomes, starts, strict=True)
        ]


def build_tree(
    document: Document, where: YamlPath, data: Any, values: Mapping[str, float | int]
) -> Node | None:
    """Build the tree of the data at `where`, `$name` replaced by `values`.

    Faults go to document.errors; None where there are any.
    """
    if not isinstance(data, dict) or len(data) != 1:
        count = len(data) if isinstance(data, dict) else "no"
        message = f"a condition is one kind with its parameters, not {count} keys"
        document.errors.append(document.error(where, message, "begin each with a dash below all:"))
        return None
    ((kind, inside),) = data.items()
    if kind in JOINTS:
        return _joint(document, (*where, kind), kind, inside, values)
    if kind not in BY_KIND:
        hint = did_you_mean(kind, [*BY_KIND, *JOINTS]) or "kinds: " + ", ".join(BY_KIND)
        document.errors.append(document.error((*where, kind), f"unknown condition {kind!r}", hint))
        return None
    return _leaf(document, (*where, kind), BY_KIND[kind], inside, values)


def _joint(
    document: Document,
    where: YamlPath,
    joint: Joint,
    inside: Any,
    values: Mapping[str, float | int],
) -> Node | None:
    if joint == "not":
        child = build_tree(document, where, inside, values)
        return Node("not", (child,)) if child else None
    if not isinstance(inside, list) or not inside:
        document.errors.append(document.error(where, f"{joint!r} wants a list of conditions"))
        return None
    children = [build_tree(document, (*where, i), c, values) for i, c in enumerate(inside)]
    whole = tuple(child for child in children if child is not None)
    return Node(joint, whole) if len(whole) == len(children) else None


def _leaf(
    document: Document,
    where: YamlPath,
    model: type[Condition],
    inside: Any,
    values: Mapping[str, float | int],
) -> Node | None:
    before = len(document.errors)
    filled = _fill(document, where, inside, values)
    if len(document.errors) > before:
        return None
    try:
        return Node(None, condition=model.model_validate(filled))
    except ValidationError as cause:
        document.errors.extend(validation_errors(cause, document, where, model))
        return None


def _fill(document: Document, where: YamlPath, data: Any, values: Mapping[str, float | int]) -> Any:
    """The data with `$name` replaced by the parameter's value."""
    if isinstance(data, dict):
        return {k: _fill(document, (*where, k), v, values) for k, v in data.items()}
    if isinstance(data, list):
        return [_fill(document, (*where, i), v, values) for i, v in enumerate(data)]
    if isinstance(data, str) and data.startswith("$"):
        if data[1:] in values:
            return values[data[1:]]
        hint = did_you_mean(data[1:], list(values)) or "declare it below params:"
        document.errors.append(document.error(where, f"unknown parameter {data!r}", hint))
    return data
