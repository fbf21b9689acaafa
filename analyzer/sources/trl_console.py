"""The console of Hugging Face trainers (TRL): dictionaries printed between progress bars.

A dictionary names no step. It is the one that the training's progress bar showed last; where bars
are missing or drawn late, dictionaries are as far apart as those before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from analyzer.sources.areal_lines import Line
from analyzer.sources.console import Record
from analyzer.sources.printed import in_dictionary
from analyzer.sources.records import Facts, Note

# A bar that carries a description is of something else: loading, compiling, mapping.
_BAR = rb"(?:^|[\r\n])\s*\d+%\|[^|\r\n]*\| *(\d+)/(\d+) \[[^\]\r\n]*(?:it/s|s/it)"
_DICTIONARY = rb"\{'[\w/.@-]+': [^\r\n{}]*'epoch': [^\r\n{}]*\}"
_BARS, _PRINTED = re.compile(_BAR), re.compile(_DICTIONARY)
# ms-swift, which builds on TRL, prints the step with the rest.
_OWN_STEP = re.compile(r"'global_step/max_steps': '(\d+)/(\d+)'")


@dataclass
class _Known:
    bar: tuple[int, int] | None = None  # the last one: done, total
    total: int | None = None  # of the training's bar
    last: int | None = None  # step of the last training dictionary
    stride: int = 1  # steps between the last two
    counted: int = 0  # dictionaries whose step was counted, not shown
    finished: bool = False


class TrlGrammar:
    """Reads printed dictionaries and the bars between them."""

    # The line of a dictionary also holds the bars that were drawn since the line before.
    needle = rb"\d+/\d+ \[[^\]\r\n]*(?:it/s|s/it)|" + _DICTIONARY

    def __init__(self) -> None:
        self.known = _Known()

    open = False
    config: Mapping[str, str] = {}

    @property
    def facts(self) -> Facts:
        """How many steps are planned, and whether the summary at the end was printed."""
        known = self.known
        return Facts("trl", total_steps=known.total, finished=known.finished)

    def notes(self) -> list[Note]:
        """How many steps are counted and not read."""
        if not self.known.counted:
            return []
        detail = (
            f"{self.known.counted} dictionaries without a progress bar; their steps are counted"
        )
        return [Note("counted-steps", detail)]

    def take(self, raw: bytes, line: Line) -> Iterator[Record]:
        """The record of each dictionary in the line."""
        place = 0
        for match in _PRINTED.finditer(raw):
            self._see_bars(raw[place : match.start()])
            place = match.end()
            text = match[0].decode("utf-8", "replace")
            values = in_dictionary(text)
            if "train_runtime" in values:
                self.known.finished = True  # the summary of the whole training
                continue
            own = _OWN_STEP.search(text)
            if own:
                self.known.bar = (int(own[1]), int(own[2]))
            step = self._eval_step() if _is_evaluation(values) else self._train_step()
            yield Record(step, values)
        self._see_bars(raw[place:])

    def flush(self) -> Iterator[Record]:
        """Nothing is held back."""
        return iter(())

    def _see_bars(self, text: bytes) -> None:
        for match in _BARS.finditer(text):
            done, total = int(match[1]), int(match[2])
            if self.known.total in (None, total):
                self.known.bar = (done, total)

    def _train_step(self) -> int:
        known = self.known
        shown = known.bar[0] if known.bar else 0
        if known.bar and known.total is None:
            known.total = known.bar[1]
        restarted = known.last is not None and known.bar is not None and shown < known.last
        if shown and shown != known.last:
            step = shown
        else:
            step = (known.last or 0) + known.stride
            known.counted += 1
        if known.last is not None and not restarted:
            known.stride = max(1, step - known.last)
        elif known.last is None:
            known.stride = step
        known.last = step
        return step

    def _eval_step(self) -> int:
        known = self.known
        if known.last is not None:
            return known.last
        return known.bar[0] if known.bar and known.total is not None else 0

    def to_json(self) -> dict[str, Any]:
        """All that a later reading must know."""
        return asdict(self.known)

    def restore(self, data: dict[str, Any]) -> None:
        """Remember what to_json() wrote."""
        bar = data["bar"]
        self.known = _Known(**{**data, "bar": (bar[0], bar[1]) if bar else None})


def _is_evaluation(values: Mapping[str, float]) -> bool:
    return any(name.startswith("eval_") for name in values)
