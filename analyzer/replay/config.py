"""The part of a configuration that a replay needs, under AReaL's names and with its defaults."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from analyzer.errors import RunError
from analyzer.replay.areal_errors import ArealRaises
from analyzer.replay.conventions import Conventions
from analyzer.strict_yaml import load_document, validate


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


Level = Literal["batch", "group"] | None


class NormConfig(_Strict):
    """Normalisation of rewards or advantages."""

    mean_level: Level = "batch"
    mean_leave1out: bool = False
    std_level: Level = "batch"
    std_unbiased: bool = True
    eps: float = 1e-5
    group_size: int = 1


class RejectionConfig(_Strict):
    """Which tokens or sequences are rejected, or clamped."""

    level: str = "token"
    action: str = "mask"
    metric: str = "ratio"
    agg: str = "mean"
    upper: float = 5.0
    lower: float | None = None


class MicroBatches(_Strict):
    """How a minibatch is cut into micro-batches; `n_mbs` is the least number of them."""

    n_mbs: int | None = 1
    granularity: Literal[1] = 1
    max_tokens_per_mb: int | None = None


# AReaL asks `if config.adv_norm`, so that an empty mapping is none.
Norm = Annotated[NormConfig | None, BeforeValidator(lambda value: value or None)]


class ActorConfig(_Strict):
    """`actor:` of AReaL, as far as rewards, advantages, loss and statistics depend on it."""

    eps_clip: float = 0.2
    eps_clip_higher: float | None = None
    c_clip: float | None = None
    m2_threshold: float | None = None
    reward_norm: Norm = None
    reward_scaling: float = 1.0
    reward_bias: float = 0.0
    reward_clip: float = 20.0
    overlong_reward_penalty: bool = False
    overlong_tokens: int | None = None
    overlong_penalty_factor: float | None = None
    max_new_tokens: int = 1024
    mask_no_eos_with_zero: bool = False
    discount: float = 1.0
    gae_lambda: float | str = 1.0
    gae_lambda_kwargs: dict[str, Any] = {}
    gae_timestep_unit: str = "token"
    adv_norm: Norm = None
    kl_ctl: float = 0.1
    kl_estimator: Literal["k1", "k2", "k3"] = "k1"
    use_sapo_loss: bool = False
    sapo_tau_pos: float = 1.0
    sapo_tau_neg: float = 1.05
    use_cispo_loss: bool = False
    recompute_logprob: bool = False
    use_decoupled_loss: bool = False
    rejection_sampling: RejectionConfig | None = None
    importance_sampling_level: Literal["token", "sequence"] = "token"
    prox_logp_method: Literal["recompute", "loglinear", "metrics", "reuse_train_logp"] = "recompute"
    ppo_n_minibatches: int = 4
    temperature: float = 1.0
    log_agent_stats: bool = False
    log_agent_stats_keys: Annotated[tuple[str, ...], Field(strict=False)] = ()
    mb_spec: MicroBatches = MicroBatches()


class TeacherConfig(_Strict):
    """Weights of the two losses where a teacher's log-probs are given."""

    rl_loss_weight: float = 1.0
    distill_loss_weight: float = 0.005


class CriticConfig(_Strict):
    """`critic:` of AReaL."""

    eps_clip: float = 0.5
    ppo_n_minibatches: int = 4
    mask_no_eos_with_zero: bool = False
    mb_spec: MicroBatches = MicroBatches()


class Meta(_Strict):
    """Token ids that tell where a sequence ends; not part of AReaL's configuration."""

    eos_token_id: int | None = None
    pad_token_id: int | None = None


class ReplayConfig(_Strict):
    """`config.yaml` of a recorded batch."""

    actor: ActorConfig
    current_version: int | None = None
    traj_group_sizes: Annotated[tuple[int, ...] | None, Field(strict=False)] = None
    teacher: TeacherConfig | None = None
    critic: CriticConfig | None = None
    meta: Meta = Meta()


def load_config(path: Path) -> tuple[ReplayConfig, dict[str, Any]]:
    """The configuration in a file, and the same as plain data.

    Raises RunError with the file's line, one line a fault.
    """
    document = load_document(path)
    config = validate(ReplayConfig, document) if not document.errors else None
    if config is None:
        raise RunError("\n".join(str(error) for error in document.errors))
    return config, document.data


