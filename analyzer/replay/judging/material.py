"""What the tests of causes look at: some rows of a batch, with log-probs recomputed for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import torch
from torch import Tensor

from analyzer.findings.replayed import ReplayCause
from analyzer.replay.judging.fits import Fit, fit
from analyzer.replay.judging.recomputed import Batch
from analyzer.replay.model.settings import DTYPES, HELD

Question = Literal["behaviour", "update", "tokens"]
"""Proximal against behaviour policy; current against proximal; which tokens are trained on."""


@dataclass(frozen=True, slots=True)
class How:
    """How log-probs are recomputed."""

    dtype: str = "float32"
    temperature: float = 1.0
    top_p: float = 1.0
    top_k: int = 0


class Scores(Protocol):
    """Log-probs of the chosen rows under recorded checkpoints, each computed once."""

    versions: tuple[int, ...]

    def logprobs(self, version: int, how: How) -> Tensor:
        """[rows,T] at predicting positions, on the CPU."""
        ...


@dataclass(frozen=True, slots=True)
class Told:
    """A cause that a test found, with the numbers that decided."""

    cause: ReplayCause
    why: str
    left: float = 0.0  # mean square that it leaves unexplained


@dataclass(frozen=True)
class Material:
    """A batch with the rows that are looked at closely."""

    batch: Batch
    question: Question
    rows: Tensor
    """Numbers of the chosen rows of the recorded batch."""
    scores: Scores | None = None
    """None: no model is to be used, or no checkpoint was recorded."""
    sampled_at: Sequence[How] = ()
    """Sampling settings that the manifest or the run's configuration names."""
    dtype: str = "float32"
    """In which the trainer's log-probs are recomputed."""

    def part(self, tensor: Tensor) -> Tensor:
        """The chosen rows of a tensor of the whole batch."""
        return tensor[self.rows]

    @property
    def mask(self) -> Tensor:
        """[rows,T]: trained tokens with a finite recorded log-prob."""
        return self.part(self.batch.mask & torch.isfinite(self.batch.behave))

    @property
    def behave(self) -> Tensor:
        """[rows,T]: the engine's log-probs as recorded."""
        return self.part(self.batch.behave)

    @property
    def current(self) -> int | None:
        """The version of the weights that the batch was trained on at first, if it has scores."""
        version = self.batch.bundle.config.current_version
        return version if self.scores is not None and version in self.scores.versions else None

    @property
    def trainer_how(self) -> How:
        """How the trainer computes, but in the dtype that is asked for."""
        return How(self.dtype, self.batch.bundle.config.actor.temperature)

    @property
    def trainer_dtype(self) -> str | None:
        """In what the trainer computes, where the recorder wrote it."""
        manifest = self.batch.bundle.manifest
        return None if manifest is None else manifest.trainer.dtype

    @property
    def engine_dtype(self) -> str | None:
        """In what the engine computes, where the recorder wrote it and it can be recomputed."""
        manifest = self.batch.bundle.manifest
        written = None if manifest is None else manifest.sampling.dtype
        return written if written in (*DTYPES, *HELD) else None

    def current_logprobs(self) -> Tensor | None:
        """[rows,T] under the current weights, as the trainer takes them."""
        if self.scores is None or self.current is None:
            return None
        return self.scores.logprobs(self.current, self.trainer_how)

    def reference(self) -> Tensor | None:
        """[rows,T]: what the engine's log-probs ought to be, best source first."""
        current = self.current_logprobs()
        if current is not None:
            return current
        if self.batch.trainer_prox:
            return self.part(self.batch.bundle.tensors["prox_logp"])
        return None if self.batch.new is None else self.part(self.batch.new)

    def deviation(self) -> Fit | None:
        """Recorded against current log-probs; None without anything to hold them against."""
        reference = self.reference()
        return None if reference is None else fit(self.behave, reference, self.mask)


def many(count: int, what: str) -> str:
    """`1 token`, `1,204 tokens`."""
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"
