"""A run of the gallery, made again, is the committed one."""

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


def words(run: Path) -> dict[str, list[str]]:
    """Of every file, of a log up to its tenth table."""
    return {
        path.relative_to(run).as_posix(): "╒".join(path.read_text("utf-8").split("╒")[:11]).split()
        for path in run.rglob("*")
        if path.is_file() and path.name not in (EXPECTED, REPLAYED)
    }


def near(one: str, other: str) -> bool:
    """Equal, or numbers that differ in their last digits."""
    try:
        return float(one) == pytest.approx(float(other), rel=1e-3, abs=1e-4)
    except ValueError:
        return one == other


def test_the_same_machine_makes_the_same_bytes(tmp_path: Path) -> None:
    first, second = (gallery.make(SMALL, tmp_path / name) for name in ("a", "b"))
    assert hashes(first) == hashes(second)
    assert "about.yaml" in hashes(first)


def test_the_lab_makes_the_committed_run(sample_logs: Path, tmp_path: Path) -> None:
    """Another processor adds in another order, and what that changes grows from step to step."""
    committed = sample_logs / SMALL
    made_by = read_about(committed).torch
    if made_by != torch.__version__:
        pytest.skip(f"made by torch {made_by}, this is {torch.__version__}: it may sample others")
    expected, made = words(committed), words(gallery.make(SMALL, tmp_path))
    assert made.keys() == expected.keys()
    for name, there in expected.items():
        assert len(made[name]) == len(there)
        off = [pair for pair in zip(made[name], there, strict=True) if not near(*pair)]
        assert not off, (name, off[:5])


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
