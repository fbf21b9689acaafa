"""A training step: the replay's own functions on a live policy, with an optimiser behind them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import torch
from torch import Tensor

from analyzer.replay import conventions
from analyzer.replay.bundle import Bundle
from analyzer.replay.config import Meta, ReplayConfig
from analyzer.replay.formulas import alignment, exported
from analyzer.replay.stage0 import Replay
from sample_logs.lab import policy, task
from sample_logs.lab.optimiser import Optimiser, Step
from sample_logs.lab.policy import Rotation, Shape
from sample_logs.lab.settings import Settings

NOWHERE = Path("lab")


@dataclass(frozen=True)
class Updated:
    """What a training step did."""

    stats: dict[str, float]
    """Everything AReaL exports of it, under AReaL's names."""
    batch: dict[str, Tensor]
    """The batch with the log-probs of proximal and, before their update, current policy."""
    config: ReplayConfig


class Update(Replay):
    """`PPOActor.compute_advantages` and `ppo_update`, with a policy that learns meanwhile."""

    def __init__(
        self,
        bundle: Bundle,
        settings: Settings,
        optimiser: Optimiser,
        shape: Shape,
        turn: Rotation,
        lr: float,
    ) -> None:
        known = conventions.resolve(settings.conventions, {})
        super().__init__(bundle, known, torch.float32, "cpu")
        self.settings = settings
        self.optimiser = optimiser
        self.shape = shape
        self.tokens = self.batch["input_ids"].long()
        self.labels = alignment.to_prediction(self.tokens)
        self.turn = turn.first(self.tokens.shape[1])
        self.lr = lr
        self.first: tuple[Tensor, Tensor] | None = None
        self.steps: list[Step] = []

    def forward(self, rows: Tensor | None, dropout: float = 0.0) -> tuple[Tensor, Tensor]:
        """Log-probs of labels and entropies [rows, tokens], at predicting positions."""
        tokens, labels = self.tokens, self.labels
        if rows is not None:
            tokens, labels = tokens[rows], labels[rows]
        w = policy.weights(self.optimiser.flat, self.shape)
        scores = policy.logits(w, self.shape, tokens, self.turn, dropout)
        return policy.log_probs(scores, labels, self.actor.temperature)

    def run(self) -> None:
        """Advantages, statistics and one optimiser step for each minibatch."""
        counted = self._groups(self.actor.ppo_n_minibatches, self.actor.mb_spec)
        alone = len(counted) == 1 and self.settings.training.dropout == 0
        self.first = self.forward(None) if alone else None
        self._proximal(self.first)
        self.compute_advantages()
        self.update_actor()

    def _train_actor(self) -> None:
        training = self.settings.training
        for number, group in enumerate(
            self._groups(self.actor.ppo_n_minibatches, self.actor.mb_spec)
        ):
            rows = torch.tensor(sorted(row for part in group for row in part))
            fresh, entropy = self.first or self._of_minibatch(rows, training.dropout)
            for name, found in (("entropy", entropy), ("new_logprobs", fresh)):
                self.batch[name] = self.batch[name].index_copy(0, rows, found.detach()[rows])
            trained = self._minibatch(group, partial(self._actor_step, new=fresh))
            self.tracker.scalars(exported.UPDATE, {"num_micro_batches": len(group)})
            self._index(number, trained.minibatch)
            loss = trained.value
            if training.entropy_bonus:
                loss = loss - training.entropy_bonus * self._mean_entropy(entropy, rows)
            self.steps.append(self.optimiser.step(loss, self.lr, training.half))

    def _proximal(self, first: tuple[Tensor, Tensor] | None) -> None:
        """The log-probs before the update: a pass of its own, unless it would be the same."""
        if first is None:
            with torch.no_grad():
                known, _ = self.forward(None)
        else:
            known = first[0].detach()
        if self.actor.recompute_logprob or self.actor.use_decoupled_loss:
            self.batch["prox_logp"] = known
        self.batch |= {"new_logprobs": known, "entropy": torch.zeros_like(known)}

    def _of_minibatch(self, rows: Tensor, dropout: float) -> tuple[Tensor, Tensor]:
        logp, entropy = self.forward(rows, dropout)
        whole = torch.zeros_like(self.batch["logprobs"])
        return whole.index_copy(0, rows, logp), whole.index_copy(0, rows, entropy)

    def _mean_entropy(self, entropy: Tensor, rows: Tensor) -> Tensor:
        mask = self.tensors["loss_mask_rolled"][rows].float()
        return (entropy[rows] * mask).sum() / mask.sum().clamp(min=1)


def update(
    batch: Mapping[str, Tensor],
    settings: Settings,
    step: int,
    optimiser: Optimiser,
    shape: Shape,
    turn: Rotation,
    reference: Tensor | None,
) -> Updated:
    """Train on a batch. `step` is the policy's version; `reference` a flat tensor of parameters.

    Raises ArealRaises where AReaL ends in an error.
    """
    size = settings.data.group_size
    config = ReplayConfig(
        actor=settings.actor,
        current_version=step,
        traj_group_sizes=(size,) * (len(batch["rewards"]) // size),
        meta=Meta(eos_token_id=task.EOS, pad_token_id=task.PAD),
    )
    tensors = dict(batch)
    if reference is not None:
        tensors["ref_logp"] = log_probs(tensors["input_ids"], reference, shape, turn)
    warm = settings.training.warmup_steps
    lr = settings.training.lr * (min(1.0, (step + 1) / warm) if warm else 1.0)
    run = Update(Bundle(NOWHERE, tensors, config), settings, optimiser, shape, turn, lr)
    run.run()
    steps, count = run.steps, len(run.steps)
    stats = {k: v for k, v in run.tracker.export().items() if not k.endswith("__count")}
    stats[f"{exported.UPDATE}grad_norm"] = sum(s.grad_norm for s in steps) / count
    stats[f"{exported.UPDATE}lr"] = lr
    stats[f"{exported.UPDATE}update_successful"] = sum(s.taken for s in steps) / count
    kept = ("prox_logp", "new_logprobs", "entropy")
    recorded = tensors | {name: run.batch[name] for name in kept if name in run.batch}
    index = ("minibatch_index", "microbatch_index")
    recorded |= {name: run.tensors[name] for name in index}
    return Updated(dict(sorted(stats.items())), recorded, config)


@torch.no_grad()
def log_probs(tokens: Tensor, flat: Tensor, shape: Shape, turn: Rotation) -> Tensor:
    """[rows, tokens] log-probs of a policy at predicting positions."""
    ids = tokens.long()
    w = policy.weights(flat, shape)
    scores = policy.logits(w, shape, ids, turn.first(ids.shape[1]))
    return policy.log_probs(scores, alignment.to_prediction(ids), 1.0)[0]
