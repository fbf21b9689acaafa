"""A batch on its way from the trainer to the disk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from torch import Tensor, distributed

from analyzer.replay import conventions, layout
from analyzer.replay.folder import BATCH
from analyzer.replay.padding import joined
from analyzer.replay.recording.capture import Captured, capture, rows_of, to_tokens
from analyzer.replay.recording.rows import Picked, pick

Batch = Mapping[str, Any] | Sequence[Mapping[str, Any]]

BESIDE = 2**16  # bytes of header and manifest; a number for each row kept is the most of it


@dataclass(frozen=True)
class Job:
    """A batch that waits to be written."""

    step: int
    captured: Captured
    manifest: Mapping[str, Any]
    """What the manifest says beside kind, version, step, tensors, files and time."""

    @property
    def tensors(self) -> Mapping[str, Tensor]:
        """By name, on the CPU."""
        return self.captured.tensors

    @property
    def bytes(self) -> int:
        """What it takes on disk, at most."""
        found: int = sum(t.numel() * t.element_size() for t in self.tensors.values())
        return BESIDE + found


@dataclass(frozen=True)
class Part:
    """Where a batch lies in that of the whole step: one data-parallel rank's share of it."""

    first: int
    of: int
    """Rows of all ranks."""


def job_of(
    step: int,
    batch: Batch,
    settings: dict[str, Any],
    about: Mapping[str, Any],
    wanted: int | None = None,
    group_sizes: Sequence[int] | None = None,
    part: Part | None = None,
) -> Job:
    """Copy of a batch what a replay needs, at most about `wanted` of its rows."""
    derived: Sequence[int] | None = None
    if not isinstance(batch, Mapping):
        batch, derived = joined(batch)
    total = rows_of(batch)
    known = group_sizes if group_sizes is not None else derived
    picked = pick(total, wanted, known if known is not None else _slices(settings, total))
    if picked.group_sizes is not None and (
        group_sizes is not None or (derived is not None and _groups_by_trajectory(settings, about))
    ):
        settings = settings | {"traj_group_sizes": list(picked.group_sizes)}
    captured = capture(batch, logged_names(settings), picked.rows)
    manifest = {
        **about,
        "config": settings,
        "rows": _rows(total, picked, part),
        "notes": _untold_share() if part is None else [],
    }
    return Job(step, captured, manifest)


def settled(job: Job) -> Job:
    """The batch as AReaL's `compute_advantages` receives it.

    Raises RunError where its tensors do not fit together, or one that every batch has is missing.
    """
    settings = job.manifest["config"]
    notes = list(job.manifest.get("notes", ()))
    captured = job.captured
    if captured.shifted:
        captured = replace(captured, tensors=to_tokens(captured.tensors), shifted=False)
        actor = settings["actor"]
        if actor.get("overlong_reward_penalty"):
            settings = settings | {"actor": actor | {"overlong_reward_penalty": False}}
            notes.append("the rewards already had the penalty on overlong responses")
        if actor.get("recompute_logprob") and not actor.get("use_decoupled_loss"):
            notes.append(
                "logprobs are the recomputed ones: those of inference were gone when the batch was "
                "recorded, after compute_advantages"
            )
    layout.check(Path(BATCH), captured.tensors, logged_names(settings))
    return Job(job.step, captured, {**job.manifest, "config": settings, "notes": notes})


def _untold_share() -> list[str]:
    if not (distributed.is_available() and distributed.is_initialized()):
        return []
    processes = distributed.get_world_size()
    if processes < 2:
        return []
    return [
        f"recorded by one of {processes} processes, and not told whether this is the whole batch "
        "or one rank's share of it"
    ]


def logged_names(settings: Mapping[str, Any]) -> tuple[str, ...]:
    """Tensors that the user has AReaL log of trajectories."""
    actor = settings["actor"]
    return tuple(actor.get("log_agent_stats_keys") or ()) if actor.get("log_agent_stats") else ()


def _slices(settings: Mapping[str, Any], total: int) -> tuple[int, ...] | None:
    """Groups of the configured size, so that whole ones are picked."""
    norm = settings["actor"].get("reward_norm") or {}
    size = norm.get("group_size") or 1
    if size < 2 or total % size:
        return None
    return (size,) * (total // size)


def _groups_by_trajectory(settings: Mapping[str, Any], about: Mapping[str, Any]) -> bool:
    """Does this version of AReaL normalise over the trajectories that were handed over?"""
    return conventions.resolve(about["conventions"], settings).groups == "trajectories"


def _rows(total: int, picked: Picked, part: Part | None) -> dict[str, Any]:
    place = part or Part(0, total)
    if picked.rows is None and place == Part(0, total):
        return {"of": total, "kept": None}
    rows = range(total) if picked.rows is None else picked.rows
    return {"of": place.of, "kept": [place.first + row for row in rows]}
