"""Consoles whose metrics stand in one line, or one printed dictionary, that names the step.

A shape says how such a line begins and how its values are written. All frameworks of this kind
share one grammar and differ by their shapes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from analyzer.sources.areal_lines import Line
from analyzer.sources.console import Record
from analyzer.sources.records import Facts, Note

_LONGEST_BLOCK = 2000  # lines of a printed dictionary


@dataclass(frozen=True)
class Shape:
    """A kind of line: the pattern that ends where the values begin, with a group `step`."""

    begins: re.Pattern[bytes]
    values: Callable[[str], dict[str, float]]
    prefix: str = ""  # before the names, as the framework's trackers have it
    names: Mapping[str, str] = field(default_factory=dict)  # as printed → as trackers have it
    updates: bool = False  # the step counts updates, of which a rollout may have several
    spans: bool = False  # the values are a dictionary that may go on over several lines
    rollout: bool = False  # the step is that of the rollout which the updates after it train on


@dataclass
class ShapeGrammar:
    """Reads the lines of some shapes."""

    framework: str
    shapes: tuple[Shape, ...]
    total: re.Pattern[bytes] | None = None  # a line with the number of planned steps
    total_steps: int | None = None
    block: list[str] = field(default_factory=list)  # a dictionary that is not closed yet
    block_of: tuple[int, int] | None = None  # its shape and step
    rollout: int | None = None
    sums: dict[str, list[float]] = field(default_factory=dict)  # of updates: sum and count
    update: int | None = None

    def __post_init__(self) -> None:
        patterns = [shape.begins.pattern for shape in self.shapes]
        self.needle = b"|".join([*patterns, *([self.total.pattern] if self.total else [])])
        # A pattern of the whole has one group of a name; in the search for lines none is needed.
        self.needle = re.sub(rb"\(\?P<\w+>", rb"(?:", self.needle)

    @property
    def open(self) -> bool:
        """Is a printed dictionary being read?"""
        return self.block_of is not None

    @property
    def facts(self) -> Facts:
        """The framework, and how many steps are planned where that is printed."""
        return Facts(framework=self.framework, total_steps=self.total_steps)

    @property
    def config(self) -> Mapping[str, str]:
        """Nothing."""
        return {}

    def notes(self) -> list[Note]:
        """Nothing."""
        return []

    def take(self, raw: bytes, line: Line) -> Iterator[Record]:
        """The record of a line that a shape fits; a dictionary may go on over several lines."""
        if self.block_of is not None:
            yield from self._go_on(line)
            return
        if self.total and (found := self.total.search(line.body)):
            self.total_steps = int(found["total"])
        for number, shape in enumerate(self.shapes):
            match = shape.begins.search(line.body)
            if match is None:
                continue
            text = line.body[match.end() :].decode("utf-8", "replace")
            step = int(match["step"])
            if shape.spans and _is_open(text):
                self.block, self.block_of = [text], (number, step)
            else:
                yield from self._record(shape, step, text)
            return

    def flush(self) -> Iterator[Record]:
        """The updates of the last rollout."""
        if self.sums and self.rollout is not None:
            means = {name: total / count for name, (total, count) in self.sums.items()}
            yield Record(self.rollout, means, self.update)

    def _go_on(self, line: Line) -> Iterator[Record]:
        assert self.block_of is not None
        number, step = self.block_of
        self.block.append(line.body.decode("utf-8", "replace"))
        text = "\n".join(self.block)
        is_dictionary = text.lstrip().startswith("{")
        if is_dictionary and _is_open(text) and len(self.block) < _LONGEST_BLOCK:
            return
        self.block, self.block_of = [], None
        yield from self._record(self.shapes[number], step, text)

    def _record(self, shape: Shape, step: int, text: str) -> Iterator[Record]:
        values = {
            shape.names.get(name, f"{shape.prefix}{name}"): value
            for name, value in shape.values(text).items()
        }
        if not values:
            return
        if shape.updates:
            self._add_update(step, values)
            return
        if shape.rollout and step != self.rollout:
            yield from self.flush()
            self.rollout, self.sums, self.update = step, {}, None
        yield Record(step, values)

    def _add_update(self, step: int, values: Mapping[str, float]) -> None:
        """Updates of one rollout are averaged, as the others average over minibatches."""
        if self.rollout is None:
            self.rollout = step
        for name, value in values.items():
            total, count = self.sums.get(name, (0.0, 0))
            self.sums[name] = [total + value, count + 1]
        self.update = step

    def to_json(self) -> dict[str, Any]:
        """All that a later reading must know."""
        return {
            "total_steps": self.total_steps,
            "block": self.block,
            "block_of": self.block_of,
            "rollout": self.rollout,
            "sums": self.sums,
            "update": self.update,
        }

    def restore(self, data: dict[str, Any]) -> None:
        """Remember what to_json() wrote."""
        self.total_steps, self.block = data["total_steps"], data["block"]
        self.block_of = tuple(data["block_of"]) if data["block_of"] else None
        self.rollout, self.sums, self.update = data["rollout"], data["sums"], data["update"]


def _is_open(text: str) -> bool:
    """Is a dictionary opened in it and not closed, or about to be opened in the next line?"""
    return not text.strip() or text.count("{") > text.count("}")
