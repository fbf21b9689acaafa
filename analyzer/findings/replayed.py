"""What the replay says: of a finding, of a step, and of what would have been otherwise.

Numbers are Python floats; NaN and infinities are values. Everything is plain data, so that what
shows or exports it needs no torch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

ReplayOutcome = Literal["confirmed", "metric-wrong", "cannot-tell", "not-run"]
ReplayCause = Literal[
    "metric-definition",  # the log says what AReaL computes, and that is not what its name says
    "log-disagrees",  # the log does not say what AReaL computes from the recorded batch
    "staleness",  # the behaviour log-probs are those of an older checkpoint
    "precision",  # they are those of the same weights in a lower precision
    "nondeterminism",  # the trainer does not give the same log-probs twice
    "unmasked-tokens",  # tokens that no policy sampled are trained on
    "filled-logprobs",  # log-probs of 0 stand where none were recorded
    "temperature",  # they were taken at another temperature
    "top-p",  # they were renormalised over a truncated vocabulary
    "training",  # the update itself moved the policy: several minibatches, a high learning rate
]
ReplayMode = Literal["off", "math", "model"]
StepRole = Literal["finding", "control"]


@dataclass(frozen=True, slots=True)
class Compared:
    """A number of the log beside the same number recomputed."""

    step: int
    metric: str  # canonical name
    logged_as: str
    unit: str
    logged: float | None  # None: not logged at this step
    recomputed: float | None  # by AReaL's own definition; None: the batch does not allow it
    tolerance: float  # absolute, for |logged - recomputed|
    agrees: bool | None  # None: one of the two is lacking
    corrected: float | None = None  # by what the name promises, where that is another number
    corrected_by: str = ""  # how, in words: "share of rows whose last token is not EOS"


@dataclass(frozen=True, slots=True)
class TokenWeight:
    """A token's importance weight; `position` counts generated tokens of the row from 0."""

    row: int
    position: int
    weight: float


@dataclass(frozen=True, slots=True)
class HistogramBin:
    """Tokens whose weight lies in [low, high); equal widths on a log axis."""

    low: float
    high: float
    finding: int
    control: int


@dataclass(frozen=True, slots=True)
class WorstSequence:
    """A sequence that carries a share of the deviation, with its text where a dump has it."""

    step: int
    row: int  # of the batch as it was trained on
    share: float  # of the summed squared log-weight
    tokens: int  # generated
    reward: float | None
    mean_weight: float
    prompt: str | None = None
    completion: str | None = None


@dataclass(frozen=True, slots=True)
class ReplayPictures:
    """What the report draws of a finding's batches; empty tuples where there is nothing to draw."""

    points: tuple[TokenWeight, ...] = ()  # at most 2,000, the largest deviations kept
    bins: tuple[HistogramBin, ...] = ()
    worst: tuple[WorstSequence, ...] = ()


@dataclass(frozen=True, slots=True)
class WhatIf:
    """One alternative to what the run did, on the same batch. None: does not apply."""

    change: str  # "rejection_sampling.upper 2.0", "as it ran"
    config: tuple[tuple[str, str], ...]  # dotted key → JSON text; empty for "as it ran"
    importance_weight: float | None  # mean over trained tokens
    behave_weight: float | None  # mean over those that are left
    effective: float | None  # effective sample size, as a share of the trained tokens
    filtered: float | None  # share of trained tokens filtered out
    loss: float | None
    gradient_cosine: float | None = None  # to the gradient as it ran; stage 1 alone


@dataclass(frozen=True, slots=True)
class WhatIfTable:
    """Alternatives on one step's batch; the first row is as it ran."""

    step: int
    findings: tuple[str, ...]  # ids of the findings whose remedies the rows are about
    rows: tuple[WhatIf, ...]


@dataclass(frozen=True, slots=True)
class ReplayVerdict:
    """What the replay says of one finding."""

    finding: str  # its id
    verdict: ReplayOutcome
    cause: ReplayCause | None
    why: str  # one or two sentences with the numbers
    compared: tuple[Compared, ...] = ()
    pictures: ReplayPictures = ReplayPictures()


@dataclass(frozen=True, slots=True)
class ReplayedStep:
    """A recorded batch that was recomputed."""

    step: int
    path: str  # relative to the run
    role: StepRole
    stage: Literal[0, 1]  # 1: log-probs recomputed with a checkpoint
    rows: int  # recomputed
    rows_of: int  # trained on
    outcome: ReplayOutcome
    why: str
    compared: tuple[Compared, ...] = ()


@dataclass(frozen=True, slots=True)
class Replays:
    """All that a replay of a run says."""

    mode: ReplayMode
    conventions: str | None  # "areal-2026-08"
    steps: tuple[ReplayedStep, ...] = ()
    verdicts: tuple[ReplayVerdict, ...] = ()
    what_if: tuple[WhatIfTable, ...] = ()
    record_next: str = ""  # lines to paste into the trainer, where nothing was recorded
    notes: tuple[str, ...] = ()

    def verdict(self, finding: str) -> ReplayVerdict | None:
        """What the replay says of the finding of that id."""
        return next((v for v in self.verdicts if v.finding == finding), None)
