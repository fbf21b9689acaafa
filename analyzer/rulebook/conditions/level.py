"""Is a series beyond a limit?"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from pydantic import model_validator

from analyzer.findings.numbers import format_value
from analyzer.rulebook.conditions.beyond import Beyond
from analyzer.tables.evidence import Floats


class Level(Beyond):
    """Is it beyond a limit, for a number of logged steps or a share of them?"""

    kind: ClassVar[str] = "level"
    above: float | None = None
    below: float | None = None
    outside: tuple[float, float] | None = None

    @model_validator(mode="after")
    def _one_limit(self) -> Level:
        if sum(limit is not None for limit in (self.above, self.below, self.outside)) != 1:
            raise ValueError("a level has exactly one of above, below, outside")
        return self

    def excess(self, values: Floats) -> Floats:
        """How far beyond the limit."""
        if self.above is not None:
            return values - self.above
        if self.below is not None:
            return self.below - values
        low, high = self.outside or (-np.inf, np.inf)
        distance: Floats = np.maximum(values - high, low - values)
        return distance

    def limit_value(self) -> float | None:
        """`above` or `below`; a range is no single number."""
        return self.above if self.above is not None else self.below

    def limit_text(self, unit: str) -> str:
        """The limit in words."""
        if self.above is not None:
            return f"> {format_value(self.above, unit)}"
        if self.below is not None:
            return f"< {format_value(self.below, unit)}"
        low, high = self.outside or (-np.inf, np.inf)
        return f"outside {format_value(low, unit)} to {format_value(high, unit)}"
