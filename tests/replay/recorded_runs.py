"""Runs with recorded batches, made from AReaL's own values and from the small model.

A run is a `main.log` in AReaL's format, its `config.yaml`, and folders of recorded batches. What is
wrong with it is put in here, so that a test knows what the replay has to find.

    python tests/replay/recorded_runs.py FOLDER     # writes every run, to be looked at
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import torch
from golden_cases import FOLDER
from safetensors.torch import load_file, save
from torch import Tensor

from analyzer.replay.bundle import Bundle, read_bundle
from analyzer.replay.config import ReplayConfig
from analyzer.replay.conventions import VERSIONS
from analyzer.replay.stage0 import replay_batch

REPOSITORY = FOLDER.parent.parent
sys.path.insert(0, str(REPOSITORY))

from sample_logs.areal_files import LoggedStep, text_log  # noqa: E402

TINY = FOLDER / "tiny_lm"
STARTED = datetime(2026, 9, 1, 8, 0, tzinfo=UTC)
STALE, CURRENT = 3, 4  # versions of the small model's two checkpoints
# Its rows have 39 31 24 36 18 28 33 40 tokens. By hand, longest first, each to the group with the
# fewest rows, of those the lightest:
FIRST_MINIBATCH = (0, 2, 3, 5)  # of two
MICRO_BATCHES = ((0, 1), (2, 5, 7), (3, 4, 6))  # three

Stats = Mapping[str, float]


@dataclass(frozen=True)
class Recorded:
    """A batch to be recorded, and what AReaL logs of it."""

    tensors: Mapping[str, Tensor]
    config: Mapping[str, Any]
    stats: Stats
    conventions: str
    manifest: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Stretch:
    """Steps that look alike, with what they log; some of them recorded."""

    steps: range
    batch: Recorded
    recorded: Sequence[int] = ()
    logs: Callable[[Stats], Stats] = dict
    """What the log says instead of what AReaL computes."""


# --- batches --------------------------------------------------------------------------------


def golden(case: str) -> Recorded:
    """A batch with what AReaL's own functions gave for it."""
    folder = next(path for path in sorted(FOLDER.glob(f"{case}*")) if path.is_dir())
    bundle = read_bundle(folder)
    expected = json.loads((folder / "expected.json").read_text("utf-8"))
    return Recorded(
        bundle.tensors,
        {k: v for k, v in bundle.raw_config.items()},
        {key: float(value) for key, value in expected["stats"].items()},
        case.partition("/")[0],
    )


def tiny_logprobs(name: str) -> Tensor:
    """[8,40] at predicting positions: `current.fp32.T1.0`, `stale.fp32.T1.0` …"""
    return load_file(TINY / "logprobs.safetensors")[f"{name}.logprobs"].float()


def tiny(
    behave: Tensor,
    version: int = CURRENT,
    *,
    decoupled: bool = True,
    sampling: Mapping[str, Any] | None = None,
    minibatches: int = 1,
    microbatches: int = 1,
    change: Callable[[dict[str, Tensor]], None] | None = None,
) -> Recorded:
    """A batch of the small model; `behave` [8,40] are the engine's log-probs, predicting positions.

    The trainer is the current checkpoint in float32.
    """
    batch = load_file(TINY / "batch.safetensors")
    # One row is as long as the padded batch, as there always is; the other loses its last token.
    batch["attention_mask"][0, -1] = False
    mask = (batch["loss_mask"] != 0) & batch["attention_mask"]
    current = tiny_logprobs("current.fp32.T1.0")
    tensors = {
        "input_ids": torch.where(batch["attention_mask"], batch["input_ids"], 0),
        "attention_mask": batch["attention_mask"],
        "loss_mask": mask.int(),
        "logprobs": torch.roll(behave, 1, -1) * mask,
        "versions": torch.where(mask, version, -1).int(),
        "rewards": torch.tensor([1.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0, 0.0]),
        "prox_logp": current,
        "new_logprobs": current.clone(),
        "entropy": load_file(TINY / "logprobs.safetensors")["current.fp32.T1.0.entropy"].float(),
    }
    if not decoupled:
        del tensors["prox_logp"]
    if change is not None:
        change(tensors)
    rejection = {"level": "token", "action": "mask", "metric": "ratio", "upper": 5.0}
    actor: dict[str, Any] = {
        "kl_ctl": 0.0,
        "ppo_n_minibatches": minibatches,
        "mb_spec": {"n_mbs": microbatches},
        "use_decoupled_loss": decoupled,
        "temperature": 1.0,
        "rejection_sampling": rejection if decoupled else None,
    }
    config = {
        "actor": actor,
        "current_version": CURRENT,
        "traj_group_sizes": [4, 4],
        "meta": {"eos_token_id": 2, "pad_token_id": 0},
    }
    conventions = "areal-2026-08"
    made = Bundle(Path(), tensors, ReplayConfig.model_validate(config), config)
    stats = replay_batch(made, VERSIONS[conventions]).stats
    manifest = {
        "sampling": {"temperature": 1.0, "top_p": 1.0, "dtype": "float32", **(sampling or {})},
        "trainer": {"dtype": "float32", "attention": "eager"},
        "checkpoints": {
            str(STALE): str(TINY / "ckpt_stale"),
            str(CURRENT): str(TINY / "ckpt_current"),
        },
    }
    return Recorded(tensors, config, stats, conventions, manifest)


