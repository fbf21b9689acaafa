"""Recorded batches and the checkpoints a replay of them needs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from torch import Tensor

from sample_logs.lab.policy import Shape
from sample_logs.lab.settings import Settings
from sample_logs.lab.update import Updated


class Recording:
    """Writes what the analyzer's recorder writes from a trainer."""

    def __init__(self, settings: Settings, out: Path) -> None:
        self.settings = settings
        self.out = out

    def record(
        self, step: int, updated: Updated, history: Mapping[int, Tensor], shape: Shape
    ) -> None:
        """Record the batch of a step with the policies that sampled it and that it trained."""

    def close(self) -> None:
        """Wait until all is written."""
