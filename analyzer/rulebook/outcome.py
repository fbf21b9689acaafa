"""What a condition answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from analyzer.findings.model import Evidence, Onset


@dataclass(frozen=True, slots=True)
class Outcome:
    """holds, not, or unknown (with the reason), and the numbers behind it.

    A condition that tests a hypothesis gives `p_value` and answers `holds` when the effect is
    large enough whatever p is; the engine then controls the false-discovery rate over all
    p-values of the run and turns `holds` into `not` where p does not survive.
    """

    state: Literal["holds", "not", "unknown"]
    evidence: tuple[Evidence, ...] = ()
    windows: tuple[tuple[int, int], ...] = ()  # inclusive steps; empty for timeless conditions
    onset: Onset | None = None
    reason: str = ""  # why unknown
    p_value: float | None = None
    confidence: float = 1.0  # probability that the answer is right, given the noise; [0, 1]
    margin: str = ""  # how close a condition that does not hold came to its limit
    nearness: float | None = None  # the same as a number: 0 at its usual level, 1 at the limit


def unknown(reason: str) -> Outcome:
    """An outcome that says why it cannot be told."""
    return Outcome("unknown", reason=reason, confidence=0.0)