# --- files ----------------------------------------------------------------------------------


def share_of(batch: Recorded, rows: Sequence[int]) -> Recorded:
    """Some rows, padded to the longest of them alone, as one data-parallel rank has them."""
    of = batch.tensors["input_ids"].shape[0]
    own = {name: tensor[list(rows)] for name, tensor in batch.tensors.items()}
    width = int(own["attention_mask"].sum(-1).max())
    tensors = {name: t[:, :width] if t.dim() == 2 else t for name, t in own.items()}
    config = {k: v for k, v in batch.config.items() if k != "traj_group_sizes"}
    manifest = {**batch.manifest, "rows": {"of": of, "kept": list(rows)}}
    return replace(batch, tensors=tensors, config=config, manifest=manifest)


def write_batch(folder: Path, step: int, batch: Recorded) -> Path:
    """A recorded batch as the recorder leaves it."""
    home = folder / f"step_{step:08d}"
    home.mkdir(parents=True)
    content = save({name: tensor.contiguous() for name, tensor in batch.tensors.items()})
    (home / "batch.safetensors").write_bytes(content)
    rows = batch.tensors["input_ids"].shape[0]
    manifest = {
        "kind": "recorded-batch",
        "schema_version": 1,
        "step": step,
        "framework": "areal",
        "framework_version": "2.0.0",
        "conventions": batch.conventions,
        "config": batch.config,
        "rows": {"of": rows, "kept": None},  # unless the batch says otherwise
        "tensors": {
            name: {"dtype": str(t.dtype).removeprefix("torch."), "shape": list(t.shape)}
            for name, t in batch.tensors.items()
        },
        "files": {
            "batch.safetensors": {
                "bytes": len(content),
                "sha256": hashlib.sha256(content).hexdigest(),
            }
        },
        "checkpoints": {},
        "text": None,
        "written": "2026-09-01T12:00:00Z",
        **batch.manifest,
    }
    (home / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    return home


def write_run(folder: Path, name: str, stretches: Iterable[Stretch], minibatches: int = 1) -> Path:
    """The log, the configuration and the recorded batches of a run."""
    home = folder / name
    home.mkdir(parents=True)
    steps: list[LoggedStep] = []
    for stretch in stretches:
        for step in stretch.steps:
            logged = {**stretch.logs(stretch.batch.stats), **_beside(step)}
            finite = {key: value for key, value in logged.items() if "__count" not in key}
            steps.append(LoggedStep(step, STARTED + timedelta(minutes=step + 1), finite))
            if step in stretch.recorded:
                write_batch(home / "recorded", step, stretch.batch)
    total = len(steps)
    (home / "main.log").write_text(text_log(steps, total, total), "utf-8")
    config = (REPOSITORY / "sample_logs" / "base_config.yaml").read_text("utf-8")
    config = config.replace("{trial}", name).replace("{tensorboard}", "null")
    config = config.replace("backend: fsdp:d4p1t1", "backend: fsdp:d1p1t1")
    config = re.sub(r"(?m)^(  )batch_size: 64$", r"\1batch_size: 2", config)
    config = config.replace("  n_samples: 8\n", "  n_samples: 4\n")
    config = config.replace("ppo_n_minibatches: 1", f"ppo_n_minibatches: {minibatches}")
    (home / "config.yaml").write_text(config, "utf-8")
    return home


def _beside(step: int) -> dict[str, float]:
    """What the update does not compute from its batch; it moves a little, as everything does."""
    return {
        "ppo_actor/update/grad_norm": 0.5 + 0.01 * ((7 * step) % 5),
        "ppo_actor/update/lr": 1e-6,
        "ppo_actor/update/update_successful": 1.0,
        "timeperf/rollout": 20.0 + (step % 3),
        "timeperf/train_step": 10.0 + (step % 2),
    }


# --- runs -----------------------------------------------------------------------------------


def mixed(folder: Path) -> Path:
    """Healthy, then rejection by mask as it was logged before August, then stale samples."""
    return write_run(
        folder,
        "mixed",
        (
            Stretch(range(0, 20), golden("areal-2026-05/case_17"), (2, 10)),
            Stretch(range(20, 40), golden("areal-2026-05/case_34"), (25,)),
            Stretch(range(40, 60), tiny(tiny_logprobs("stale.fp32.T1.0"), STALE), (45,)),
        ),
    )


def rounded(folder: Path) -> Path:
    """The engine computes in bfloat16 from the first step on."""
    batch = tiny(tiny_logprobs("current.bf16.T1.0"), sampling={"dtype": "bfloat16"})
    return write_run(folder, "rounded", (Stretch(range(0, 30), batch, (5,)),))


def healthy_then(
    folder: Path,
    name: str,
    batch: Recorded,
    logs: Callable[[Stats], Stats] = dict,
    minibatches: int = 1,
) -> Path:
    """Twenty healthy steps of the small model, one recorded, and twenty with another batch."""
    fine = tiny(tiny_logprobs("current.fp32.T1.0"), minibatches=minibatches)
    parts = (Stretch(range(0, 20), fine, (12,)), Stretch(range(20, 40), batch, (30,), logs))
    return write_run(folder, name, parts, minibatches)


def hot(folder: Path) -> Path:
    """The engine reports log-probs at temperature 0.7, the trainer takes them at 1."""
    return healthy_then(folder, "hot", tiny(tiny_logprobs("current.fp32.T0.7")))


def truncated(folder: Path) -> Path:
    """The engine samples from the most likely tokens that hold 0.9, and reports it so."""
    top_p = 0.9

    def sample(tensors: dict[str, Tensor]) -> None:
        mask = tensors["loss_mask"] != 0
        tensors["input_ids"] = sampled(TINY / "ckpt_current", tensors["input_ids"], mask, top_p)
        score_again(tensors, top_p)

    batch = tiny(tiny_logprobs("current.fp32.T1.0"), sampling={"top_p": top_p}, change=sample)
    return healthy_then(folder, "truncated", batch)


def filled(folder: Path) -> Path:
    """Every second log-prob of the engine is lost and stands as 0."""

    def lose(tensors: dict[str, Tensor]) -> None:
        tensors["logprobs"][:, ::2] = 0.0

    batch = tiny(tiny_logprobs("current.fp32.T1.0"), change=lose)
    return healthy_then(folder, "filled", batch)


def prompts_trained(folder: Path) -> Path:
    """The prompts are in the loss mask, with version -1 and log-prob 0."""

    def unmask(tensors: dict[str, Tensor]) -> None:
        tensors["loss_mask"] = tensors["attention_mask"].int()
        tensors["loss_mask"][:, 0] = 0

    batch = tiny(tiny_logprobs("current.fp32.T1.0"), change=unmask)
    return healthy_then(folder, "prompts_trained", batch)


def foreign_tokens(folder: Path) -> Path:
    """Twelve tokens that nobody sampled stand in a response, scored by the engine's prefill."""

    def insert(tensors: dict[str, Tensor]) -> None:
        made = torch.Generator().manual_seed(7)
        tensors["input_ids"][3, 10:22] = torch.randint(3, 512, (12,), generator=made).int()
        score_again(tensors)

    batch = tiny(tiny_logprobs("current.fp32.T1.0"), change=insert)
    parts = (
        Stretch(range(0, 20), golden("areal-2026-05/case_17"), (12,)),
        Stretch(range(20, 40), batch, (30,)),
    )
    return write_run(folder, "foreign_tokens", parts)


def two_passes(folder: Path) -> Path:
    """One update a batch, and yet the pass that updates gives other log-probs."""
    other = tiny_logprobs("half.fp32.T1.0")

    def drop_out(tensors: dict[str, Tensor]) -> None:
        tensors["new_logprobs"] = other.clone()

    batch = tiny(tiny_logprobs("current.fp32.T1.0"), change=drop_out)
    return healthy_then(folder, "two_passes", batch)


def several_updates(folder: Path) -> Path:
    """Two updates a batch; the second one scores its rows with weights that have moved."""
    moved = tiny_logprobs("half.fp32.T1.0")

    def update(tensors: dict[str, Tensor]) -> None:
        later = [row for row in range(8) if row not in FIRST_MINIBATCH]
        tensors["new_logprobs"][later] = moved[later]

    batch = tiny(tiny_logprobs("current.fp32.T1.0"), change=update, minibatches=2)
    return healthy_then(folder, "several_updates", batch, minibatches=2)


def plain_means(folder: Path) -> Path:
    """The log has the plain mean over three micro-batches where the name promises one of tokens."""
    batch = tiny(tiny_logprobs("current.fp32.T1.0"), microbatches=3)
    entropy = batch.tensors["entropy"]
    mask = torch.roll(batch.tensors["loss_mask"], -1, -1) != 0
    means = [float(entropy[list(rows)][mask[list(rows)]].mean()) for rows in MICRO_BATCHES]

    def alter(stats: Stats) -> Stats:
        return {**stats, "ppo_actor/update/entropy/avg": sum(means) / len(means)}

    parts = (
        Stretch(range(0, 20), golden("areal-2026-05/case_17"), (12,)),
        Stretch(range(20, 40), batch, (30,), alter),
    )
    return write_run(folder, "plain_means", parts)


def before_update(folder: Path) -> Path:
    """As `hot`, recorded before the update, as the lines for AReaL do: without its log-probs."""
    whole = tiny(tiny_logprobs("current.fp32.T0.7"))
    tensors = {k: v for k, v in whole.tensors.items() if k not in ("new_logprobs", "entropy")}
    return healthy_then(folder, "before_update", replace(whole, tensors=tensors))


def two_ranks(folder: Path) -> Path:
    """As `hot`, recorded by two ranks, each its share."""
    home = healthy_then(folder, "two_ranks", tiny(tiny_logprobs("current.fp32.T0.7")))
    shutil.rmtree(home / "recorded")
    for rank, rows in enumerate((range(0, 4), range(4, 8))):
        place = home / "recorded" / f"rank{rank}"
        write_batch(place, 12, share_of(tiny(tiny_logprobs("current.fp32.T1.0")), rows))
        write_batch(place, 30, share_of(tiny(tiny_logprobs("current.fp32.T0.7")), rows))
    return home


def wrong_log(folder: Path) -> Path:
    """The log says another importance weight than the batch gives."""

    def alter(stats: Stats) -> Stats:
        return {**stats, "ppo_actor/update/importance_weight/avg": 0.9}

    batch = tiny(tiny_logprobs("current.fp32.T1.0"))
    return healthy_then(folder, "wrong_log", batch, logs=alter)


def probabilities(checkpoint: Path, ids: Tensor, top_p: float = 1.0) -> Tensor:
    """[B,T,V] of the next token, the plain way: all logits, sorted, renormalised."""
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
    with torch.no_grad():
        whole = torch.softmax(model(input_ids=ids.long()).logits.double(), -1)
    ordered, order = whole.sort(dim=-1, descending=True, stable=True)
    kept = torch.cumsum(ordered, -1) - ordered < top_p
    found = whole * torch.zeros_like(kept).scatter(-1, order, kept)
    return found / found.sum(-1, keepdim=True)


def score_again(tensors: dict[str, Tensor], top_p: float = 1.0) -> None:
    """The log-probs of changed tokens: the trainer's, and the engine's at `top_p`."""
    ids = tensors["input_ids"]
    labels = torch.roll(ids, -1, -1).long()[..., None]
    plain, cut = (
        torch.log(probabilities(TINY / "ckpt_current", ids, p).gather(-1, labels))[..., 0].float()
        for p in (1.0, top_p)
    )
    for name in ("prox_logp", "new_logprobs"):
        tensors[name] = plain.clone()
    mask = tensors["loss_mask"] != 0
    tensors["logprobs"] = torch.where(mask, torch.roll(cut, 1, -1), 0)


def sampled(checkpoint: Path, ids: Tensor, mask: Tensor, top_p: float) -> Tensor:
    """The generated tokens drawn anew, in order, from what `top_p` keeps."""
    made = torch.Generator().manual_seed(11)
    found = ids.clone()
    for position in range(1, ids.shape[1]):
        at = probabilities(checkpoint, found[:, :position], top_p)[:, -1]
        drawn = torch.multinomial(at, 1, generator=made)[:, 0].int()
        found[:, position] = torch.where(mask[:, position], drawn, found[:, position])
    return found


RUNS: Mapping[str, Callable[[Path], Path]] = {
    made.__name__: made
    for made in (
        mixed,
        rounded,
        hot,
        truncated,
        filled,
        prompts_trained,
        foreign_tokens,
        two_passes,
        several_updates,
        plain_means,
        before_update,
        two_ranks,
        wrong_log,
    )
}


if __name__ == "__main__":
    for make in RUNS.values():
        print(make(Path(sys.argv[1])))
