"""Stage 1: log-probs of a recorded batch, recomputed from a checkpoint.

found = recompute(bundle.tensors, Path("checkpoints/v12"), Settings(temperature=0.7))
found.logprobs   # [B,T], position t predicts token t+1: to be set beside `prox_logp`, never rolled
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from torch import Tensor

from analyzer.errors import Location, RunError
from analyzer.replay.model.checkpoint import Checkpoint, open_checkpoint
from analyzer.replay.model.finished import Finished
from analyzer.replay.model.logprobs import TokenValues, chunk_of, token_values
from analyzer.replay.model.plan import Plan, Progress, Watch, make_plan, tokens_of
from analyzer.replay.model.rows import MicroBatch, Row, micro_batches, rows_of, spread
from analyzer.replay.model.settings import Settings

# Architectures with an embedding for each position; the others reckon their positions.
_LEARNED = ("gpt2", "gpt_neo", "gpt_bigcode", "opt", "biogpt")


@dataclass(frozen=True, eq=False)
class StageOne:
    """Recomputed values of a batch, each [B,T] float32 on the CPU (float64 where asked for).

    Rolled alignment: position t is about predicting token t+1. 0 at the last token of a row, on
    padding and where nothing was asked for.
    """

    logprobs: Tensor
    """In nats; -inf where top-p or top-k leave the token out."""
    entropy: Tensor | None
    vocab_min_logits: Tensor | None
    vocab_max_logits: Tensor | None
    """Before the temperature, as AReaL has them; None where not asked for."""
    wanted: Tensor
    """[B,T] bool: where the values are."""
    settings: Settings
    """As used: device, dtype, attention, budget of tokens and chunk as they were resolved."""
    plan: Plan
    seconds: float
    """Of the computing; not part of equality."""

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, StageOne):
            return NotImplemented
        pairs = zip(self._tensors(), other._tensors(), strict=True)
        return (
            self.settings == other.settings
            and self.plan == other.plan
            and all(a is b if a is None or b is None else torch.equal(a, b) for a, b in pairs)
        )

    def __hash__(self) -> int:
        return hash((self.settings, self.plan))

    def _tensors(self) -> tuple[Tensor | None, ...]:
        return (
            self.logprobs,
            self.entropy,
            self.vocab_min_logits,
            self.vocab_max_logits,
            self.wanted,
        )


def recompute(
    batch: Mapping[str, Tensor],
    checkpoint: Checkpoint | Path,
    settings: Settings = Settings(),  # noqa: B008 - frozen
    *,
    wanted: Tensor | None = None,
    cache: Path | None = None,
    watch: Watch | None = None,
    most_seconds: float | None = None,
) -> StageOne:
    """Log-probs of a batch's tokens under a checkpoint.

    `batch` has `input_ids` and `attention_mask` [B,T]. `wanted` [B,T], at predicting positions,
    says which log-probs are needed (the rolled loss mask, say); None is all. In `cache` finished
    micro-batches are kept, and found again by a later call with the same batch, checkpoint and
    settings. `watch` is called before the first micro-batch and after each. A Checkpoint that is
    open already must have been opened with settings of the same device, dtype and attention.

    Raises RunError, in one line: a checkpoint that cannot be used (`open_checkpoint`), token ids or
    rows that it has no place for, too little memory, and, after the first micro-batch, an estimate
    above `most_seconds`.
    """
    opened = open_checkpoint(checkpoint, settings) if isinstance(checkpoint, Path) else checkpoint
    rows = rows_of(batch["input_ids"], batch["attention_mask"], wanted)
    check_rows(rows, opened)
    used = resolved(settings, opened)
    parts = micro_batches(rows, tokens_of(used, opened.device))
    plan = make_plan(parts, opened, used)
    kept = None if cache is None else Finished.of(cache, opened, used)
    start = time.perf_counter()
    shape, exact = batch["input_ids"].shape, _exact(opened)
    into = [torch.zeros(shape, dtype=exact) for _ in range(4)]
    asked = torch.zeros(shape, dtype=torch.bool)
    with algorithms(settings.deterministic):
        for part, values in _computed(parts, opened, used, plan, kept, watch, most_seconds):
            for tensor, column in zip(into, _columns(values), strict=True):
                if column is not None:
                    spread(rows, part, column, tensor)
            spread(rows, part, torch.ones(len(part.labels), dtype=torch.bool), asked)
    return StageOne(
        into[0],
        into[1] if used.entropy else None,
        into[2] if used.extremes else None,
        into[3] if used.extremes else None,
        asked,
        used,
        plan,
        time.perf_counter() - start,
    )


def resolved(settings: Settings, checkpoint: Checkpoint) -> Settings:
    """The settings with everything that was left to the device or the checkpoint."""
    config = checkpoint.model.config.get_text_config()
    return replace(
        settings,
        dtype=checkpoint.dtype,
        attention=getattr(config, "_attn_implementation", None) or settings.attention,
        device=checkpoint.device.type,
        tokens=tokens_of(settings, checkpoint.device),
        chunk=chunk_of(settings, checkpoint.head.weight.device),
    )


def check_rows(rows: Sequence[Row], checkpoint: Checkpoint) -> None:
    """Raises RunError for token ids and lengths that the checkpoint has no place for."""
    size = checkpoint.model.get_input_embeddings().weight.shape[0]
    size = min(int(size), checkpoint.head.vocabulary)
    places = _learned_positions(checkpoint)
    for number, row in enumerate(rows):
        if not len(row.ids):
            continue
        low, high = int(row.ids.min()), int(row.ids.max())
        if low < 0 or high >= size:
            raise RunError(
                f"has a vocabulary of {size:,}, but row {number} of the batch holds the token id "
                f"{low if low < 0 else high:,}",
                at=Location(str(checkpoint.path)),
                hint="the checkpoint of another model",
            )
        if places is not None and len(row.ids) > places:
            raise RunError(
                f"has {places:,} positions, but row {number} of the batch has "
                f"{len(row.ids):,} tokens",
                at=Location(str(checkpoint.path)),
                hint="the checkpoint of another model",
            )


@contextmanager
def algorithms(deterministic: bool) -> Iterator[None]:
    """Deterministic algorithms as asked for, and as before afterwards."""
    before = torch.are_deterministic_algorithms_enabled()
    torch.use_deterministic_algorithms(deterministic)
    try:
        yield
    except torch.OutOfMemoryError as cause:
        reason = str(cause).splitlines()[0]
        raise RunError(f"too little memory: {reason}", hint="a smaller token budget") from cause
    except RuntimeError as cause:
        if "deterministic" not in str(cause):
            raise
        reason = str(cause).splitlines()[0]
        raise RunError(f"cannot be computed deterministically: {reason}") from cause
    finally:
        torch.use_deterministic_algorithms(before)


def states(part: MicroBatch, checkpoint: Checkpoint) -> Tensor:
    """Hidden states [n,H] at the wanted positions, where the head is."""
    hidden = checkpoint.hidden(part.ids.to(checkpoint.device))
    where = checkpoint.head.weight.device
    return hidden.to(where)[part.wanted.to(where)].to(checkpoint.head.weight.dtype)


def _computed(
    parts: Sequence[MicroBatch],
    checkpoint: Checkpoint,
    settings: Settings,
    plan: Plan,
    kept: Finished | None,
    watch: Watch | None,
    most_seconds: float | None,
) -> Iterator[tuple[MicroBatch, TokenValues]]:
    """Each micro-batch with its values, from those kept or by computing."""
    tokens = computed = 0
    spent = 0.0
    left = None
    for number, part in enumerate(parts):
        if watch is not None:
            watch(Progress(number, plan, tokens, left))
        values = None if kept is None else kept.read(part)
        if values is None:
            start = time.perf_counter()
            values = compute(part, checkpoint, settings)
            spent += time.perf_counter() - start
            computed += part.ids.numel()
            if kept is not None:
                kept.write(part, values)
        tokens += part.ids.numel()
        left = spent / computed * (plan.tokens - tokens) if computed else None
        if most_seconds is not None and left is not None and spent + left > most_seconds:
            raise RunError(
                f"would take about {spent + left:,.0f} s, more than the {most_seconds:,.0f} s "
                f"allowed, for {plan.tokens:,} tokens",
                hint="select fewer rows",
            )
        yield part, values
    if watch is not None:
        watch(Progress(len(parts), plan, tokens, 0.0))


def compute(part: MicroBatch, checkpoint: Checkpoint, settings: Settings) -> TokenValues:
    """The values of one micro-batch, on the CPU."""
    with torch.no_grad():
        hidden = states(part, checkpoint)
        values = token_values(checkpoint.head, hidden, part.labels.to(hidden.device), settings)
    return TokenValues(
        values.logprobs.cpu(),
        *(None if column is None else column.cpu() for column in _columns(values)[1:]),
    )


def _columns(values: TokenValues) -> tuple[Tensor | None, ...]:
    return values.logprobs, values.entropy, values.smallest, values.largest


def _exact(checkpoint: Checkpoint) -> torch.dtype:
    return torch.float64 if checkpoint.dtype == "float64" else torch.float32


def _learned_positions(checkpoint: Checkpoint) -> int | None:
    """How many positions the architecture has learned embeddings for; None: no limit."""
    config = checkpoint.model.config.get_text_config()
    return int(config.max_position_embeddings) if config.model_type in _LEARNED else None
