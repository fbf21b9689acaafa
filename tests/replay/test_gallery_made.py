"""A run of the gallery, made again, has the committed bytes."""

from __future__ import annotations

import hashlib
from pathlib import Path

import needs_torch  # noqa: F401
import pytest
import torch

from sample_logs import gallery
from sample_logs.about import EXPECTED, REPLAYED, read_about
from sample_logs.areal_files import box_table
from sample_logs.lab import FAULTS

SMALL = "crashed"


def hashes(run: Path) -> dict[str, str]:
    return {
        path.relative_to(run).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in run.rglob("*")
        if path.is_file() and path.name not in (EXPECTED, REPLAYED)
    }


def test_the_lab_makes_the_committed_bytes(sample_logs: Path, tmp_path: Path) -> None:
    committed = sample_logs / SMALL
    made_by = read_about(committed).torch
    if made_by != torch.__version__:
        pytest.skip(f"made by torch {made_by}, this is {torch.__version__}: last digits may differ")
    made = hashes(gallery.make(SMALL, tmp_path))
    assert made == hashes(committed)
    assert set(made) >= {"about.yaml"}


def test_a_smaller_table_keeps_its_values() -> None:
    values = {"ppo_actor/n_seqs": 128.0, "ppo_actor/eps_clip": 0.2, "rollout/reward": -0.51562}
    table = "\n".join(box_table(values))
    assert gallery.smaller(table) == "\n".join(
        box_table({"ppo_actor/n_seqs": 128.0, "rollout/reward": -0.51562})
    )


def test_every_fault_is_in_the_gallery() -> None:
    assert set(gallery.names()) | {"length_truncation"} >= {s.name for s in FAULTS}
    assert not set(gallery.names()) & set(gallery.DRAWN)
    with pytest.raises(KeyError):
        gallery.settings("no such fault")
