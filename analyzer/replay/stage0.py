"""Stage 0: recompute what AReaL computes from a batch, without a model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from analyzer.replay import config as configuration
from analyzer.replay.areal_errors import ArealRaises
from analyzer.replay.bundle import Bundle, Split
from analyzer.replay.config import ActorConfig, MicroBatches, TeacherConfig
from analyzer.replay.conventions import Conventions
from analyzer.replay.formulas import (
    alignment,
    exported,
    gae,
    losses,
    normalisation,
    proximal,
    rejection,
    rewards,
    splitting,
)
from analyzer.replay.formulas.statistics import Tracker
from analyzer.replay.results import ArealError, Minibatch, Part, StageZero, total_loss


def replay_batch(
    bundle: Bundle,
    conventions: Conventions,
    dtype: torch.dtype = torch.float32,
    device: str = "cpu",
) -> StageZero:
    """Recompute advantages, losses and statistics of a batch as that version of AReaL does."""
    run = Replay(bundle, conventions, dtype, device)
    try:
        configuration.check(bundle.config, conventions)
        run.compute_advantages()
        run.update_actor()
        run.update_critic()
    except ArealRaises as raised:
        error = ArealError(raised.stage, raised.kind, raised.message)
        return StageZero(
            {}, None, error, run.tensors, partial_stats=run.tracker.export(), notes=tuple(run.notes)
        )
    return StageZero(
        run.tracker.export(),
        total_loss(run.minibatches),
        None,
        run.tensors,
        tuple(run.minibatches),
        critic_loss=total_loss(run.critic_minibatches),
        critic_minibatches=tuple(run.critic_minibatches),
        notes=tuple(run.notes),
    )


class Replay:
    """A batch on its way through `compute_advantages` and `ppo_update`."""

    def __init__(
        self, bundle: Bundle, conventions: Conventions, dtype: torch.dtype, device: str
    ) -> None:
        self.bundle = bundle
        self.conventions = conventions
        self.dtype = dtype
        self.actor: ActorConfig = bundle.config.actor
        self.tracker = Tracker(dtype, conventions.extremes)
        self.tensors: dict[str, Tensor] = {}
        self.minibatches: list[Minibatch] = []
        self.critic_minibatches: list[Minibatch] = []
        self.notes: list[str] = list(bundle.notes)
        self.batch = {
            name: tensor.to(device, dtype if tensor.is_floating_point() else tensor.dtype)
            for name, tensor in bundle.tensors.items()
        }
        self.attention = self.batch["attention_mask"].bool()
        self.loss_mask = (self.batch["loss_mask"] != 0).to(dtype)
        self.lengths = self.attention.sum(-1)
        index = torch.full((bundle.rows,), -1, dtype=torch.int32)
        self.tensors["minibatch_index"], self.tensors["microbatch_index"] = index, index.clone()

    def compute_advantages(self) -> None:
        """Rewards, KL rewards and advantages, as `PPOActor.compute_advantages`."""
        actor, batch = self.actor, self.batch
        groups = normalisation.groups_of(self.conventions, self.bundle.config.traj_group_sizes)
        reward = rewards.overlong_penalty(batch["rewards"], self.loss_mask, actor)
        score = rewards.scaled(reward, actor, groups)
        mask = alignment.to_prediction(self.loss_mask)
        turn_ids = batch.get("turn_ids")
        if turn_ids is not None:
            turn_ids = alignment.turns_to_prediction(turn_ids)
        elif actor.gae_timestep_unit == "turn":
            raise ArealRaises(
                "ValueError",
                "actor.gae_timestep_unit='turn' requires rollout data to include 'turn_ids'.",
                "compute_advantages",
            )
        old = self._behaviour() * mask
        ref = batch.get("ref_logp", torch.zeros_like(old)) * mask
        kl_rewards = -actor.kl_ctl * rewards.kl_estimate(actor.kl_estimator, old, ref)
        width = mask.shape[1]
        no_eos = rewards.no_eos(self.lengths, width)
        paid = torch.where(no_eos, 0, score) if actor.mask_no_eos_with_zero else score
        episode = gae.Episode(
            rewards.without_end(kl_rewards, self.lengths),
            rewards.outcome(paid, self.lengths, width),
            mask,
            batch.get("values", torch.zeros_like(old)),
            no_eos,
            turn_ids,
        )
        lam = gae.lambdas(actor, mask, turn_ids, self.dtype)
        advantages, returns = gae.advantages(episode, actor, lam)
        if actor.adv_norm is not None:
            advantages = normalisation.normalise(advantages, mask, actor.adv_norm, groups)
        self.tensors.update(
            rewards_after_overlong=reward,
            reward_score=score,
            loss_mask_rolled=mask.to(torch.int32),
            old_logp=old,
            kl_rewards=kl_rewards,
            tot_rewards=episode.kl + episode.outcome,
            advantages=advantages,
            returns=returns,
        )
        if isinstance(actor.gae_lambda, str):
            self.tensors["gae_lambda_used"] = lam

    def _behaviour(self) -> Tensor:
        """The log-probs in the behaviour slot, before the mask."""
        if self.actor.use_decoupled_loss or not self.actor.recompute_logprob:
            return alignment.to_prediction(self.batch["logprobs"])
        if "prox_logp" not in self.batch:
            raise ArealRaises(
                "ValueError",
                "prox_logp is None but recompute_logprob=True. "
                "This indicates compute_logp() was skipped incorrectly.",
                "compute_advantages",
            )
        return self.batch["prox_logp"]

    def given_prox(self) -> Tensor | None:
        """The proximal log-probs before the update; outside decoupled mode, the behaviour's."""
        if self.actor.use_decoupled_loss:
            return self.batch.get("prox_logp")
        return self.tensors["old_logp"]

    def update_actor(self) -> None:
        """Statistics and losses, as `PPOActor.ppo_update` on one rank."""
        tensors = self.tensors
        whole = exported.WholeBatch(
            self.attention,
            self.loss_mask,
            tensors["loss_mask_rolled"],
            tensors["rewards_after_overlong"],
            self.batch.get("original_rewards"),
            tensors["advantages"],
            tensors["kl_rewards"],
            tensors["tot_rewards"],
            self.batch,
        )
        exported.whole_batch(self.tracker, whole, self.actor, self.conventions)
        if "new_logprobs" in self.batch:
            self._train_actor()
        else:
            self._without_new()

    def _without_new(self) -> None:
        """What is known of the loss step where the current policy's log-probs are lacking."""
        self.notes.append(
            "new_logprobs were not recorded: the loss step and its statistics (update/…) are left "
            "out; a checkpoint of the current policy gives them"
        )
        prox = self.given_prox()
        if self.actor.use_decoupled_loss and prox is not None and self.actor.m2_threshold is None:
            self.tensors["prox_logp_used"] = prox
            self.tensors["loss_mask_in"] = self.tensors["loss_mask_rolled"]

    def _train_actor(self) -> None:
        tensors = self.tensors
        new = self.batch["new_logprobs"].clone().requires_grad_()
        gradients = torch.zeros_like(self.batch["new_logprobs"])
        count = self.actor.ppo_n_minibatches
        if self.actor.prox_logp_method == "reuse_train_logp":
            count = 1

        def step(packing: alignment.Packing) -> Tensor:
            return self._actor_step(packing, new)

        for part in self._train(count, self.actor.mb_spec, step, exported.UPDATE, True):
            (gradient,) = torch.autograd.grad(part.value, new)
            gradients += gradient
            self.minibatches.append(part.minibatch)
        tensors["grad_new_logprobs"] = gradients

    def _actor_step(self, packing: alignment.Packing, new: Tensor) -> Tensor:
        actor, config = self.actor, self.bundle.config
        packed = {name: packing.pack(t) for name, t in self.batch.items() if t.dim() == 2}
        fresh = packing.pack(new)
        old = packing.pack(self.tensors["old_logp"])
        given = self.given_prox()
        given = packing.pack(given) if given is not None else None
        versions, current = packed.get("versions"), config.current_version
        prox = proximal.resolve(actor.prox_logp_method, given, old, fresh, versions, current)
        if actor.prox_logp_method == "reuse_train_logp":
            given = prox
        mask = packing.pack(self.tensors["loss_mask_rolled"]).bool()
        if actor.m2_threshold is not None:
            mask = rejection.m2po_mask(old, prox, mask, actor.m2_threshold)
            self._keep(packing, {"m2po_mask": mask})
        advantages = packing.pack(self.tensors["advantages"])
        tokens = losses.Tokens(fresh, old, prox, advantages, mask, packing)
        loss = losses.actor_loss(tokens, actor, self.conventions)
        total, distillation = loss.loss, None
        if (teacher := packed.get("teacher_logp")) is not None:
            weights = config.teacher or TeacherConfig()
            total, distillation = losses.distilled(total, tokens, teacher, weights)
        vocabulary = {name: t for name, t in packed.items() if name.startswith("vocab_")}
        beside = exported.Beside(
            packed.get("entropy"), vocabulary, given, versions, current, distillation
        )
        exported.micro_batch(self.tracker, tokens, loss, beside, actor, self.conventions)
        self._keep(packing, step_tensors(tokens, loss))
        if actor.prox_logp_method in ("loglinear", "metrics"):
            self._keep(packing, approximations(tokens, beside, actor))
        return total

    def update_critic(self) -> None:
        """The critic's loss and statistics, where the batch has old and new values."""
        critic = self.bundle.config.critic
        if critic is None or not {"values", "new_values"} <= self.batch.keys():
            return
        settings = {
            "mask_no_eos_with_zero": float(critic.mask_no_eos_with_zero),
            "eps_clip": critic.eps_clip,
        }
        self.tracker.scalars(exported.CRITIC, settings)

        def step(packing: alignment.Packing) -> Tensor:
            fresh, old = (packing.pack(self.batch[name]) for name in ("new_values", "values"))
            target = packing.pack(self.tensors["returns"])
            mask = packing.pack(self.tensors["loss_mask_rolled"]).bool()
            loss = losses.critic_loss(fresh, old, target, mask, critic.eps_clip)
            exported.critic(self.tracker, loss, fresh, old, target, mask)
            return loss.loss

        for part in self._train(
            critic.ppo_n_minibatches, critic.mb_spec, step, exported.CRITIC, False
        ):
            self.critic_minibatches.append(part.minibatch)

    def _train(
        self,
        count: int,
        spec: MicroBatches,
        step: Callable[[alignment.Packing], Tensor],
        scope: str,
        keep_index: bool,
    ) -> list[_Trained]:
        trained = []
        for number, groups in enumerate(self._groups(count, spec)):
            trained.append(self._minibatch(groups, step))
            self.tracker.scalars(scope, {"num_micro_batches": len(groups)})
            if keep_index:
                self._index(number, trained[-1].minibatch)
        return trained

    def _minibatch(
        self, groups: Sequence[list[int]], step: Callable[[alignment.Packing], Tensor]
    ) -> _Trained:
        """The loss over micro-batches, weighted by valid tokens before M2PO and rejection."""
        packings = [alignment.packing(self.attention, rows) for rows in groups]
        rolled = self.tensors["loss_mask_rolled"]
        weights = [int(torch.count_nonzero(packing.pack(rolled))) for packing in packings]
        total = sum(weights)
        if total == 0:
            raise ArealRaises(
                "AssertionError", "Global total loss weight must be positive after all_reduce"
            )
        value = torch.zeros((), dtype=self.dtype, device=self.attention.device)
        parts = []
        for rows, packing, weight in zip(groups, packings, weights, strict=True):
            if weight == 0:  # the engine skips it before the loss function
                parts.append(Part(tuple(rows), None, 0))
                continue
            loss = step(packing)
            value = value + loss * (weight / total)
            parts.append(Part(tuple(rows), float(loss.detach()), weight))
        return _Trained(value, Minibatch(float(value.detach()), total, tuple(parts)))

    def _groups(self, count: int, spec: MicroBatches) -> list[list[list[int]]]:
        """Rows by minibatch and micro-batch."""
        lengths = self.lengths.tolist()
        rows = list(range(len(lengths)))
        minis = splitting.minibatches(rows, lengths, count)
        groups = [splitting.microbatches(mini, lengths, spec) for mini in minis]
        if not splitting.is_open(lengths, sum(len(group) for group in groups)):
            return groups
        if (split := self.bundle.split) is not None and -1 not in split.minibatch:
            return _recorded(split, rows)
        self.notes.append(
            "rows of equal length leave open which minibatch they were in; record minibatch_index "
            "and microbatch_index to settle it"
        )
        return groups

    def _index(self, number: int, minibatch: Minibatch) -> None:
        for micro, part in enumerate(minibatch.parts):
            if part.loss is not None:
                chosen = torch.tensor(part.rows)
                self.tensors["minibatch_index"][chosen] = number
                self.tensors["microbatch_index"][chosen] = micro

    def _keep(self, packing: alignment.Packing, packed: Mapping[str, Tensor]) -> None:
        for name, value in packed.items():
            kept = value.to(torch.int32) if value.dtype == torch.bool else value.detach()
            if name not in self.tensors:
                self.tensors[name] = kept.new_zeros(self.attention.shape)
            packing.unpack_into(self.tensors[name], kept)


