"""Which recorded steps and rows are replayed for a finding."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

import numpy as np

from analyzer.replay.question import Question
from analyzer.tables.evidence import Absent, Series

ROWS = 16  # rows whose log-probs are recomputed: the worst, and as many others


@dataclass(frozen=True, slots=True)
class Selection:
    """The recorded steps for one finding, worst first, and healthy ones beside them."""

    steps: tuple[int, ...]
    controls: tuple[int, ...]
    reason: str = ""  # why there is no step


def select_steps(
    question: Question,
    recorded: Sequence[int],
    series: Series | Absent,
    asked: Sequence[int] = (),
) -> Selection:
    """The recorded steps where the finding holds that lie nearest its worst values, and controls.

    `asked` are the only steps to be replayed; empty: any.
    """
    allowed = [step for step in recorded if not asked or step in asked]
    # A condition on the first steps narrows a finding that lasts: then where the others hold.
    inside = [step for step in allowed if question.holds_at(step)]
    inside = inside or [step for step in allowed if question.touches(step)]
    controls = _controls(question, allowed)
    if not inside:
        return Selection((), controls, _why_none(question, recorded, asked))
    if question.pick == "first":
        chosen = sorted(inside)[: question.steps]
    elif question.pick == "last":
        chosen = sorted(inside, reverse=True)[: question.steps]
    else:
        chosen = _worst(question, inside, series)[: question.steps]
    return Selection(tuple(chosen), controls)


def _controls(question: Question, allowed: Sequence[int]) -> tuple[int, ...]:
    """Steps before the finding began, the latest first; where there is none, steps outside it."""
    outside = [step for step in allowed if question.windows and not question.touches(step)]
    start = question.windows[0][0] if question.windows else 0
    if question.onset is not None:
        start = min(start, question.onset)
    before = [step for step in outside if step < start]
    return tuple(sorted(before or outside, reverse=True)[: question.steps])


def _worst(question: Question, inside: Sequence[int], series: Series | Absent) -> list[int]:
    if isinstance(series, Absent) or not len(series):
        return sorted(inside)
    usual = usual_value(question, series)
    worst = _worst_step(question, series, usual)
    deviation = {step: _deviation(series, step, usual) for step in inside}
    return sorted(inside, key=lambda step: (-deviation[step], abs(step - worst), step))


def usual_value(question: Question, series: Series) -> float:
    """The median where the finding does not hold; where it always holds, the limit's near side."""
    healthy = np.array([not question.touches(int(step)) for step in series.steps], dtype=bool)
    values = series.values[healthy & np.isfinite(series.values)]
    if len(values):
        return float(np.median(values))
    limit = question.limit_of(series.name)
    if limit is None:
        return 0.0
    if math.isfinite(limit.low) and math.isfinite(limit.high):
        return (limit.low + limit.high) / 2
    return limit.high if math.isfinite(limit.high) else limit.low


def _worst_step(question: Question, series: Series, usual: float) -> int:
    within = [int(step) for step in series.steps if question.touches(int(step))]
    if not within:
        return int(series.steps[-1])
    return max(within, key=lambda step: (_deviation(series, step, usual), -step))


def _deviation(series: Series, step: int, usual: float) -> float:
    """How far the value at the nearest logged step is from the usual one; NaN is furthest."""
    value = float(series.values[int(np.argmin(np.abs(series.steps - step)))])
    return math.inf if math.isnan(value) else abs(value - usual)


def _why_none(question: Question, recorded: Sequence[int], asked: Sequence[int]) -> str:
    shown = ", ".join(f"{low}–{high}" for low, high in question.windows[:3])
    shown += " …" if len(question.windows) > 3 else ""
    where = f"where the finding holds (steps {shown})" if question.windows else "of this run"
    if asked:
        return f"none of the steps asked for is a recorded step {where}"
    if not recorded:
        return "no recorded batch can be read"
    first = question.windows[0][0] if question.windows else 0
    nearest = min(recorded, key=lambda step: (abs(step - first), step))
    return f"no batch was recorded {where}; the nearest is that of step {nearest}"


def select_rows(
    contribution: Sequence[float],
    lengths: Sequence[int],
    rows: int = ROWS,
    budget: int | None = None,
) -> tuple[int, ...]:
    """The rows that contribute most, and as many of the others, evenly over their order.

    Rising row numbers; all rows where there are not more than twice as many. `budget` is the most
    tokens that they have together: of each kind those are kept first that contribute most.
    """
    order = sorted(range(len(contribution)), key=lambda row: (-contribution[row], row))
    worst, rest = order[:rows], order[rows:]
    if len(rest) > rows:
        rest = [rest[(2 * i + 1) * len(rest) // (2 * rows)] for i in range(rows)]
    turns = [row for pair in zip_longest(worst, rest) for row in pair if row is not None]
    kept, used = [], 0
    for row in turns:
        if budget is None or used + lengths[row] <= budget:
            kept.append(row)
            used += lengths[row]
    return tuple(sorted(kept))
