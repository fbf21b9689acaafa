"""What a replay of a run is asked to do. Needs no torch."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from analyzer.findings.replayed import ReplayMode
from analyzer.replay.selection import ROWS


@dataclass(frozen=True, slots=True)
class Asked:
    """Which batches, and how much may be spent on them."""

    mode: ReplayMode = "model"
    """`model` uses checkpoints where there are such, `math` never does."""
    spare: bool = True
    """Leave a model alone that would take this machine's memory or a long time."""
    steps: tuple[int, ...] = ()
    """The only steps to replay; empty: those of the findings, and others beside them."""
    rows: int = ROWS
    """Worst rows of a step whose log-probs are recomputed; as many others beside them."""
    budget: int | None = None
    """Tokens of a step, at most, whose log-probs are recomputed."""
    conventions: str = "auto"
    device: str = "auto"
    dtype: str = "float32"
    """In which the trainer's log-probs are recomputed with a checkpoint."""
    cache: Path | None = None
    """Where finished parts are kept, so that a replay that was cut short goes on."""
