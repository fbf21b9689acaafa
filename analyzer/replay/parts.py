"""The shares of a step that several data-parallel ranks recorded, put together again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from analyzer.replay.bundle import Bundle
from analyzer.replay.manifest import BundleManifest, RecordedStep, Rows

PUT_TOGETHER = "put together from"


def shares(recorded: Sequence[RecordedStep]) -> tuple[RecordedStep, ...]:
    """Of the recordings of one step, in the order they were written, those that make up most of it.

    A whole one written last, or shares that add up to the whole; else the largest share.
    """
    latest: dict[tuple[int, ...] | None, RecordedStep] = {}
    for one in recorded:
        manifest = one.manifest
        kept = manifest.rows.kept if manifest is not None else None
        latest.pop(kept, None)
        latest[kept] = one
    if None in latest:
        return (latest[None],)
    parts = sorted(latest.values(), key=lambda one: _kept(one.manifest))
    if covers([one.manifest for one in parts if one.manifest is not None]):
        return tuple(parts)
    return (max(parts, key=lambda one: (one.rows or 0, -_kept(one.manifest)[0])),)


def _kept(manifest: BundleManifest | None) -> tuple[int, ...]:
    return (manifest.rows.kept if manifest is not None else None) or (0,)


def covers(manifests: Sequence[BundleManifest]) -> bool:
    """Are these, in this order, runs of rows that add up to a whole batch?"""
    rows = [row for manifest in manifests for row in manifest.rows.kept or ()]
    return rows == list(range(manifests[0].rows.of)) if manifests else False


def put_together(bundles: Sequence[Bundle]) -> Bundle:
    """One batch of shares that `covers` a whole, padded to the longest row of all.

    Statistics over tokens, and normalisation over the whole batch, are then those of the run;
    what depends on how each rank padded and split its share is not.
    """
    first = bundles[0]
    if len(bundles) == 1 or first.manifest is None:
        return first
    names = set.intersection(*(set(bundle.tensors) for bundle in bundles))
    width = max(int(bundle.tensors["input_ids"].shape[1]) for bundle in bundles)
    tensors = {
        name: torch.cat([_padded(bundle.tensors[name], width) for bundle in bundles])
        for name in first.tensors
        if name in names
    }
    sizes: list[int] | None = []
    for bundle in bundles:
        own = bundle.config.traj_group_sizes
        sizes = None if own is None or sizes is None else [*sizes, *own]
    groups = None if sizes is None else tuple(sizes)
    config = first.config.model_copy(update={"traj_group_sizes": groups})
    rows = Rows(of=len(tensors["input_ids"]), kept=None)
    return replace(
        first,
        tensors=tensors,
        config=config,
        split=None,
        manifest=first.manifest.model_copy(update={"rows": rows, "config": config}),
        notes=(f"{PUT_TOGETHER} {len(bundles)} ranks' shares",),
    )


def _padded(tensor: Tensor, width: int) -> Tensor:
    if tensor.dim() < 2 or tensor.shape[1] == width:
        return tensor
    return torch.nn.functional.pad(tensor, (0, width - tensor.shape[1]))
