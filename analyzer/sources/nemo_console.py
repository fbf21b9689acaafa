"""The console of NeMo-RL: a block of bullets a step, under headings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from analyzer.sources.areal_lines import Line
from analyzer.sources.console import Record
from analyzer.sources.printed import in_bars
from analyzer.sources.records import Facts, Note

_STEP = re.compile(rb"=+ Step (\d+)/(\d+) =+")
_EPOCH = re.compile(rb"=+ Epoch (\d+)/\d+ =+")
_HEADING = re.compile(
    r"(Training Results|Validation Results|Validation Timing|Timing|Performance Metrics):"
)
_BULLET = "•".encode()

# What stands before the colon → the name that the loggers were given.
_TRAIN = {
    "Loss": "train/loss",
    "Draft Loss": "train/draft_loss",
    "Generation KL Error": "train/gen_kl_error",
    "Avg Reward": "train/reward",
    "Avg Total Reward": "train/reward",
    "Avg Filtered Reward": "train/filtered_reward",
    "Mean Generation Length": "train/mean_gen_tokens_per_sample",
}
_VALIDATION = {
    "Accuracy": "validation/accuracy",
    "Average response length": "validation/avg_length",
    "Samples processed": "validation/num_samples",
}


@dataclass
class _Known:
    step: int | None = None
    epoch: int = 1
    before_epoch: int = 0  # steps of the epochs before: a step is printed by its place in its own
    total: int | None = None
    heading: str = ""
    values: dict[str, float] = field(default_factory=dict)  # of the step, until another begins


class NemoGrammar:
    """Gathers the bullets under each heading as metrics of the step."""

    needle = rb"=+ Step \d+/|=+ Epoch \d+/|Results:|Timing:|Metrics:|\xe2\x80\xa2"

    def __init__(self) -> None:
        self.known = _Known()

    open = False
    config: Mapping[str, str] = {}

    @property
    def facts(self) -> Facts:
        """The framework and the steps of an epoch."""
        return Facts("nemo-rl", steps_per_epoch=self.known.total)

    def notes(self) -> list[Note]:
        """Nothing."""
        return []

    def take(self, raw: bytes, line: Line) -> Iterator[Record]:
        """The record of the step before, where a step begins."""
        known = self.known
        if match := _STEP.search(line.body):
            yield from self.flush()
            known.step, known.total = known.before_epoch + int(match[1]), int(match[2])
            known.heading, known.values = "", {}
        elif match := _EPOCH.search(line.body):
            self._begin_epoch(int(match[1]))
        elif _BULLET in line.body:
            self._bullet(line.body.partition(_BULLET)[2].decode("utf-8", "replace"))
        elif found := _HEADING.search(line.body.decode("utf-8", "replace")):
            known.heading = found[1]

    def flush(self) -> Iterator[Record]:
        """What is known of the step so far."""
        if self.known.values:
            yield Record(self.known.step or 0, dict(self.known.values))

    def _begin_epoch(self, epoch: int) -> None:
        known = self.known
        if epoch == known.epoch + 1:
            known.before_epoch = known.step or 0
        elif epoch == 1:
            known.before_epoch = 0
        known.epoch = epoch

    def _bullet(self, text: str) -> None:
        """A metric under a heading; what is validated before the first step is of step 0."""
        if self.known.heading:
            for label, value in in_bars(text).items():
                self.known.values[_name(self.known.heading, label)] = value

    def to_json(self) -> dict[str, Any]:
        """All that a later reading must know."""
        return asdict(self.known)

    def restore(self, data: dict[str, Any]) -> None:
        """Remember what to_json() wrote."""
        self.known = _Known(**data)


def _name(heading: str, label: str) -> str:
    if heading == "Training Results":
        return _TRAIN.get(label, f"train/{label}")
    if heading == "Validation Results":
        return _VALIDATION.get(label, f"validation/{label}")
    if heading == "Timing":
        return f"timing/train/{'total_step_time' if label == 'Total step time' else label}"
    return f"{'timing/validation' if heading == 'Validation Timing' else 'performance'}/{label}"
