"""Which statistics AReaL exports, under which names and over which tokens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from analyzer.replay.areal_errors import ArealRaises
from analyzer.replay.config import ActorConfig
from analyzer.replay.conventions import Conventions
from analyzer.replay.formulas import proximal, rewards
from analyzer.replay.formulas.losses import Loss, Tokens, ValueLoss
from analyzer.replay.formulas.statistics import Number, Tracker

ACTOR = "ppo_actor/"
UPDATE = "ppo_actor/update/"
LOGP = "ppo_actor/update/compute_logp/"
VERSIONS = "ppo_actor/update/version_stats/"
CRITIC = "ppo_critic/"


@dataclass(frozen=True)
class WholeBatch:
    """What the statistics over the whole batch are made of; masks are [B,T], the rest as named."""

    attention_mask: Tensor
    loss_mask: Tensor
    """At the tokens, as it came."""
    rolled_mask: Tensor
    rewards: Tensor
    """[B]: after the overlong penalty, before scaling."""
    original_rewards: Tensor | None
    advantages: Tensor
    kl_rewards: Tensor
    total_rewards: Tensor
    by_name: Mapping[str, Tensor]
    """The batch's own tensors, for what the user has AReaL log of trajectories."""

    @property
    def lengths(self) -> Tensor:
        """[B]: tokens without padding."""
        return self.attention_mask.sum(-1)


def whole_batch(
    tracker: Tracker, batch: WholeBatch, actor: ActorConfig, conventions: Conventions
) -> None:
    """Statistics of scope `ppo_actor/`, recorded before the batch is split."""
    outcome = batch.rewards
    if conventions.original_rewards and batch.original_rewards is not None:
        outcome = batch.original_rewards
    lengths = batch.lengths
    masks = {
        "n_seqs": torch.ones_like(outcome, dtype=torch.bool),
        "n_tokens": torch.ones_like(batch.attention_mask),
        "n_valid_tokens": batch.rolled_mask > 0,
        "correct_n_seqs": outcome > 0,
        "incorrect_n_seqs": outcome <= 0,
    }
    if actor.log_agent_stats:
        masks["agent"] = trajectory_starts(batch, actor)
    tracker.denominators(ACTOR, masks)
    tracker.statistics(ACTOR, "correct_n_seqs", {"correct_seq_len": lengths})
    tracker.statistics(ACTOR, "incorrect_n_seqs", {"incorrect_seq_len": lengths})
    of_tokens = {
        "advantages": batch.advantages,
        "kl_rewards": batch.kl_rewards,
        "final_reward": batch.total_rewards,
    }
    tracker.statistics(ACTOR, "n_valid_tokens", of_tokens)
    of_sequences = {
        "no_eos_ratios": rewards.no_eos(lengths, batch.attention_mask.shape[1]),
        "task_reward": outcome,
        "prompt_len": prompt_lengths(batch, conventions),
        "seq_len": lengths,
    }
    tracker.statistics(ACTOR, "n_seqs", of_sequences)
    tracker.scalars(ACTOR, settings(actor))
    if actor.log_agent_stats:
        logged = {key: batch.by_name[key] for key in actor.log_agent_stats_keys}
        tracker.statistics(ACTOR, "agent", logged)


def trajectory_starts(batch: WholeBatch, actor: ActorConfig) -> Tensor:
    """The rows that begin a trajectory. Raises ArealRaises where they are not known."""
    if "begin_of_trajectory" not in batch.by_name:
        message = "'begin_of_trajectory' is expected to log agent statistics"
    elif not actor.log_agent_stats_keys:
        message = "`log_agent_stats_keys` should not be empty when log_agent_stats=True"
    else:
        return batch.by_name["begin_of_trajectory"] > 0
    raise ArealRaises("RuntimeError", message)


def prompt_lengths(batch: WholeBatch, conventions: Conventions) -> Tensor:
    """Tokens that were not generated, or those before the first generated one (all if none is)."""
    lengths = batch.lengths
    if conventions.prompt_length == "not-generated":
        return lengths - (batch.rolled_mask > 0).sum(-1)
    generated = batch.loss_mask > 0
    first = torch.argmax(generated.to(torch.int64), dim=-1)
    return torch.where(generated.any(-1), first, lengths)


