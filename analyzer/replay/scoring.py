"""Log-probs of some rows of a recorded batch under its recorded checkpoints."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import cast

import torch
from torch import Tensor

from analyzer.errors import RunError
from analyzer.replay.asked import Asked
from analyzer.replay.bundle import Bundle
from analyzer.replay.judging.material import How
from analyzer.replay.model.checkpoint import WEIGHTS, Checkpoint, open_checkpoint
from analyzer.replay.model.gradient import gradient
from analyzer.replay.model.plan import Watch
from analyzer.replay.model.settings import Dtype, Settings
from analyzer.replay.model.stage1 import recompute

MOST_SECONDS = 300.0  # for one set of log-probs, where a report is waiting for it
SMALL = 256 * 2**20  # bytes of weights up to which a gradient is taken for every alternative
MEMORY_SHARE = 0.5  # of this machine's memory, for the weights of one checkpoint
ATTENTION = ("eager", "sdpa")  # that every device has


class CheckpointScores:
    """Log-probs by version, each set computed once; one checkpoint is open at a time."""

    def __init__(
        self,
        bundle: Bundle,
        rows: Tensor,
        wanted: Tensor,
        asked: Asked,
        watch: Watch | None = None,
    ) -> None:
        """`wanted` [rows,T] says which log-probs are needed, at predicting positions."""
        manifest = bundle.manifest
        recorded = sorted(manifest.checkpoints) if manifest is not None else []
        self._bundle, self._asked, self._watch = bundle, asked, watch
        self._batch = {name: bundle.tensors[name][rows] for name in ("input_ids", "attention_mask")}
        self._wanted = wanted
        self._found: dict[tuple[int, How], Tensor] = {}
        self._open: tuple[Path, str, Checkpoint] | None = None
        self.refused = {v: why for v in recorded if (why := self._why_not(v))}
        self.versions = tuple(v for v in recorded if v not in self.refused)

    def logprobs(self, version: int, how: How) -> Tensor:
        """[rows,T] at predicting positions, on the CPU. Raises RunError as `recompute` does."""
        if (version, how) not in self._found:
            settings = self.settings(how)
            found = recompute(
                self._batch,
                self.checkpoint(version, settings),
                settings,
                wanted=self._wanted,
                cache=self._asked.cache,
                watch=self._watch,
                most_seconds=MOST_SECONDS if self._asked.spare else None,
            )
            self._found[version, how] = found.logprobs
        return self._found[version, how]

    def checkpoint(self, version: int, settings: Settings) -> Checkpoint:
        """The checkpoint of a version, opened in the settings' dtype."""
        folder = self._bundle.checkpoint(version)
        assert folder is not None
        dtype = settings.dtype or ""
        if self._open is None or self._open[:2] != (folder, dtype):
            self._open = None  # before the next one is loaded: both may not fit
            self._open = (folder, dtype, open_checkpoint(folder, settings))
        return self._open[2]

    def settings(self, how: How) -> Settings:
        """How a checkpoint is opened and asked."""
        manifest = self._bundle.manifest
        attention = manifest.trainer.attention if manifest is not None else None
        return Settings(
            temperature=how.temperature,
            top_p=how.top_p,
            top_k=how.top_k,
            dtype=cast(Dtype, how.dtype),
            attention=attention if attention in ATTENTION else None,
            device=self._asked.device,
            entropy=False,
        )

    def _why_not(self, version: int) -> str:
        """Why a checkpoint is left alone; empty where it is used."""
        folder = self._bundle.checkpoint(version)
        if folder is None or not folder.is_dir():
            return "its folder is not there"
        if not self._asked.spare or torch.cuda.is_available():
            return ""
        size = sum(path.stat().st_size for path in folder.glob(WEIGHTS))
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        if 2 * size > MEMORY_SHARE * memory:  # float32 takes twice as much as it usually has
            return f"its {size / 2**30:.0f} GiB are too much for {memory / 2**30:.0f} GiB of memory"
        return ""


def gradient_of(bundle: Bundle, version: int, asked: Asked) -> Callable[[Tensor], Tensor]:
    """From d loss / d log-probs [B,T] to the gradient of that version's weights, flat.

    The function raises RunError for a model that is too large, as `gradient` does.
    """
    everything = torch.arange(bundle.rows)
    wanted = torch.zeros_like(bundle.tensors["attention_mask"], dtype=torch.bool)
    scores = CheckpointScores(bundle, everything, wanted, asked)
    settings = replace(scores.settings(How()), temperature=bundle.config.actor.temperature)
    checkpoint = scores.checkpoint(version, settings)

    def of_weights(slope: Tensor) -> Tensor:
        asked_for = slope != 0
        return gradient(
            bundle.tensors, checkpoint, settings, lambda x: (x * slope).sum(), wanted=asked_for
        )

    return of_weights


def refusal(error: RunError) -> str:
    """The error in one line, for a note."""
    return " ".join(str(error).split())
