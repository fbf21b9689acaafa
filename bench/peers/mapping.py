"""What the peers' findings mean in the names of this rulebook, and what they are given to read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

LENGTH = ("length-growth", "length-driven-truncation", "length-rewarded")
CUT = ("truncation", "length-driven-truncation", "all-truncated-no-reward", "length-at-cap")
SIGNAL = ("zero-signal-groups", "reward-constant", "groups-without-spread")
STILL = ("reward-stagnation", "train-flat-eval-up", "reward-constant")
GAMED = ("reward-jump-length-drop", "generalization-gap", "paid-empty-answers")
APART = ("kl-blowup", "behave-weight-drift", "importance-weight-drift", "mismatch-slope")
NONFINITE = ("grad-nonfinite", "nonfinite-values", "update-skipped")
SPIKES = ("grad-spikes", "learning-rate-high", "reward-collapse", "optimizer-lost-on-resume")
SLOW = ("step-time-regression", "rollout-bound", "stall")


@dataclass(frozen=True)
class Peer:
    """A tool, the version that is installed, and its findings in this rulebook's names.

    Everything that a finding could mean is allowed: a peer is not held to this rulebook's cuts.
    """

    name: str
    version: str
    means: Mapping[str, tuple[str, ...]]

    @property
    def subject(self) -> frozenset[str]:
        """The rules that any of its findings could stand for."""
        return frozenset(rule for rules in self.means.values() for rule in rules)


PEERS = (
    Peer(
        "rldoctor",
        "0.2.0",
        {
            "advantage_collapse": SIGNAL,
            "clip_saturation": ("clip-fraction-high", *APART),
            "entropy_collapse": ("entropy-collapse", "entropy-explosion"),
            "gradient_pathology": (*NONFINITE, *SPIKES, "grad-dead"),
            "kl_drift": (*APART, "mismatch-offset"),
            "length_pathology": (*LENGTH, *CUT, "length-collapse"),
            "plateau": STILL,
            "reward_composition": ("reward-components-conflict",),
            "reward_hacking": GAMED,
        },
    ),
    Peer(
        "trainproof",
        "0.22.0",
        {
            "TP-DEAD-RUN": STILL,
            "TP-DIVERGE": ("learning-rate-high", "reward-collapse", *NONFINITE),
            "TP-FLAT": STILL,
            "TP-GRAD-SPIKE": SPIKES,
            "TP-LOADER-BOUND": SLOW,
            "TP-NAN": NONFINITE,
            "TP-NAN-GRAD": NONFINITE,
            "TP-STEP-CLIFF": SLOW,
            "TP-ZERO-GRAD": ("grad-dead", *SIGNAL),
            "TP-ZERO-LOSS": SIGNAL,
            "TP-ZERO-LOSS-ONSET": SIGNAL,
            "TP-ZERO-LR": ("learning-rate-high",),
            "TP-ZERO-LR-PARTIAL": ("learning-rate-high",),
        },
    ),
    Peer(
        "zen-rl",
        "0.1.0",
        {
            "LR_TOO_HIGH": ("learning-rate-high", "reward-collapse", "importance-weight-drift"),
            "DEAD_RUN": (*STILL, "reward-collapse"),
            "CAPPED_PERFORMANCE": STILL,
            "ADVANTAGE_NOT_NORMALIZED": (),
            "POLICY_COLLAPSE": ("entropy-collapse",),
        },
    ),
    Peer(
        "rlprobe",
        "0.1.0",
        {
            "KL_BLOWUP": (*APART, "kl-without-reference", "kl-reward-positive"),
            "ENTROPY_COLLAPSE": ("entropy-collapse",),
            "REWARD_HACK_LENGTH": (*LENGTH, *GAMED),
            "FORMAT_GAMING": ("reward-components-conflict",),
            "CLIP_SATURATION": ("clip-fraction-high", *APART),
            "DEGENERATE_GROUPS": SIGNAL,
            "ADV_COLLAPSE": SIGNAL,
            "VALUE_DIVERGENCE": ("critic-diverging",),
            "GRAD_PATHOLOGY": (*NONFINITE, *SPIKES, "grad-dead"),
            "TRUNCATION_STARVE": CUT,
            "REPETITION_SPIRAL": ("repetition-growth",),
            "REWARD_STD_DEATH": SIGNAL,
            "REF_POLICY_DRIFT_ASYMMETRY": APART,
            "THROUGHPUT_ROT": SLOW,
        },
    ),
    Peer(
        "rlwatch",
        "0.5.1",
        {
            "entropy_collapse": ("entropy-collapse",),
            "kl_explosion": (*APART, "mismatch-offset"),
            "reward_hacking": (*GAMED, "reward-high-variance"),
            "advantage_variance": ("learning-rate-high", "reward-collapse"),
            "loss_nan": NONFINITE,
            "gradient_norm_spike": SPIKES,
            "reward_mean_drift": (*GAMED, "reward-collapse"),
        },
    ),
)

# Neutral column → this catalog's series. What a peer calls it stands in its driver.
COLUMNS = {
    "reward": "task_reward",
    "reward_min": "task_reward_min",
    "reward_max": "task_reward_max",
    "eval_reward": "eval_reward",
    "entropy": "entropy",
    "approx_kl": "approx_kl",
    "reference_kl": "reference_kl",
    "clip_fraction": "clip_ratio",
    "importance_weight": "importance_weight",
    "grad_norm": "grad_norm",
    "lr": "lr",
    "loss": "actor_loss",
    "length": "response_len",
    "length_max": "seq_len_max",
    "truncated": "truncation_excess",
    "prompt_length": "prompt_len",
    "step_time": "t_step",
    "rollout_time": "t_rollout",
}