def settings(actor: ActorConfig) -> dict[str, Number]:
    """The settings that are exported beside the statistics."""
    scalars: dict[str, Number] = {
        "mask_no_eos_with_zero": float(actor.mask_no_eos_with_zero),
        "eps_clip": actor.eps_clip,
        "use_dual_clip": 0 if actor.c_clip is None else 1,
    }
    if actor.c_clip is not None:
        scalars["c_clip"] = actor.c_clip
    if (rejection := actor.rejection_sampling) is not None:
        scalars["rs_upper"] = rejection.upper
        lower = rejection.lower
        if lower is None and rejection.action == "clamp":
            lower = 0.0
        if lower is not None:
            scalars["rs_lower"] = lower
    return scalars


@dataclass(frozen=True)
class Beside:
    """What a micro-batch has beside the tokens of the loss, where it has it."""

    entropy: Tensor | None
    vocabulary: Mapping[str, Tensor]
    given_prox: Tensor | None
    """The proximal log-probs that came with the batch, or are taken over from training."""
    versions: Tensor | None
    current_version: int | None
    distillation: Tensor | None


def micro_batch(
    tracker: Tracker,
    tokens: Tokens,
    loss: Loss,
    beside: Beside,
    actor: ActorConfig,
    conventions: Conventions,
) -> None:
    """Statistics of scope `ppo_actor/update/` of one packed micro-batch."""
    masks = {
        "n_tokens": torch.ones_like(tokens.mask),
        "n_valid_tokens": tokens.mask,
        "clipped_tokens": loss.clip_mask,
        "dual_clipped_tokens": loss.dual_clip_mask,
    }
    tracker.denominators(UPDATE, masks)
    values = {
        "importance_weight": loss.ratio,
        "approx_kl": loss.approx_kl,
        "new_logp": tokens.new,
        "old_logp": tokens.old,
        "actor_loss": loss.per_token,
        "clip_ratio": loss.clip_mask,
        "dual_clip_ratio": loss.dual_clip_mask,
        **loss.gates,
    }
    if beside.entropy is not None:
        values["entropy"] = beside.entropy
    if beside.distillation is not None:
        values["rkl_loss"] = beside.distillation
    tracker.statistics(UPDATE, "n_valid_tokens", values)
    tracker.statistics(UPDATE, "n_tokens", beside.vocabulary)
    if not actor.use_sapo_loss:
        clipped = {"clipped_new_logp": tokens.new, "clipped_old_logp": tokens.old}
        tracker.statistics(UPDATE, "clipped_tokens", clipped)
    _rejection(tracker, loss)
    if conventions.drift_statistics:
        _drift(tracker, tokens, loss, actor)
    counted = tokens.mask if loss.behave_mask is None else loss.behave_mask
    _log_probs(tracker, tokens, counted, beside, actor)
    _versions(tracker, counted, beside)


def _rejection(tracker: Tracker, loss: Loss) -> None:
    if loss.rejection is None or loss.behave_mask is None or loss.behave_approx_kl is None:
        return
    tracker.denominators(UPDATE, {"unclipped_behave_tokens": loss.behave_mask})
    values = {
        "behave_imp_weight": loss.rejection.weight,
        "behave_approx_kl": loss.behave_approx_kl,
    }
    tracker.statistics(UPDATE, "unclipped_behave_tokens", values)
    tracker.scalars(UPDATE, {"rs_filtered_fraction": loss.rejection.filtered_fraction})


def _drift(tracker: Tracker, tokens: Tokens, loss: Loss, actor: ActorConfig) -> None:
    difference = (tokens.old - tokens.new).detach()
    values = {"logp_diff": difference, "logp_abs_diff": difference.abs()}
    if loss.behave_mask is not None:
        values["behave_filtered_ratio"] = tokens.mask & ~loss.behave_mask
    tracker.statistics(UPDATE, "n_valid_tokens", values)
    if actor.use_sapo_loss or actor.use_cispo_loss:
        return
    total, valid = tokens.mask.numel(), int(tokens.mask.sum())
    counts: dict[str, Number] = {
        "n_total_tokens": total,
        "n_valid_tokens_in_loss": valid,
        "n_masked_tokens": total - valid,
        "masked_token_ratio": 1 - valid / total,
    }
    tracker.scalars(UPDATE, counts)


