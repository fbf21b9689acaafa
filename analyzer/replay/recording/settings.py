"""A trainer's configuration as plain data, cut down to what a replay reads."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from pathlib import PurePath
from typing import Any

Keys = Mapping[str, "Keys | None"]
"""Key → the keys below it that are kept; None: all of them, whatever they are."""


def _keys(text: str, **below: Keys) -> Keys:
    return dict.fromkeys(text.split()) | below


_NORM = _keys("mean_level mean_leave1out std_level std_unbiased eps group_size")
_MICRO_BATCHES = _keys("n_mbs granularity max_tokens_per_mb")
# The fields of analyzer.replay.config, which cannot be asked for them: it needs pydantic.
KEPT: Keys = _keys(
    "current_version traj_group_sizes",
    actor=_keys(
        """
        eps_clip eps_clip_higher c_clip m2_threshold reward_scaling reward_bias reward_clip
        overlong_reward_penalty overlong_tokens overlong_penalty_factor max_new_tokens
        mask_no_eos_with_zero discount gae_lambda gae_lambda_kwargs gae_timestep_unit kl_ctl
        kl_estimator use_sapo_loss sapo_tau_pos sapo_tau_neg use_cispo_loss recompute_logprob
        use_decoupled_loss importance_sampling_level prox_logp_method ppo_n_minibatches temperature
        log_agent_stats log_agent_stats_keys
        """,
        reward_norm=_NORM,
        adv_norm=_NORM,
        rejection_sampling=_keys("level action metric agg upper lower"),
        mb_spec=_MICRO_BATCHES,
    ),
    teacher=_keys("rl_loss_weight distill_loss_weight"),
    critic=_keys("eps_clip ppo_n_minibatches mask_no_eos_with_zero", mb_spec=_MICRO_BATCHES),
    meta=_keys("eos_token_id pad_token_id"),
)


def settings_of(config: object) -> dict[str, Any]:
    """The part of a configuration that a replay reads; `actor` is always there.

    `config` is AReaL's whole configuration or that of its actor: a mapping, a dataclass, a
    configuration of OmegaConf, or any object with attributes.
    """
    whole = dict(_items(config))
    kept = _cut(whole if "actor" in whole else {"actor": config}, KEPT)
    return kept if isinstance(kept.get("actor"), dict) else kept | {"actor": {}}


def _cut(value: object, keys: Keys) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    for key, inner in _items(value):
        if key not in keys:
            continue
        below = keys[key]
        if below is not None and inner is not None:
            kept[key] = _cut(inner, below)
        else:
            kept[key] = _plain(inner)
    return kept


def _items(value: object) -> Iterator[tuple[str, Any]]:
    """Keys and values of whatever holds settings; a value that cannot be read is left out."""
    if isinstance(value, Mapping):
        keys = list(value)
        read = value.__getitem__
    else:
        fields = getattr(value, "__dataclass_fields__", None)
        keys = list(fields if fields is not None else getattr(value, "__dict__", ()))
        read = value.__getattribute__
    for key in keys:
        try:
            yield str(key), read(key)
        except Exception:  # OmegaConf raises its own errors for what is missing or interpolated
            continue


def _plain(value: object) -> Any:
    """What JSON can hold; text of what it cannot."""
    if isinstance(value, Enum):
        return _plain(value.value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, PurePath):
        return str(value)
    if isinstance(value, Mapping) or dataclasses.is_dataclass(value):
        return {key: _plain(inner) for key, inner in _items(value)}
    if isinstance(value, Sequence):
        return [_plain(inner) for inner in value]
    number = getattr(value, "item", None)  # of numpy and torch
    return _plain(number()) if callable(number) else str(value)
