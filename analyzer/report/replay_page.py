"""What the page says of a replay, part by part: plain text and SVG, nothing left to compute."""

from __future__ import annotations

from dataclasses import dataclass

from analyzer.report.capped import Capped
from analyzer.report.charts import ChartView


@dataclass(frozen=True, slots=True)
class ComparedRow:
    """A number of the log beside the same one recomputed; `mark`: "", "differs" or "corrected"."""

    step: str
    metric: str
    logged_as: str
    logged: str
    recomputed: str
    corrected: str
    tolerance: str
    agrees: str
    mark: str


@dataclass(frozen=True, slots=True)
class CauseView:
    """Why the numbers differ or the policies do: its name, what it means, what to do."""

    name: str
    means: str
    do: str


@dataclass(frozen=True, slots=True)
class WorstRow:
    """A sequence that carries a share of the deviation."""

    step: str
    row: str
    share: str
    tokens: str
    weight: str
    reward: str


@dataclass(frozen=True, slots=True)
class SequenceText:
    """The text of a sequence, shortened in its middle; "" for a part that was not recorded."""

    label: str
    prompt: str
    completion: str


@dataclass(frozen=True, slots=True)
class WhatIfRow:
    """An alternative: what is changed, its numbers, and the remedy it is, if it is one."""

    change: str
    config: str
    cells: tuple[str, ...]
    remedy: str


@dataclass(frozen=True, slots=True)
class WhatIfView:
    """Alternatives on one recorded batch, the first row as it ran."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[WhatIfRow, ...]


@dataclass(frozen=True, slots=True)
class ReplayView:
    """What the replay says of one finding."""

    outcome: str
    lead: str  # the verdict in a sentence
    why: str
    cause: CauseView | None
    compared: Capped[ComparedRow]
    notes: tuple[str, ...]  # how corrected values are defined
    picture: ChartView | None
    worst: tuple[WorstRow, ...]
    texts: tuple[SequenceText, ...]
    what_if: tuple[WhatIfView, ...]

    @property
    def shown(self) -> bool:
        """Is there more to show than the sentence?"""
        return bool(self.cause or self.compared.rows or self.picture or self.worst)


@dataclass(frozen=True, slots=True)
class StepRow:
    """A recorded batch that was recomputed."""

    step: str
    path: str
    role: str
    rows: str
    stage: str
    outcome: str
    why: str


@dataclass(frozen=True, slots=True)
class LeftRow:
    """A finding that the replay says nothing of, and why."""

    anchor: str
    title: str
    why: str


@dataclass(frozen=True, slots=True)
class ReplaySection:
    """The section on the replay as a whole."""

    lead: str
    steps: Capped[StepRow]
    differing: Capped[ComparedRow]  # numbers of replayed steps that do not agree
    left: tuple[LeftRow, ...]
    notes: tuple[str, ...]
    record_next: str
