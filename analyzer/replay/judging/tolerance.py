"""How far a logged number may be from the recomputed one and still be the same number."""

from __future__ import annotations

import math
from collections.abc import Collection

FLOAT32 = 1e-6
"""Times (1 + |x|): what independent recomputations of float32 batches differ by is at most 4e-7."""
ROUNDING = 2.0**-24  # of one float32 operation, relative

# What rounding the recorded log-probs does to a statistic, absolute, at most: measured on 52
# batches. The large ones are tokens, or whole sequences, that change sides at a bound.
_ROUNDED: dict[str, dict[str, float]] = {
    "float16": {
        "importance_weight": 5e-3,
        "importance_weight_max": 2e-3,
        "approx_kl": 1e-4,
        "behave_imp_weight": 6e-4,
        "rejected_fraction": 6e-3,
        "actor_loss": 7e-5,
    },
    "bfloat16": {
        "importance_weight": 1.3e-1,
        "importance_weight_max": 1e-2,
        "approx_kl": 8e-4,
        "behave_imp_weight": 1e-3,
        "rejected_fraction": 1.3e-1,
        "actor_loss": 6e-3,
    },
}
# Not among the measured ones: the largest of them.
_OTHERS = {"float16": 6e-3, "bfloat16": 1.3e-1}
# Counts of tokens, rewards and lengths do not depend on log-probs.
_EXACT = (
    "n_seqs",
    "n_tokens",
    "n_valid_tokens",
    "correct_",
    "incorrect_",
    "task_reward",
    "seq_len",
    "prompt_len",
    "no_eos_ratio",
    "update_tokens",
    "staleness",
)


def tolerance(
    metric: str, value: float, digits: int, dtypes: Collection[str], tokens: int
) -> float:
    """The absolute tolerance for a logged `value` of a metric.

    Three parts: half a unit of the last printed digit; float32 sums, whose order differs between
    machines and whose error grows as a random walk over `tokens` additions; and the rounding of
    log-probs that were recorded in a narrower dtype.
    """
    if not math.isfinite(value):
        return 0.0
    summed = max(FLOAT32, ROUNDING * math.sqrt(tokens)) * (1 + abs(value))
    return resolution(value, digits) + summed + rounding(metric, dtypes)


def resolution(value: float, digits: int) -> float:
    """Half a unit of the last of `digits` significant decimal digits; a little for the halving."""
    if value == 0:
        return 0.0
    return 0.501 * 10.0 ** (math.floor(math.log10(abs(value))) - digits + 1)


def rounding(metric: str, dtypes: Collection[str]) -> float:
    """What the rounding of recorded log-probs may do to a statistic."""
    if metric.startswith(_EXACT):
        return 0.0
    return max(
        (_ROUNDED[name].get(metric, _OTHERS[name]) for name in _ROUNDED if name in dtypes),
        default=0.0,
    )
