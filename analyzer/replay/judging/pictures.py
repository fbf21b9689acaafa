"""What is drawn of a finding's batches: weights by token, their histogram, the worst sequences."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol

import torch
from torch import Tensor

from analyzer.findings.replayed import HistogramBin, ReplayPictures, TokenWeight, WorstSequence
from analyzer.replay.judging.material import Question
from analyzer.replay.judging.recomputed import Batch

POINTS = 2_000
BINS = 40
WORST = 8
LEAST_SPAN = 0.01  # of log10: a histogram of weights that are all 1 has a width, too
MOST_SPAN = 300.0  # what a float64 holds; beyond it a weight counts into the last bin


class Texts(Protocol):
    """The words of a batch's rows, where there is something that knows them."""

    def of(self, batch: Batch, row: int) -> tuple[str | None, str | None]:
        """Prompt and completion."""
        ...


def log_weights(batch: Batch, question: Question) -> Tensor | None:
    """[B,T] at predicting positions: the log of the weights a finding is about."""
    prox, new = batch.prox, batch.new
    if question == "behaviour" and prox is not None and batch.trainer_prox:
        return prox.double() - batch.behave.double()
    if new is None:
        return None
    if question == "update" and prox is not None:
        return new.double() - prox.double()
    return new.double() - batch.behave.double()


def pictures(
    batches: Sequence[Batch], controls: Sequence[Batch], question: Question, texts: Texts
) -> ReplayPictures:
    """The pictures of a finding; points and sequences are of its first, worst step."""
    if not batches:
        return ReplayPictures()
    first = batches[0]
    weights = log_weights(first, question)
    if weights is None:
        return ReplayPictures()
    return ReplayPictures(
        _points(first, weights),
        _bins(_all_weights(batches, question), _all_weights(controls, question)),
        _worst(first, weights, texts),
    )


def contribution(batch: Batch, weights: Tensor) -> Tensor:
    """[B]: each row's sum of squared log-weights."""
    finite = batch.mask & torch.isfinite(weights)
    return torch.where(finite, weights * weights, 0).sum(-1)


def _points(batch: Batch, weights: Tensor) -> tuple[TokenWeight, ...]:
    mask = batch.mask & torch.isfinite(weights)
    position = batch.mask.long().cumsum(-1) - 1
    rows, columns = torch.nonzero(mask, as_tuple=True)
    size = weights[rows, columns].abs()
    kept = torch.argsort(size, descending=True, stable=True)[:POINTS].sort().values
    return tuple(
        TokenWeight(
            _row(batch, row), int(position[row, column]), float(torch.exp(weights[row, column]))
        )
        for row, column in zip(rows[kept].tolist(), columns[kept].tolist(), strict=True)
    )


def _row(batch: Batch, row: int) -> int:
    """The row's number in the batch as it was trained on."""
    manifest = batch.bundle.manifest
    if manifest is None or manifest.rows.kept is None:
        return row
    return manifest.rows.kept[row]


def _all_weights(batches: Sequence[Batch], question: Question) -> Tensor:
    found = [
        weights[batch.mask & torch.isfinite(weights)]
        for batch in batches
        if (weights := log_weights(batch, question)) is not None
    ]
    return torch.cat(found) if found else torch.zeros(0, dtype=torch.float64)


def _bins(finding: Tensor, control: Tensor) -> tuple[HistogramBin, ...]:
    """Bins of equal width on a log axis, symmetric about weight 1."""
    if not finding.numel():
        return ()
    largest = max(float(t.abs().max()) for t in (finding, control) if t.numel()) / math.log(10)
    span = min(max(largest, LEAST_SPAN), MOST_SPAN) * (1 + 1e-9)
    edges = [-span + 2 * span * i / BINS for i in range(BINS + 1)]
    counts = [_counts(t, span) for t in (finding, control)]
    return tuple(
        HistogramBin(10 ** edges[i], 10 ** edges[i + 1], counts[0][i], counts[1][i])
        for i in range(BINS)
    )


def _counts(log_weight: Tensor, span: float) -> list[int]:
    place = (log_weight / math.log(10) + span) / (2 * span) * BINS
    index = place.floor().long().clamp(0, BINS - 1)
    return [int(n) for n in torch.bincount(index, minlength=BINS)]


def _worst(batch: Batch, weights: Tensor, texts: Texts) -> tuple[WorstSequence, ...]:
    share = contribution(batch, weights)
    total = float(share.sum())
    if not total:
        return ()
    order = torch.argsort(share, descending=True, stable=True)[:WORST].tolist()
    return tuple(
        _sequence(batch, weights, row, float(share[row]) / total, texts)
        for row in order
        if share[row] > 0
    )


def _sequence(batch: Batch, weights: Tensor, row: int, share: float, texts: Texts) -> WorstSequence:
    mask = batch.mask[row] & torch.isfinite(weights[row])
    reward = float(batch.bundle.tensors["rewards"][row])
    prompt, completion = texts.of(batch, row)
    return WorstSequence(
        batch.step,
        _row(batch, row),
        share,
        int(batch.mask[row].sum()),
        reward if math.isfinite(reward) else None,
        float(torch.exp(weights[row][mask]).mean()) if bool(mask.any()) else 1.0,
        prompt,
        completion,
    )