def check(config: ReplayConfig, conventions: Conventions) -> None:
    """Raise RunError for what this version lacks, and ArealRaises where AReaL refuses a value."""
    actor = config.actor
    for there, wanted, what in (
        (conventions.cispo, actor.use_cispo_loss, "CISPO loss"),
        (
            conventions.reuse_train_logp,
            actor.prox_logp_method == "reuse_train_logp",
            "prox_logp_method reuse_train_logp",
        ),
        (conventions.turn_gae, actor.gae_timestep_unit == "turn", "GAE by turns"),
        (conventions.lambda_functions, isinstance(actor.gae_lambda, str), "lambda function"),
    ):
        if wanted and not there:
            raise RunError(
                f"{conventions.name} has no {what}", hint="give another --conventions, or auto"
            )
    _check_advantages(actor)
    _check_losses(actor)
    if actor.rejection_sampling is not None:
        _check_rejection(actor.rejection_sampling, conventions)


def _refuse(message: str, kind: str = "ValueError") -> None:
    raise ArealRaises(kind, message, "config")


def _check_advantages(actor: ActorConfig) -> None:
    if actor.gae_timestep_unit not in ("token", "turn"):
        _refuse(f"gae_timestep_unit must be 'token' or 'turn', got {actor.gae_timestep_unit!r}")
    if isinstance(actor.gae_lambda, float) and not math.isfinite(actor.gae_lambda):
        _refuse(f"gae_lambda must be finite, got {actor.gae_lambda}")
    if actor.gae_lambda == "":
        _refuse("gae_lambda function path must not be empty")


def _check_losses(actor: ActorConfig) -> None:
    if actor.use_sapo_loss and (actor.sapo_tau_pos <= 0 or actor.sapo_tau_neg <= 0):
        _refuse(
            "SAPO temperatures (sapo_tau_pos, sapo_tau_neg) must be positive. Got "
            f"sapo_tau_pos={actor.sapo_tau_pos}, sapo_tau_neg={actor.sapo_tau_neg}."
        )
    if actor.use_sapo_loss and actor.use_decoupled_loss:
        _refuse(
            "SAPO is not compatible with `use_decoupled_loss=True`. "
            "Please set `actor.use_decoupled_loss=false` in your configuration."
        )
    if not actor.use_cispo_loss:
        return
    if actor.use_sapo_loss:
        _refuse(
            "CISPO and SAPO are mutually exclusive surrogates. "
            "Set at most one of use_cispo_loss / use_sapo_loss."
        )
    if actor.eps_clip_higher is None or actor.eps_clip_higher <= 0:
        _refuse(
            "CISPO requires a positive eps_clip_higher (the asymmetric upper clip is its "
            f"defining knob, MiniMax-M1 Eq. 4-5). Got eps_clip_higher={actor.eps_clip_higher}."
        )
    if actor.importance_sampling_level != "token":
        _refuse(
            "CISPO only supports importance_sampling_level='token'. "
            "Sequence-level (GSPO-style) CISPO has no published surrogate."
        )


def _check_rejection(rejection: RejectionConfig, conventions: Conventions) -> None:
    metrics: tuple[str, ...] = ("ratio", "kl_k1", "kl_k2", "kl_k3")
    # Where the loss implements binary_kl the configuration refuses its name, but a run can have set
    # it afterwards: a batch that was recorded with it has run with it.
    named = (*metrics, "binary_kl") if conventions.binary_kl else metrics
    for name, value, allowed, shown in (
        ("level", rejection.level, ("token", "sequence"), ("token", "sequence")),
        ("action", rejection.action, ("mask", "clamp"), ("mask", "clamp")),
        ("metric", rejection.metric, named, metrics),
        ("agg", rejection.agg, ("sum", "mean", "max"), ("sum", "mean", "max")),
    ):
        if value not in allowed:
            _refuse(f"{name} must be one of {shown}, got '{value}'")
    _check_bounds(rejection)


def _check_bounds(rejection: RejectionConfig) -> None:
    lower, upper, metric = rejection.lower, rejection.upper, rejection.metric
    if lower is not None and lower > upper:
        _refuse(f"lower ({lower}) cannot be greater than upper ({upper})")
    if metric == "ratio" and upper <= 1.0:
        _refuse(
            "upper must be > 1.0 for 'ratio' metric (otherwise all non-identical policy tokens "
            f"will be filtered), got {upper}"
        )
    if metric == "ratio" and lower is not None and lower <= 0:
        _refuse(f"lower must be positive for 'ratio' metric, got {lower}")
    if metric in ("kl_k2", "kl_k3") and upper <= 0:
        _refuse(f"upper must be positive for '{metric}' metric, got {upper}")
    if rejection.action == "clamp" and metric != "ratio":
        _refuse(
            "action='clamp' only supports metric='ratio' (direct importance weight truncation). "
            f"Got metric='{metric}'. Use action='mask' for KL-based filtering."
        )
