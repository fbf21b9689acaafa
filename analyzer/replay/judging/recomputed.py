"""A recorded batch recomputed, its statistics under canonical names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from torch import Tensor

from analyzer.replay.bundle import Bundle
from analyzer.replay.conventions import Conventions
from analyzer.replay.formulas.alignment import to_prediction
from analyzer.replay.formulas.exported import UPDATE
from analyzer.replay.results import StageZero
from analyzer.replay.stage0 import replay_batch
from analyzer.tables.catalog import Catalog

LOG_PROBS = ("logprobs", "prox_logp", "new_logprobs", "ref_logp")


@dataclass(frozen=True)
class Batch:
    """A recorded batch with what AReaL computes of it."""

    step: int
    bundle: Bundle
    conventions: Conventions
    found: StageZero
    values: Mapping[str, float]
    """Canonical name → by AReaL's own definition."""
    keys: Mapping[str, str]
    """Canonical name → AReaL's key."""

    @property
    def mask(self) -> Tensor:
        """[B,T] bool, at predicting positions: trained tokens before rejection."""
        tensors = self.found.tensors
        return tensors.get("loss_mask_in", tensors["loss_mask_rolled"]).bool()

    @property
    def survivors(self) -> Tensor:
        """[B,T] bool: trained tokens that rejection left, all of them where there is none."""
        kept = self.found.tensors.get("rs_mask")
        return self.mask if kept is None else kept.bool()

    @property
    def behave(self) -> Tensor:
        """[B,T]: the recorded log-probs of the rollout engine, at predicting positions."""
        return to_prediction(self.bundle.tensors["logprobs"])

    @property
    def prox(self) -> Tensor | None:
        """[B,T]: the proximal log-probs of the loss; None where they are not known."""
        return self.found.tensors.get("prox_logp_used")

    @property
    def new(self) -> Tensor | None:
        """[B,T]: the log-probs of the update; None where they were not recorded."""
        return self.bundle.tensors.get("new_logprobs")

    @property
    def versions(self) -> Tensor | None:
        """[B,T] int: the policy version of the token that each position predicts."""
        versions = self.bundle.tensors.get("versions")
        return None if versions is None else to_prediction(versions)

    @property
    def dtypes(self) -> frozenset[str]:
        """The dtypes that the log-probs had in the trainer."""
        return frozenset(d for name, d in self.bundle.dtypes.items() if name in LOG_PROBS)

    @property
    def trainer_prox(self) -> bool:
        """Did the trainer compute the proximal log-probs, so that they are not the engine's?"""
        actor = self.bundle.config.actor
        return "prox_logp" in self.bundle.tensors and (
            actor.use_decoupled_loss or actor.recompute_logprob
        )


def recompute(
    step: int, bundle: Bundle, conventions: Conventions, catalog: Catalog, device: str = "cpu"
) -> Batch:
    """Stage 0 of a batch; where AReaL raises, what it had computed until then."""
    found = replay_batch(bundle, conventions, device=device)
    prox = found.tensors.get("prox_logp_used")
    if "new_logprobs" not in bundle.tensors and found.error is None and prox is not None:
        found = _without_new(bundle, conventions, prox, found.notes, device)
    values: dict[str, float] = {}
    keys: dict[str, str] = {}
    ranks: dict[str, int] = {}
    for key, value in (found.stats or found.partial_stats).items():
        if key not in catalog.aliases:
            continue
        name, rank = catalog.aliases[key].canonical, catalog.aliases[key].rank
        if name not in ranks or rank < ranks[name]:
            values[name], keys[name], ranks[name] = float(value), key, rank
    return Batch(step, bundle, conventions, found, values, keys)


# What follows from behaviour and proximal log-probs alone, whatever the update's were.
_WITHOUT_NEW = (
    "n_tokens",
    "n_valid_tokens",
    "unclipped_behave_tokens",
    "old_logp",
    "entropy",
    "behave_",
    "rs_filtered_fraction",
    "compute_logp/n_valid_tokens",
    "compute_logp/prox_logp_gt",
    "version_stats/",
    "n_total_tokens",
    "n_valid_tokens_in_loss",
    "n_masked_tokens",
    "masked_token_ratio",
    "num_micro_batches",
)
_BEFORE_UPDATE = (
    "rewards_after_overlong",
    "reward_score",
    "loss_mask_rolled",
    "old_logp",
    "kl_rewards",
    "tot_rewards",
    "advantages",
    "returns",
)
_TENSORS_WITHOUT_NEW = (
    "prox_logp_used",
    "loss_mask_in",
    "rs_mask",
    "m2po_mask",
    "behave_mask",
    "behave_imp_weight",
    "behave_approx_kl",
    "minibatch_index",
    "microbatch_index",
)


def _without_new(
    bundle: Bundle, conventions: Conventions, prox: Tensor, notes: tuple[str, ...], device: str
) -> StageZero:
    """Stage 0 of a batch that was recorded before its update, as far as no update bears on it.

    The update's log-probs are replaced by the proximal ones; what depends on them is dropped.
    """
    stand_in = replace(bundle, tensors={**bundle.tensors, "new_logprobs": prox.float()})
    found = replay_batch(stand_in, conventions, device=device)
    if found.error is not None:
        return found
    before = {k: v for k, v in found.stats.items() if not k.startswith(UPDATE)}
    kept = {
        key: value
        for key, value in found.stats.items()
        if key.startswith(UPDATE) and key.removeprefix(UPDATE).startswith(_WITHOUT_NEW)
    }
    tensors = {
        name: tensor
        for name, tensor in found.tensors.items()
        if name in _TENSORS_WITHOUT_NEW or name in _BEFORE_UPDATE
    }
    return StageZero({**before, **kept}, None, None, tensors, notes=notes)
