"""The plain alternative: the guide's advice as thresholds on the last value of each curve.

AReaL's guide ("Diagnosing RL Performance") names the numbers to look at and what they should be.
Someone who follows it without statistics looks at where a curve ends. Where the guide gives no
number, the limit is that of the rule of the same name, so that the difference is in the method.
"""

from __future__ import annotations

from collections.abc import Iterator

from analyzer.tables.evidence import Series
from analyzer.tables.run import RunTables

WEIGHT = 0.01  # "very close to 1"
BEHAVE = 0.05
NO_EOS = 0.05  # the guide's own
GROWTH = 1.1
PROGRESS = 0.05
GAP = 0.1
RULES = (
    "importance-weight-drift",
    "importance-weight-nondeterminism",
    "behave-weight-drift",
    "truncation",
    "length-driven-truncation",
    "length-growth",
    "reward-stagnation",
    "train-flat-eval-up",
    "filter-gap",
)


def last_values(tables: RunTables) -> Iterator[str]:
    """The rules of the guide that the first and last values of a run break."""
    ends = {name: _ends(tables, name) for name in NAMES}
    weight, behave, cut, length, reward, test, rollout = (ends[name] for name in NAMES)
    if weight and abs(weight[1] - 1) > WEIGHT:
        minibatches = tables.config("actor.ppo_n_minibatches")
        one = minibatches is not None and minibatches.value == 1
        yield f"importance-weight-{'nondeterminism' if one else 'drift'}"
    if behave and abs(behave[1] - 1) > BEHAVE:
        yield "behave-weight-drift"
    grown = length is not None and length[1] > GROWTH * length[0]
    over = cut is not None and cut[1] > NO_EOS
    if grown or over:
        yield {(True, True): "length-driven-truncation", (False, True): "truncation"}.get(
            (grown, over), "length-growth"
        )
    flat = reward is not None and reward[1] - reward[0] < PROGRESS
    if flat:
        rises = test is not None and test[1] - test[0] > PROGRESS
        yield "train-flat-eval-up" if rises else "reward-stagnation"
    if reward and rollout and abs(reward[1] - rollout[1]) > GAP:
        yield "filter-gap"


NAMES = (
    "importance_weight",
    "behave_imp_weight",
    "no_eos_ratio",
    "seq_len",
    "task_reward",
    "eval_reward",
    "rollout_reward",
)


def _ends(tables: RunTables, name: str) -> tuple[float, float] | None:
    """First and last value of a series that is logged."""
    found = tables.series(name)
    if not isinstance(found, Series) or not len(found):
        return None
    return float(found.values[0]), float(found.values[-1])