@dataclass(frozen=True)
class _Trained:
    value: Tensor
    minibatch: Minibatch


def _recorded(split: Split, rows: Sequence[int]) -> list[list[list[int]]]:
    minis = splitting.recorded(split.minibatch, rows)
    return [splitting.recorded(split.microbatch, mini) for mini in minis]


def step_tensors(tokens: losses.Tokens, loss: losses.Loss) -> dict[str, Tensor]:
    """The tensors of a loss step, by the names of the recorded ones."""
    kept: dict[str, Any] = {
        "prox_logp_used": tokens.prox,
        "loss_mask_in": tokens.mask,
        "importance_weight": loss.ratio,
        "approx_kl": loss.approx_kl,
        "clip_mask": loss.clip_mask,
        "dual_clip_mask": loss.dual_clip_mask,
        "pg_loss": loss.per_token,
        "behave_mask": loss.behave_mask,
        "behave_approx_kl": loss.behave_approx_kl,
        "seq_advantages": loss.sequence_advantages,
        **loss.gates,
    }
    if loss.rejection is not None:
        kept |= {"rs_mask": loss.rejection.mask, "behave_imp_weight": loss.rejection.weight}
    return {name: tensor for name, tensor in kept.items() if tensor is not None}


def approximations(
    tokens: losses.Tokens, beside: exported.Beside, actor: ActorConfig
) -> dict[str, Tensor]:
    """The approximated proximal log-probs that AReaL exports, by method."""
    if beside.versions is None or beside.current_version is None:
        return {}
    share = proximal.alpha(beside.versions, beside.current_version, tokens.old.dtype)
    new = tokens.new.detach()
    return {
        f"approx_{method}": proximal.approximate(method, tokens.old, new, share)
        for method in exported.approximations_logged(actor, beside)
    }
