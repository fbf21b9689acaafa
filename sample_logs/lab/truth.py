"""What else is truly there in a run with a fault, and whether its step is known.

A fault has consequences: a policy that a learning rate destroys also earns less, and saying so is
no false alarm. For each scenario stands here what its mechanism brings with it, written from the
mechanism; every finding that is neither demanded nor named here is a false one.
"""

from __future__ import annotations

from collections.abc import Mapping

from sample_logs.lab.scenario import Scenario
from sample_logs.lab.settings import Settings

# Of any run: they say what a number is worth, not that something is wrong.
ALWAYS = ("truncation-floor", "uninformative-constant", "behave-weight-at-cap")
NO_SIGNAL = (
    "zero-signal-groups",
    "groups-without-spread",
    "reward-constant",
    "reward-stagnation",
    "grad-dead",
)
BROKEN = (
    *NO_SIGNAL,
    "reward-collapse",
    "entropy-explosion",
    "entropy-collapse",
    "length-collapse",
    "length-growth",
    "grad-spikes",
    "kl-blowup",
)
APART = (
    "behave-weight-drift",
    "mismatch-offset",
    "mismatch-slope",
    "rejected-fraction-high",
    "clip-fraction-high",
)
CUT = (
    "truncation",
    "length-driven-truncation",
    "length-growth",
    "length-at-cap",
    "all-truncated-no-reward",
    "step-time-regression",
)
RESTARTED = ("crash-and-restart", "repeated-steps", "worker-restarts")

# Scenario → findings that its mechanism can bring with it.
BRINGS: Mapping[str, tuple[str, ...]] = {
    "healthy_restart": ("worker-restarts",),
    # The reward pays for length, so it rises while the test set's falls.
    "length_truncation": (*CUT, "reward-collapse", "reward-stagnation", "generalization-gap"),
    "max_new_tokens_small": (*CUT, *NO_SIGNAL, "reward-collapse"),
    # Right answers are no longer given, so the test set's reward falls while the training's rises.
    "length_paid": (*CUT, "generalization-gap", "length-rewarded"),
    "minibatches": (*BROKEN, *APART),
    "nondeterminism": (*BROKEN, *APART, "importance-weight-nondeterminism"),
    "stale_rejected": (*BROKEN, *APART),
    "stale_unrejected": (*BROKEN, *APART, "behave-weight-missing", "decoupled-without-rejection"),
    "engine_precision": (*BROKEN, *APART),
    "top_p": (*BROKEN, *APART),
    "prompt_trained": (*BROKEN, *APART),
    "entropy_bonus": (*BROKEN, *APART, *CUT),
    "kl_without_reference": (*BROKEN, *APART, *CUT, "generalization-gap"),
    "lr_high": (*BROKEN, *APART, *CUT),
    "nan_gradient": (*NO_SIGNAL, "nonfinite-values", "grad-nonfinite", "update-skipped"),
    "optimiser_lost": (*BROKEN, *APART, *RESTARTED),
    "batch_small": ("zero-signal-groups", "grad-spikes"),
    "data_hard": (*NO_SIGNAL, "train-flat-eval-up"),
    # What the training set does not ask for is unlearned.
    "data_solved": ("grad-dead", "generalization-gap"),
    "train_unlike_test": NO_SIGNAL,
    "empty_answer_paid": (
        "reward-jump-length-drop",
        "generalization-gap",
        "length-collapse",
        "zero-signal-groups",
        "entropy-collapse",
        "grad-dead",
    ),
    "format_paid": ("generalization-gap",),
    "dead_groups": NO_SIGNAL,
    # More rounds of sampling take longer, and the test set asks for what training does not.
    "filter_starves": (
        "generalization-gap",
        "step-time-regression",
        "rollout-bound",
        "zero-signal-groups",
        "reward-high-variance",
    ),
    "reward_timeouts": ("reward-collapse",),
    "stale_after_resume": (*BROKEN, *APART, *RESTARTED),
    "crash_restart": RESTARTED,
    "out_of_memory": ("crashed", *RESTARTED),
    "rollout_stall": ("rollout-bound", "step-time-regression"),
    "rollouts_slow": ("rollout-bound",),
}

# Faults whose mark is there from their first step on. The others build up, and no step of theirs
# is the right one.
AT_ONCE = frozenset(
    {
        "max_new_tokens_small",
        "nondeterminism",
        "engine_precision",
        "top_p",
        "prompt_trained",
        "batch_small",
        "data_hard",
        "dead_groups",
        "reward_timeouts",
        "stale_after_resume",
        "crash_restart",
        "crashed",
        "out_of_memory",
        "killed",
        "rollout_stall",
        "rollouts_slow",
    }
)


def may_find(scenario: Scenario) -> tuple[str, ...]:
    """Rules that are right to fire and need not; what must not be found is never among them."""
    alternatives = [rule for each in scenario.must_find for rule in each.split("|")]
    found = dict.fromkeys([*ALWAYS, *alternatives, *BRINGS.get(scenario.name, ())])
    return tuple(rule for rule in found if rule not in scenario.must_not)


def onset(settings: Settings) -> int | None:
    """The step from which the fault shows, or None where it builds up."""
    if settings.name not in AT_ONCE:
        return None
    events = settings.events
    for step in (events.killed_at, events.error_at, events.crash_at):
        if step is not None:
            return step
    return settings.changes[0].step if settings.changes else 0
