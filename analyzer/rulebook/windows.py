"""Where a condition holds, and how outcomes join."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from analyzer.findings.model import Onset
from analyzer.rulebook.outcome import Outcome, unknown

Mask = npt.NDArray[np.bool_]
Window = tuple[int, int]


def windows_of(
    steps: npt.NDArray[np.int64], mask: Mask, for_: int, allow_gaps: int
) -> list[Window]:
    """Runs of logged steps where `mask` holds for at least `for_` of them.

    Up to `allow_gaps` logged steps in a row that do not hold are bridged; a step that was not
    logged breaks nothing.
    """
    windows: list[Window] = []
    start = end = None
    held = 0
    for i in np.flatnonzero(mask):
        if start is not None and end is not None and i - end - 1 <= allow_gaps:
            held += 1
        else:
            if start is not None and end is not None and held >= for_:
                windows.append((int(steps[start]), int(steps[end])))
            start, held = int(i), 1
        end = int(i)
    if start is not None and end is not None and held >= for_:
        windows.append((int(steps[start]), int(steps[end])))
    return windows


def intersect(first: Sequence[Window], second: Sequence[Window]) -> list[Window]:
    """The steps in both."""
    both = [(max(a, c), min(b, d)) for a, b in first for c, d in second if max(a, c) <= min(b, d)]
    return sorted(both)


def unite(windows: Sequence[Window]) -> list[Window]:
    """The steps in any, overlapping windows joined."""
    joined: list[Window] = []
    for low, high in sorted(windows):
        if joined and low <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(joined[-1][1], high))
        else:
            joined.append((low, high))
    return joined


def combine(joint: Literal["all", "any", "not"], outcomes: Sequence[Outcome]) -> Outcome:
    """The outcome of conditions joined; evidence in their order."""
    joiners: dict[str, Callable[[Sequence[Outcome]], Outcome]] = {
        "all": _all,
        "any": _any,
        "not": _not,
    }
    evidence = tuple(dict.fromkeys(e for outcome in outcomes for e in outcome.evidence))
    return replace(joiners[joint](outcomes), evidence=evidence)


def _all(outcomes: Sequence[Outcome]) -> Outcome:
    for outcome in outcomes:
        if outcome.state == "not":
            return replace(outcome, windows=(), onset=None)
    for outcome in outcomes:
        if outcome.state == "unknown":
            return unknown(outcome.reason)
    timed = [outcome for outcome in outcomes if outcome.windows]
    windows: list[Window] = list(timed[0].windows) if timed else []
    for outcome in timed[1:]:
        windows = intersect(windows, outcome.windows)
    confidence = min(outcome.confidence for outcome in outcomes)
    if timed and not windows:
        return Outcome("not", confidence=confidence, margin="never at the same steps")
    return Outcome(
        "holds", windows=tuple(windows), onset=_latest(timed, windows), confidence=confidence
    )


def _latest(timed: Sequence[Outcome], windows: Sequence[Window]) -> Onset | None:
    """The onset of the condition that began last; the first common step where none has one."""
    if not windows:
        return None
    first = windows[0][0]
    onsets = [o.onset for o in timed if o.onset is not None and o.onset.step <= windows[-1][1]]
    latest = max(onsets, key=lambda onset: onset.step, default=None)
    if latest is None or latest.step < first:
        return (
            Onset(first, first, first)
            if latest is None
            else Onset(first, min(first, latest.low), max(first, latest.high))
        )
    return latest


def _any(outcomes: Sequence[Outcome]) -> Outcome:
    holding = [outcome for outcome in outcomes if outcome.state == "holds"]
    if not holding:
        unsure = [outcome for outcome in outcomes if outcome.state == "unknown"]
        return (
            unknown(unsure[0].reason)
            if unsure
            else replace(outcomes[0], confidence=min(outcome.confidence for outcome in outcomes))
        )
    onsets = [outcome.onset for outcome in holding if outcome.onset is not None]
    windows = unite([window for outcome in holding for window in outcome.windows])
    onset = min(onsets, key=lambda o: o.step, default=None)
    confidence = max(outcome.confidence for outcome in holding)
    return Outcome("holds", windows=tuple(windows), onset=onset, confidence=confidence)


def _not(outcomes: Sequence[Outcome]) -> Outcome:
    (outcome,) = outcomes
    if outcome.state == "unknown":
        return outcome
    state: Literal["holds", "not"] = "not" if outcome.state == "holds" else "holds"
    margin = "; ".join(e.text for e in outcome.evidence) if state == "not" else ""
    return Outcome(state, confidence=outcome.confidence, margin=margin)