def _log_probs(
    tracker: Tracker, tokens: Tokens, counted: Tensor, beside: Beside, actor: ActorConfig
) -> None:
    tracker.denominators(LOGP, {"n_valid_tokens": counted})
    if beside.given_prox is not None:
        tracker.statistics(LOGP, "n_valid_tokens", {"prox_logp_gt": beside.given_prox})
    if beside.versions is None or beside.current_version is None:
        return
    tracker.statistics(LOGP, "n_valid_tokens", divergences(tokens.old, tokens.new.detach()))
    share = proximal.alpha(beside.versions, beside.current_version, tokens.old.dtype)
    for method in approximations_logged(actor, beside):
        approximated = proximal.approximate(method, tokens.old, tokens.new.detach(), share)
        values = approximation_values(approximated, tokens, beside.given_prox)
        named = {f"{method}/{name}": value for name, value in values.items()}
        tracker.statistics(LOGP, "n_valid_tokens", named)


def divergences(old: Tensor, new: Tensor) -> dict[str, Tensor]:
    """Three estimates of the KL divergence of behaviour from current policy, a token."""
    d = new - old
    return {
        "kl_div_direct": old - new,
        "kl_div_taylor": d * d / 2,
        "kl_div_dual": torch.exp(d) - 1 - d,
    }


def approximations_logged(actor: ActorConfig, beside: Beside) -> tuple[str, ...]:
    """Which approximations of the proximal policy are exported."""
    if actor.prox_logp_method == "metrics" and beside.given_prox is not None:
        return proximal.METHODS
    if actor.prox_logp_method == "loglinear" and beside.given_prox is None:
        return ("loglinear",)
    return ()


def approximation_values(
    approximated: Tensor, tokens: Tokens, truth: Tensor | None
) -> dict[str, Tensor]:
    """An approximation with its weights, and its errors where the truth is known."""
    new = tokens.new.detach()
    behave, ratio = torch.exp(approximated - tokens.old), torch.exp(new - approximated)
    values = {
        "approx_logp": approximated,
        "behave_imp_weight": behave,
        "importance_weight": ratio,
    }
    if truth is None:
        return values
    values["abs_error"], values["rel_error"] = errors(truth, approximated)
    values["squared_error"] = (truth - approximated) ** 2
    for name, of_truth, of_approximation in (
        ("behave_imp_weight", torch.exp(truth - tokens.old), behave),
        ("importance_weight", torch.exp(new - truth), ratio),
    ):
        absolute, relative = errors(of_truth, of_approximation)
        values[f"{name}_abs_error"], values[f"{name}_rel_error"] = absolute, relative
    return values


def errors(truth: Tensor, approximated: Tensor) -> tuple[Tensor, Tensor]:
    """Absolute and relative error."""
    difference = truth - approximated
    return difference.abs(), (difference / (truth.abs() + 1e-8)).abs()


def _versions(tracker: Tracker, counted: Tensor, beside: Beside) -> None:
    versions, current = beside.versions, beside.current_version
    if versions is None or current is None:
        return
    tracker.denominators(VERSIONS, {"n_valid_tokens": counted})
    generated = counted & (versions >= 0)
    if not bool(generated.any()):
        return
    behind = (current - versions[generated]).to(torch.float64)
    scalars: dict[str, Number | Tensor] = {
        "v_theta": current,
        "v_proximal": current - 1,
        "n_valid_generated_tokens": int(generated.sum()),
    }
    for name, staleness in (("theta", behind), ("proximal", behind - 1)):
        scalars[f"sample_staleness_{name}_avg"] = staleness.mean()
        scalars[f"sample_staleness_{name}_max"] = staleness.max()
        scalars[f"sample_staleness_{name}_min"] = staleness.min()
    tracker.scalars(VERSIONS, scalars)


def critic(
    tracker: Tracker, loss: ValueLoss, new: Tensor, old: Tensor, target: Tensor, mask: Tensor
) -> None:
    """Statistics of scope `ppo_critic/` of one packed micro-batch."""
    masks = {
        "n_tokens": torch.ones_like(mask),
        "n_valid_tokens": mask,
        "clipped_tokens": loss.clip_mask,
    }
    tracker.denominators(CRITIC, masks)
    values = {
        "new_value": new,
        "old_value": old,
        "target_value": target,
        "critic_loss": loss.per_token,
        "clip_ratio": loss.clip_mask,
    }
    tracker.statistics(CRITIC, "n_valid_tokens", values)
    clipped = {"clipped_new_value": new, "clipped_old_value": old}
    tracker.statistics(CRITIC, "clipped_tokens", clipped)
