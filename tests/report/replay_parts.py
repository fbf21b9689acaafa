"""Replays made by hand: what the report is given for recorded batches."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from analyzer.findings.replayed import (
    Compared,
    HistogramBin,
    ReplayedStep,
    ReplayPictures,
    Replays,
    ReplayVerdict,
    TokenWeight,
    WhatIf,
    WhatIfTable,
    WorstSequence,
)

FLOOR = Compared(
    step=160,
    metric="no_eos_ratio",
    logged_as="ppo_actor/no_eos_ratios/avg",
    unit="fraction",
    logged=0.0351,
    recomputed=0.03512,
    tolerance=1e-4,
    agrees=True,
    corrected=0.0,
    corrected_by="share of rows whose last token is not EOS",
)
WEIGHT = Compared(
    step=170,
    metric="importance_weight",
    logged_as="ppo_actor/update/importance_weight/avg",
    unit="1",
    logged=1.03124,
    recomputed=1.03121,
    tolerance=1e-4,
    agrees=True,
)
LENGTH = replace(WEIGHT, metric="seq_len", logged_as="ppo_actor/seq_len/avg", unit="tokens")
RECORD = """from analyzer.replay.recorder import Recorder
recorder = Recorder("recorded", every=10)
recorder.record(batch, config, step)  # in ppo_update, before the first minibatch
"""


def points(rows: int = 16, tokens: int = 125) -> tuple[TokenWeight, ...]:
    """Weights near 1, those of row 3 drifting upwards with the position."""
    noise = np.random.default_rng(4).normal(0, 0.08, (rows, tokens))
    return tuple(
        TokenWeight(
            row, 30 * position, math.exp(noise[row, position] + 0.012 * position * (row == 3))
        )
        for row in range(rows)
        for position in range(tokens)
    )


def bins() -> tuple[HistogramBin, ...]:
    """Forty bins from 0.1 to 10, the finding's tail the heavier."""
    edges = np.exp(np.linspace(math.log(0.1), math.log(10), 41))
    middle = np.log(np.sqrt(edges[:-1] * edges[1:]))
    finding = np.round(20_000 * np.exp(-np.abs(middle) / 0.25)).astype(int)
    control = np.round(30_000 * np.exp(-np.abs(middle) / 0.08)).astype(int)
    return tuple(
        HistogramBin(float(low), float(high), int(f), int(c))
        for low, high, f, c in zip(edges[:-1], edges[1:], finding, control, strict=True)
    )


def worst() -> tuple[WorstSequence, ...]:
    """Three sequences, one with a text that would be markup, one with a long text."""
    return (
        WorstSequence(160, 3, 0.71, 3750, 0.0, 1.93, "How many <b>apples</b>?", "Let me think.\n"),
        WorstSequence(160, 7, 0.08, 3812, 1.0, 1.12, "Add 2 and 2.", "wait, " * 2000),
        WorstSequence(170, 0, 0.02, 40, None, 0.97),
    )


WHAT_IF = WhatIfTable(
    step=160,
    findings=("length-driven-truncation",),
    rows=(
        WhatIf("as it ran", (), 1.2214, None, 0.124, 0.0, -0.01234, 1.0),
        WhatIf(
            "longer limit",
            (("gconfig.max_new_tokens", "8192"), ("gconfig.max_tokens", "8704.0")),
            1.0012,
            1.0003,
            0.853,
            0.021,
            -0.01311,
            0.9312,
        ),
        WhatIf(
            "actor.eps_clip 0.1", (("actor.eps_clip", "0.1"),), 1.21, None, 0.13, 0.4, -0.0119, 0.88
        ),
    ),
)


def verdict(finding: str, said: str, why: str, **changes: object) -> ReplayVerdict:
    """A verdict without a cause and numbers."""
    made = ReplayVerdict(finding, said, None, why)  # type: ignore[arg-type]
    return replace(made, **changes)  # type: ignore[arg-type]


CONFIRMED = verdict(
    "length-driven-truncation",
    "confirmed",
    "The weight recomputed from the recorded batches is 1.0312, the log says 1.0312.",
    cause="staleness",
    compared=(WEIGHT, replace(LENGTH, logged=3904.0, recomputed=3904.0, tolerance=0.5)),
    pictures=ReplayPictures(points(), bins(), worst()),
)
WRONG = verdict(
    "length-driven-truncation",
    "metric-wrong",
    "At step 160 the log says 3.5 % cut off, and every recorded row ends with EOS.",
    cause="metric-definition",
    compared=(FLOOR,),
)
COLLAPSE = verdict("reward-collapse", "cannot-tell", "The batches hold no rewards.")
GAP = verdict("generalization-gap", "not-run", "evaluations are not recorded.")


def replays(*verdicts: ReplayVerdict, **changes: object) -> Replays:
    """Two replayed steps with these verdicts."""
    made = Replays(
        mode="math",
        conventions="areal-2026-08",
        steps=(
            ReplayedStep(
                20, "recorded/step_00000020", "control", 0, 16, 512, "confirmed", "healthy.", ()
            ),
            ReplayedStep(
                160,
                "recorded/step_00000160",
                "finding",
                1,
                16,
                512,
                "metric-wrong",
                "no_eos_ratios counts the longest row.",
                (FLOOR, replace(WEIGHT, step=160, logged=1.5, agrees=False)),
            ),
        ),
        verdicts=verdicts,
        what_if=(WHAT_IF,),
    )
    return replace(made, **changes)  # type: ignore[arg-type]


UNRECORDED = Replays(mode="off", conventions=None, record_next=RECORD)
