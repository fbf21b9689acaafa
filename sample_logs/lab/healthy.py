"""Healthy runs of many kinds: whatever fires on them is a false alarm."""

from __future__ import annotations

from sample_logs.lab.scenario import Scenario
from sample_logs.lab.settings import Change

HEALTHY = (
    Scenario("healthy", "Nothing wrong: the reward rises from about 0.45 to 0.8."),
    Scenario("healthy_large_batch", "Batches of 256 sequences.", base={"data.prompts": 32}),
    Scenario(
        "healthy_synchronous",
        "Rollouts of the current policy only.",
        base={"asynchrony.lag": 0, "asynchrony.bound": 0},
    ),
    Scenario(
        "healthy_lag",
        "Rollouts up to four versions old, as configured, with rejection.",
        base={"asynchrony.lag": 4, "asynchrony.bound": 4},
    ),
    Scenario(
        "healthy_minibatches",
        "Two updates from each batch.",
        base={"actor.ppo_n_minibatches": 2},
    ),
    Scenario(
        "healthy_growing",
        "Prompts get longer bit by bit: responses grow, and there is room.",
        base={
            "data.letters": (2, 3),
            "test_data.letters": (2, 6),
            "sampling.max_new_tokens": 40,
            "changes": tuple(
                Change(25 * part, {"data.letters": (2 + part // 2, 3 + part)})
                for part in range(1, 6)
            ),
        },
    ),
    Scenario(
        "healthy_thinking",
        "A policy that is right more often after more words, and begins lower.",
        base={"warm_start": "thinking"},
    ),
    Scenario(
        "healthy_curriculum",
        "Prompts get longer in two steps; the reward dips at each and recovers.",
        base={
            "data.letters": (2, 4),
            "test_data.letters": (2, 6),
            "changes": (
                Change(60, {"data.letters": (3, 5)}),
                Change(110, {"data.letters": (3, 6)}),
            ),
        },
    ),
    Scenario(
        "healthy_warmup",
        "A learning rate that rises over the first 60 steps.",
        base={"training.warmup_steps": 60, "training.lr": 6e-7},
    ),
    Scenario(
        "healthy_noisy",
        "Batches of 64 sequences.",
        base={"data.prompts": 8},
    ),
    Scenario(
        "healthy_restart",
        "The process is stopped after step 79 and started again from there, with all it needs.",
        base={"events.restart_at": 79},
    ),
    Scenario(
        "healthy_reference",
        "A small KL penalty against the warm start.",
        base={"training.reference": True, "actor.kl_ctl": 0.005},
    ),
    Scenario(
        "healthy_slow",
        "A quarter of the learning rate, and twice the steps.",
        base={"training.lr": 2e-7, "steps": 240},
    ),
)
