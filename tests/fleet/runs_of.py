"""Small runs as AReaL logs them, for the tests of many."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

from sample_logs.areal_files import LoggedStep, text_log

STEPS = 20
BAD_STEP = 11  # in a sick run the gradient is NaN from here to the end
STARTED = datetime(2026, 5, 1)


def log(seed: int, *, sick: bool = False, steps: int = STEPS) -> str:
    """A main.log of a few metrics that hover; values differ by seed."""
    return text_log([_step(i, seed, sick) for i in range(steps)], steps, steps)


def _step(index: int, seed: int, sick: bool) -> LoggedStep:
    broken = sick and index >= BAD_STEP
    return LoggedStep(
        index,
        STARTED + timedelta(hours=seed, minutes=index),
        {
            "ppo_actor/task_reward/avg": 0.4 + 0.01 * ((index * 7 + seed) % 5),
            "ppo_actor/update/grad_norm": float("nan") if broken else 0.3 + 0.01 * (index % 4),
            "ppo_actor/update/entropy/avg": 0.5,
        },
    )


def write_run(folder: Path, seed: int, *, sick: bool = False) -> Path:
    """A run's folder with its main.log."""
    folder.mkdir(parents=True)
    (folder / "main.log").write_text(log(seed, sick=sick), "utf-8")
    return folder


def write_fleet(root: Path) -> None:
    """27 runs in three experiments, every fifth of them sick, and three that cannot be read."""
    for number in range(27):
        folder = root / f"exp{number % 3}" / f"trial-{number:02d}"
        write_run(folder, number, sick=number % 5 == 0)
    for name, content in (("empty", b""), ("garbage", bytes(range(256)) * 40), ("closed", b"x\n")):
        (root / "exp0" / name).mkdir()
        (root / "exp0" / name / "main.log").write_bytes(content)
    (root / "exp0" / "closed" / "main.log").chmod(0)


def rows_on_disk(store: Path) -> dict[str, bytes]:
    """The row files by name."""
    return {path.name: path.read_bytes() for path in (store / "fleet/rows").glob("*.json")}


def inodes(store: Path) -> dict[str, int]:
    """What tells that a row file was written anew: a renamed one has another inode."""
    return {path.name: path.stat().st_ino for path in (store / "fleet/rows").glob("*.json")}
