"""Which step and attempt a line of an AReaL log belongs to, and what step a tracker was given.

`StatsLogger.commit` prints `Train step k/N done.` for the training step k − 1 and then one table
for each dictionary of statistics. A tracker gets the i-th of them under
max(step, last tracker step + 1) + i, so that a step with several tables shifts all that follow
(areal/utils/stats_logger.py). Before version 1.0 the count began one higher: the first step was
logged as 1 (https://github.com/areal-project/AReaL/pull/935).
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class TrackerSteps:
    """The step numbers that trackers were given; a restart takes them back to its checkpoint."""

    ends: list[list[int]] = field(default_factory=list)  # [step, its last number, growth a step]
    step: int | None = None
    first: int = 0  # number of the current step's first table
    last: int = 0

    def begin(self, step: int, restarted: bool, legacy: bool) -> None:
        """A step is committed; `legacy`: by a version that counts from 1."""
        if self.step is not None:
            self._remember(self.step, self.last)
        known = self.step is not None and not restarted
        before = self.last if known else self._end_of(step - 1, legacy)
        self.step = step
        self.first = self.last = max(step, before + 1)

    def table(self, number: int, of: int) -> int:
        """The tracker's step for table `number` (from 1) of the current step."""
        self.last = max(self.last, self.first + of - 1)
        return self.first + number - 1

    def _remember(self, step: int, last: int) -> None:
        """Keep where a step ended, as runs of constant growth."""
        if not self.ends:
            self.ends.append([step, last, 1])
            return
        start, end, growth = self.ends[-1]
        if step == start + 1:
            self.ends[-1][2] = last - end
        elif last != end + growth * (step - start):
            self.ends.append([step, last, 1])

    def _end_of(self, step: int, legacy: bool) -> int:
        """The last number of a step that a checkpoint was taken at, forgetting all after it."""
        while self.ends and self.ends[-1][0] > step:
            self.ends.pop()
        if not self.ends:
            return step + int(legacy)
        start, end, growth = self.ends[-1]
        return end + growth * (step - start)
