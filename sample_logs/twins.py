"""Makes the twins: runs that differ in one thing from one another, and what comparing them says.

    python -m sample_logs.twins [--out FOLDER] [--lock] [NAME ...]

Three runs go wrong, each for another reason; beside them stand runs that were made in the same way
but for one thing. Logs are packed, and their tables hold what the gallery's do.
"""

from __future__ import annotations

import argparse
import lzma
import shutil
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from analyzer.replay.config import NormConfig
from sample_logs.gallery import TABLE, smaller
from sample_logs.lab import train
from sample_logs.lab.settings import Settings, with_values
from sample_logs.twin_pairs import HERE, LOCKED, lock

BASE: Mapping[str, Any] = {"steps": 90, "eval_every": 4, "test_data.letters": (2, 6)}
SYNCHRONOUS: Mapping[str, Any] = {"asynchrony.lag": 0, "asynchrony.bound": 0}
ON_TEST = {"train_dataset": {"split": "test"}}
STALE: Mapping[str, Any] = {"training.lr": 8e-7, "actor.rejection_sampling": None}
# Prompts so long and so many that the reward scatters little: that it stands still can be seen.
SLOW: Mapping[str, Any] = {
    "training.lr": 1e-9,
    "steps": 120,
    "data.letters": (7, 8),
    "data.prompts": 64,
    "data.group_size": 4,
    "actor.reward_norm": NormConfig(mean_level="group", std_level="group", group_size=4),
    "test_data.letters": (6, 8),
    "sampling.max_new_tokens": 40,
}
HARD: Mapping[str, Any] = {"steps": 70, "data.operations": ("shift",)}


@dataclass(frozen=True)
class Twin:
    """A run: what is set, and what its config.yaml says of data, which the lab does not know."""

    about: str
    values: Mapping[str, Any]
    config: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


TWINS: Mapping[str, Twin] = {
    "stale": Twin(
        "Rollouts up to 16 versions old, and nothing that corrects for it: the reward falls.",
        {**STALE, "asynchrony.lag": 16, "asynchrony.bound": 16},
    ),
    "stale_sync": Twin("The same without asynchrony: the reward rises.", {**STALE, **SYNCHRONOUS}),
    "stale_sync_2": Twin(
        "Another seed of the run without asynchrony.", {**STALE, **SYNCHRONOUS, "seed": 2}
    ),
    "slow": Twin("A learning rate that moves nothing: the reward stands still.", SLOW),
    "slow_sync": Twin("The same without asynchrony: it stands still.", {**SLOW, **SYNCHRONOUS}),
    "slow_testset": Twin(
        "The same on the test set: it stands still as well.",
        {**SLOW, "data.letters": (6, 8)},
        ON_TEST,
    ),
    "hard": Twin("Training prompts that the policy cannot solve: nothing is learned.", HARD),
    "hard_sync": Twin(
        "The same without asynchrony: nothing is learned either.", {**HARD, **SYNCHRONOUS}
    ),
    "hard_testset": Twin(
        "The same on the test set, which the policy can learn: the reward rises.",
        {"steps": 70, "data.letters": (2, 6)},
        ON_TEST,
    ),
}


def settings(name: str) -> Settings:
    """The settings of a twin."""
    return with_values(Settings(), {"name": name, **BASE, **TWINS[name].values})


def make(name: str, folder: Path) -> Path:
    """Make one run below a folder; the folder of the run."""
    run = folder / name
    shutil.rmtree(run, ignore_errors=True)
    train(settings(name), run)
    shutil.rmtree(run / "recover", ignore_errors=True)
    for log in run.rglob("main.log"):
        text = TABLE.sub(lambda table: smaller(table[0]), log.read_text("utf-8"))
        packed = lzma.compress(text.encode(), preset=9)
        log.with_name("main.log.xz").write_bytes(packed)
        log.unlink()
    if TWINS[name].config:
        for path in run.rglob("config.yaml"):
            _change(path, TWINS[name].config)
    return run


def _change(path: Path, changes: Mapping[str, Mapping[str, Any]]) -> None:
    yaml = YAML()
    config = yaml.load(path.read_text("utf-8"))
    for section, values in changes.items():
        config[section].update(values)
    with path.open("w", encoding="utf-8") as out:
        yaml.dump(config, out)


def main(arguments: list[str]) -> None:
    """Make the runs named, or all; with --lock what comparing them says as well."""
    parser = argparse.ArgumentParser(prog="python -m sample_logs.twins", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(TWINS))
    parser.add_argument("--out", type=Path, default=HERE)
    parser.add_argument("--lock", action="store_true", help=f"write {LOCKED} anew")
    parser.add_argument("--only-lock", action="store_true", help="of the runs that are there")
    given = parser.parse_args(arguments)
    if wrong := sorted(set(given.names) - set(TWINS)):
        parser.error(f"no twin: {', '.join(wrong)}")
    for name in () if given.only_lock else given.names or TWINS:
        print(make(name, given.out), flush=True)
    if given.lock or given.only_lock:
        with tempfile.TemporaryDirectory() as store:
            lock(Path(store), given.out)


if __name__ == "__main__":
    main(sys.argv[1:])
