"""slime's dumps for debugging.

Layouts as in slime's public repository (THUDM/slime, main of 2026):

`--save-debug-rollout-data`: a dictionary with `rollout_id` and `samples`, each `Sample.to_dict()`
(slime/observability/rollout_data_utils.py at 4c4adbbf, slime/utils/types.py at 0d234f3e).

`--save-debug-train-data`: at first `rollout_id`, `rank` and `rollout_data` with a list for each
field, one file a rank (slime/backends/megatron_utils/train_dump_utils.py at 1706a092); since then
`format_version` 2 and `samples`, all ranks in one file (slime/observability/train_data_utils.py at
d92cb5de). The fields are those of `_convert_samples_to_train_data`. Log-probs and masks have one
value for each response token.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from analyzer.replay.dumps import torch_file
from analyzer.replay.dumps.dump import Dump, Part, unreadable

_NO_STAGE_0 = "the replay of losses and statistics is AReaL's; slime's differ"
_NO_BEHAVIOUR = "the rollout engine's log-probs (rollout_log_probs) are not in it"


class SlimeRollout:
    """`--save-debug-rollout-data`: the samples before training."""

    format = "slime rollout dump"

    def sniff(self, path: Path) -> bool:
        """By the keys in the pickle."""
        found = torch_file.names(path)
        return all(n in found for n in (b"samples", b"response_length", b"weight_versions"))

    def read(self, path: Path) -> Dump:
        """Rewards, groups, truncation, and the batch for stage 1."""
        content = torch_file.load(path)
        samples = _samples(path, content)
        lacks: dict[Part, str] = {
            "stage-0": _NO_STAGE_0,
            "weights": "the trainer's log-probs are not in it; the train dump has them",
        }
        rewards = _rewards([sample.get("reward") for sample in samples])
        if rewards is None:
            lacks["rewards"] = "a reward is missing, or several are given for one sample"
        groups = [sample.get("group_index") for sample in samples]
        if any(group is None for group in groups):
            lacks["groups"] = "a sample does not name its group"
        statuses = [sample.get("status") for sample in samples]
        if not all(isinstance(status, str) for status in statuses):
            lacks["truncation"] = "a sample has no status"
        batch, why = _batch(
            [sample.get("tokens") for sample in samples],
            [sample.get("response_length") for sample in samples],
            [sample.get("loss_mask") for sample in samples],
            [sample.get("rollout_log_probs") for sample in samples],
        )
        if batch is None:
            lacks["stage-1"] = why
        return Dump(
            path,
            self.format,
            len(samples),
            lacks,
            step=_step(content),
            rewards=rewards,
            groups=None if "groups" in lacks else groups,
            truncated=None if "truncation" in lacks else [s == "truncated" for s in statuses],
            batch=batch,
        )


class SlimeTrain:
    """`--save-debug-train-data`: what a step was trained on."""

    format = "slime train dump"

    def sniff(self, path: Path) -> bool:
        """By the keys in the pickle."""
        found = torch_file.names(path)
        return b"response_lengths" in found and (b"rollout_data" in found or b"dp_shards" in found)

    def read(self, path: Path) -> Dump:
        """Rewards, truncation, weights, and the batch for stage 1."""
        content = torch_file.load(path)
        fields = _fields(path, content)
        lengths = list(fields["response_lengths"])
        count = len(lengths)
        lacks: dict[Part, str] = {
            "stage-0": _NO_STAGE_0,
            "groups": "it does not say which samples are of one prompt; the rollout dump does",
        }
        raw = fields.get("raw_reward")
        rewards = _rewards(raw if raw is not None and len(raw) == count else [None])
        if rewards is None:
            lacks["rewards"] = "raw_reward is not in it, or is of another number of samples"
        truncated = fields.get("truncated")
        if truncated is None or len(truncated) != count:
            lacks["truncation"] = "truncated is not in it"
        masks = fields.get("loss_masks") or [None] * count
        weights, no_weights = _log_weights(
            fields.get("log_probs"), fields.get("rollout_log_probs"), masks, lengths
        )
        if weights is None:
            lacks["weights"] = no_weights
        behaviour = fields.get("rollout_log_probs") or [None] * count
        batch, why = _batch(fields.get("tokens") or [None] * count, lengths, masks, behaviour)
        if batch is None:
            lacks["stage-1"] = why
        notes = ("one rank's share of the step",) if "rollout_data" in content else ()
        return Dump(
            path,
            self.format,
            count,
            lacks,
            step=_step(content),
            rewards=rewards,
            truncated=None if "truncation" in lacks else [bool(flag) for flag in truncated or ()],
            log_weights=weights,
            batch=batch,
            notes=notes,
        )


def _samples(path: Path, content: Any) -> list[Mapping[str, Any]]:
    samples = content.get("samples") if isinstance(content, Mapping) else None
    if not isinstance(samples, list) or not all(isinstance(s, Mapping) for s in samples):
        raise unreadable(path, "holds no list of samples")
    if not samples:
        raise unreadable(path, "holds no sample")
    return samples


def _fields(path: Path, content: Any) -> dict[str, Any]:
    """Field → one value a sample, in either layout."""
    found: Any = content.get("rollout_data") if isinstance(content, Mapping) else None
    if found is None:
        samples = _samples(path, content)
        names = [name for name in samples[0] if all(name in sample for sample in samples)]
        found = {name: [sample[name] for sample in samples] for name in names}
        if "raw_reward" in content:
            found["raw_reward"] = content["raw_reward"]
    if not isinstance(found, Mapping) or not len(found.get("response_lengths", ())):
        raise unreadable(path, "holds no response_lengths")
    return dict(found)


def _step(content: Mapping[str, Any]) -> int | None:
    step = content.get("rollout_id")
    return step if isinstance(step, int) else None


def _rewards(values: Sequence[Any]) -> list[float] | None:
    if not all(isinstance(value, int | float) for value in values):
        return None
    return [float(value) for value in values]


def _log_weights(
    trainer: Sequence[Any] | None,
    engine: Sequence[Any] | None,
    masks: Sequence[Any],
    lengths: Sequence[int],
) -> tuple[Tensor | None, str]:
    """On all tokens with a loss, one sequence after the other."""
    if engine is None:
        return None, _NO_BEHAVIOUR
    if trainer is None:
        return None, "the trainer's log-probs (log_probs) are not in it"
    parts = []
    for ours, theirs, mask, length in zip(trainer, engine, masks, lengths, strict=True):
        new, old, kept = _values(ours), _values(theirs), _mask(mask, length)
        if not len(new) == len(old) == len(kept) == length:
            return None, "log-probs are not as many as response tokens: context-parallel shards"
        parts.append((new - old)[kept])
    return torch.cat(parts), ""


def _batch(
    tokens: Sequence[Any], lengths: Sequence[Any], masks: Sequence[Any], behaviour: Sequence[Any]
) -> tuple[dict[str, Tensor] | None, str]:
    """Padded on the right; log-probs and masks at the response tokens."""
    if any(row is None for row in tokens):
        return None, "the token ids are not in it"
    if any(row is None for row in behaviour):
        return None, _NO_BEHAVIOUR
    ids = [torch.as_tensor(row).to(torch.int32) for row in tokens]
    width = max(len(row) for row in ids)
    names = ("input_ids", "attention_mask", "loss_mask")
    batch = {name: torch.zeros(len(ids), width, dtype=torch.int32) for name in names}
    batch["logprobs"] = torch.zeros(len(ids), width)
    for i, (row, length) in enumerate(zip(ids, lengths, strict=True)):
        old, kept = _values(behaviour[i]), _mask(masks[i], length)
        if not len(old) == len(kept) == length <= len(row):
            return None, "log-probs are not as many as response tokens: context-parallel shards"
        response = slice(len(row) - length, len(row))
        batch["input_ids"][i, : len(row)] = row
        batch["attention_mask"][i, : len(row)] = 1
        batch["loss_mask"][i, response] = kept.to(torch.int32)
        batch["logprobs"][i, response] = old
    return batch | {"attention_mask": batch["attention_mask"].bool()}, ""


def _values(row: Any) -> Tensor:
    return torch.as_tensor(row, dtype=torch.float32).flatten()


def _mask(row: Any, length: int) -> Tensor:
    """Without a mask slime trains on every response token."""
    return torch.ones(length, dtype=torch.bool) if row is None else torch.as_tensor(row).bool()
