"""What differs between versions of AReaL, as data.

Each field is one difference; the formulas ask for the field they need and never for a version's
name. A further version is one more object, made with `replace` from the one before it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from analyzer.errors import UsageError

Groups = Literal["group-size", "trajectories"]
Tokens = Literal["survivors", "before-rejection"]
Extremes = Literal["by-order", "nan-wins"]
PromptLength = Literal["not-generated", "before-first-generated"]
Singleton = Literal["zero", "itself"]


@dataclass(frozen=True)
class Conventions:
    """How one version of AReaL computes what it trains on and what it exports."""

    name: str
    groups: Groups
    """Groups are slices of `group_size` rows, or the trajectories handed over."""
    singleton_leave_one_out: Singleton
    """The leave-one-out mean in a group of one row."""
    ratio_on: Tokens
    """Where a token-level importance weight is not set to 0."""
    clip_counted_on: Tokens
    """Which tokens the clip masks of the PPO loss may mark, at token level."""
    prompt_length: PromptLength
    """`prompt_len` counts all tokens not generated, or those before the first generated one."""
    original_rewards: bool
    """`original_rewards` of the batch, where it has them, replace the rewards in statistics."""
    extremes: Extremes
    """Whether a NaN in one micro-batch always shows in a minimum or maximum over several."""
    drift_statistics: bool
    """Exports `logp_diff`, `logp_abs_diff`, `behave_filtered_ratio` and the counts of the loss."""
    cispo: bool
    reuse_train_logp: bool
    binary_kl: bool
    turn_gae: bool
    lambda_functions: bool


AREAL_2026_05 = Conventions(
    name="areal-2026-05",
    groups="group-size",
    singleton_leave_one_out="zero",
    ratio_on="survivors",
    clip_counted_on="survivors",
    prompt_length="not-generated",
    original_rewards=False,
    extremes="by-order",
    drift_statistics=False,
    cispo=False,
    reuse_train_logp=False,
    binary_kl=False,
    turn_gae=False,
    lambda_functions=False,
)
AREAL_2026_08 = replace(
    AREAL_2026_05,
    name="areal-2026-08",
    groups="trajectories",
    singleton_leave_one_out="itself",
    ratio_on="before-rejection",
    clip_counted_on="before-rejection",
    prompt_length="before-first-generated",
    original_rewards=True,
    extremes="nan-wins",
    drift_statistics=True,
    cispo=True,
    reuse_train_logp=True,
    binary_kl=True,
    turn_gae=True,
    lambda_functions=True,
)
VERSIONS = {version.name: version for version in (AREAL_2026_05, AREAL_2026_08)}

# Keys of the actor's configuration that only the later version has.
LATER_KEYS = ("use_cispo_loss", "gae_timestep_unit", "gae_lambda_kwargs")


def resolve(name: str, config: Mapping[str, Any]) -> Conventions:
    """The conventions of that name; for `auto`, those that the configuration bears the marks of.

    Raises UsageError for an unknown name.
    """
    if name == "auto":
        return AREAL_2026_08 if _is_later(config) else AREAL_2026_05
    if name not in VERSIONS:
        raise UsageError(
            f"no conventions are named {name!r}", hint=f"of {', '.join((*VERSIONS, 'auto'))}"
        )
    return VERSIONS[name]


def _is_later(config: Mapping[str, Any]) -> bool:
    actor = config.get("actor")
    if not isinstance(actor, Mapping):
        return False
    return (
        "traj_group_sizes" in config
        or any(key in actor for key in LATER_KEYS)
        or actor.get("prox_logp_method") == "reuse_train_logp"
        or isinstance(actor.get("gae_lambda"), str)
    )
