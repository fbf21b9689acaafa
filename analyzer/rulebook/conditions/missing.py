"""Is a series absent, or did it stop?"""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from analyzer.findings.model import Evidence, Onset
from analyzer.findings.numbers import format_value
from analyzer.rulebook.conditions.base import Condition
from analyzer.rulebook.context import RunView
from analyzer.rulebook.outcome import Outcome, unknown
from analyzer.tables.evidence import Absent, Series

MISSED_ROWS = 3  # a series has stopped when its cadence would have given so many more rows


class Missing(Condition):
    """Is it absent from the whole run, from a step on, or from a share of the steps?"""

    kind: ClassVar[str] = "missing"
    series: str
    whole: Literal[True] | None = None
    after: int | None = Field(default=None, ge=0, description="no row after this many steps")
    stopped: Literal[True] | None = Field(
        default=None, description="it was logged and ended before the run did"
    )
    share: float | None = Field(default=None, gt=0, le=1, description="share of steps without it")

    @model_validator(mode="after")
    def _one_question(self) -> Missing:
        if sum(x is not None for x in (self.whole, self.after, self.stopped, self.share)) != 1:
            raise ValueError("missing has exactly one of whole, after, stopped, share")
        return self

    def series_names(self) -> tuple[str, ...]:
        """The series it judges."""
        return (self.series,)

    def judge(self, run: RunView) -> Outcome:
        """Where it is missing; an absent series is an answer here, not a gap in the evidence."""
        if run.last_step < run.first_step:
            return unknown("the run has no step")
        series = run.series(self.series)
        if isinstance(series, Absent) or not len(series):
            window = (run.first_step, run.last_step)
            reason = series.reason if isinstance(series, Absent) else "no row"
            evidence = self._evidence(self.series, reason, window)
            return Outcome("holds", (evidence,), (window,), Onset(*[window[0]] * 3))
        if self.whole:
            text = f"logged at {len(series)} steps"
            return Outcome("not", (self._evidence(series.logged_as, text),), margin=text)
        if self.share is not None:
            return self._by_share(series, run, self.share)
        return self._by_end(series, run)

    def _by_share(self, series: Series, run: RunView, share: float) -> Outcome:
        steps = run.last_step - run.first_step + 1
        absent = 1 - len(series) / steps
        gone = np.setdiff1d(np.arange(run.first_step, run.last_step + 1), series.steps)
        text = f"absent at {len(gone)} of {steps} steps ({format_value(absent, 'fraction')})"
        if absent < share:
            return Outcome("not", (self._evidence(series.logged_as, text),), margin=text)
        window = (int(gone[0]), int(gone[-1]))
        evidence = self._evidence(series.logged_as, text, window)
        return Outcome("holds", (evidence,), (window,), Onset(*[window[0]] * 3))

    def _by_end(self, series: Series, run: RunView) -> Outcome:
        last = int(series.steps[-1])
        cadence = float(np.median(np.diff(series.steps))) if len(series) > 1 else 1.0
        limit = last + MISSED_ROWS * cadence
        ended = run.last_step >= limit
        if self.after is not None:
            late = run.first_step + self.after
            if run.last_step < late:
                return unknown(f"the run ends at step {run.last_step}, before step {late}")
            ended = ended and last < late
        text = f"last logged at step {last} of {run.last_step}"
        if not ended:
            return Outcome("not", (self._evidence(series.logged_as, text),), margin=text)
        window = (last + 1, run.last_step)
        evidence = self._evidence(series.logged_as, text, window)
        return Outcome("holds", (evidence,), (window,), Onset(last + 1, last + 1, last + 1))

    def _evidence(
        self, logged_as: str, text: str, window: tuple[int, int] | None = None
    ) -> Evidence:
        needed = {
            self.whole: "not logged at all",
            self.stopped: "ended before the run",
        }.get(True, "")
        if self.after is not None:
            needed = f"no row after step {self.after}"
        if self.share is not None:
            needed = f"absent at {format_value(self.share, 'fraction')} of the steps"
        return Evidence(self.kind, self.series, logged_as, "1", None, None, window, text, needed)
