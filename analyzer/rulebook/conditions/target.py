"""Is a series away from where theory puts it?"""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from analyzer.findings.numbers import format_value
from analyzer.rulebook.conditions.beyond import Beyond
from analyzer.rulebook.context import RunView
from analyzer.rulebook.outcome import Outcome, unknown
from analyzer.tables.evidence import Absent, Floats


class Target(Beyond):
    """Is it away from its value by more than a tolerance, for a number of logged steps?"""

    kind: ClassVar[str] = "target"
    value: float
    tolerance: float = Field(gt=0)

    def judge(self, run: RunView) -> Outcome:
        """The windows where it is away; unknown where the log's digits cannot show it."""
        series = run.series(self.series)
        if not isinstance(series, Absent):
            resolution = 0.5 * 10.0 ** (1 - series.digits) * abs(self.value)
            if self.tolerance < resolution:
                return unknown(
                    f"{self.series} is logged with {series.digits} digits, too few for a tolerance "
                    f"of {self.tolerance:g}"
                )
        return super().judge(run)

    def excess(self, values: Floats) -> Floats:
        """How far beyond the tolerance."""
        distance: Floats = abs(values - self.value) - self.tolerance
        return distance

    def limit_value(self) -> float:
        """The value it should have."""
        return self.value

    def limit_text(self, unit: str) -> str:
        """The tolerance in words."""
        return f"off {format_value(self.value, unit)} by > {format_value(self.tolerance, unit)}"
