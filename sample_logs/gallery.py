"""Makes the gallery: one small run of each of the lab's faults, and some healthy ones.

    python -m sample_logs.gallery [--out FOLDER] [--lock] [NAME ...]

A run is short, and its tables hold the numbers that rules read: a log of everything would be three
times as large. Its values, its lines and its configuration are as the trainer wrote them. The same
version of torch on the same machine makes the same bytes; another processor, other last digits.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from analyzer.findings.replayed import Replays
from analyzer.pipeline import Settings as Judging
from analyzer.pipeline import judge_run
from analyzer.pipeline_replay import Choice, replay_run
from sample_logs.about import (
    ABOUT,
    EXPECTED,
    REPLAYED,
    About,
    write_expected,
    write_replayed,
)
from sample_logs.areal_files import box_table
from sample_logs.lab import FAULTS, SCENARIOS, Strength, train
from sample_logs.lab.optimiser import LossScale
from sample_logs.lab.settings import Settings, with_values
from sample_logs.lab.truth import may_find

HERE = Path(__file__).resolve().parent
SEED = 1
STEPS = 50
DRAWN = ("healthy", "length_truncation")  # of make_samples
HEALTHY = ("healthy_noisy", "healthy_curriculum", "healthy_restart")

TABLE = re.compile(r"╒.*?╛", re.DOTALL)
CELL = re.compile(r"│ +(\S+) +│ +(\S+) +(?=│)")
KEPT = re.compile(
    r"(eval-)?rollout/.*|timeperf/.*|ppo_actor/("
    r"advantages/(max|min)|correct_n_seqs|kl_rewards/avg|n_seqs|n_valid_tokens|no_eos_ratios/avg|"
    r"prompt_len/(avg|min)|rs_upper|seq_len/(avg|max)|task_reward/.*|update/("
    r"approx_kl/avg|behave_imp_weight/(avg|max)|clip_ratio/avg|entropy/avg|grad_norm|"
    r"importance_weight/avg|logp_abs_diff/avg|lr|rs_filtered_fraction|update_successful|"
    r"version_stats/sample_staleness_proximal_avg))"
)


@dataclass(frozen=True)
class Shown:
    """How a scenario is shown: how long, and where its fault comes sooner than in a long run."""

    steps: int = STEPS
    since: int | None = None
    until: int | None = None
    values: Mapping[str, Any] = field(default_factory=dict)


SHOWN: Mapping[str, Shown] = {
    "length_paid": Shown(110),
    "data_solved": Shown(90, values={"training.lr": 3e-7}),
    "format_paid": Shown(150),
    "train_unlike_test": Shown(160),
    "entropy_bonus": Shown(80, since=15),
    "nan_gradient": Shown(
        values={"training.half": LossScale(start=2.0**12, growth_every=3, shrinks=False)}
    ),
    "optimiser_lost": Shown(values={"events.crash_at": 25, "events.recover_every": 10}),
    "empty_answer_paid": Shown(90, since=10),
    "reward_timeouts": Shown(40, since=20),
    "stale_after_resume": Shown(values={"events.crash_at": 25, "events.recover_every": 10}),
    "crash_restart": Shown(40, values={"events.crash_at": 27, "events.recover_every": 10}),
    "crashed": Shown(40, values={"events.error_at": 25}),
    "out_of_memory": Shown(40, values={"events.error_at": 25}),
    "killed": Shown(40, values={"events.killed_at": 25}),
    "rollout_stall": Shown(40, since=25, until=28),
    "rollouts_slow": Shown(60, since=25),
    "healthy_restart": Shown(values={"events.restart_at": 24}),
}


@dataclass(frozen=True)
class Recorded:
    """How much of a run is made with recorded batches, and how many steps lie between two."""

    steps: int
    every: int


# What a replay of recorded batches can tell. Batches and checkpoints would double the gallery, so
# the beginning of the run is made again with them when they are wanted.
RECORDED: Mapping[str, Recorded] = {
    "nondeterminism": Recorded(6, 5),
    "engine_precision": Recorded(6, 5),
    "top_p": Recorded(6, 5),
    "prompt_trained": Recorded(6, 5),
    "dead_groups": Recorded(6, 5),
    "minibatches": Recorded(21, 15),
    "stale_rejected": Recorded(46, 45),
    "healthy_noisy": Recorded(6, 5),
}


def names() -> list[str]:
    """The runs of the gallery, but for the drawn ones."""
    return [s.name for s in FAULTS if s.name not in DRAWN] + list(HEALTHY)


def settings(name: str) -> Settings:
    """The settings of a run of the gallery."""
    shown = SHOWN.get(name, Shown())
    scenario = SCENARIOS[name]
    if shown.since is not None:
        scenario = replace(scenario, since=shown.since, until=shown.until)
    strength: Strength = "off" if scenario.healthy else "strong"
    return with_values(scenario.settings(strength, SEED, shown.steps), shown.values)


def make_recorded(name: str, folder: Path) -> Path:
    """The beginning of a run of `RECORDED`, as `make` makes it, with batches; its folder."""
    run, wanted = folder / name, RECORDED[name]
    values = {"steps": wanted.steps, "written.recorded_every": wanted.every}
    train(with_values(settings(name), values), run)
    return run


def replayed(run: Path, store: Path) -> Replays:
    """What the replay says of a run with recorded batches."""
    judging = Judging(store=store)
    return replay_run(run, judge_run(run, judging), judging, Choice(), lambda _: None)


def make(name: str, folder: Path) -> Path:
    """Make one run below a folder; the folder of the run."""
    run = folder / name
    shutil.rmtree(run, ignore_errors=True)
    given = settings(name)
    train(given, run)
    shutil.rmtree(run / "recover", ignore_errors=True)
    for log in run.rglob("main.log"):
        text = log.read_text("utf-8")
        log.write_bytes(TABLE.sub(lambda table: smaller(table[0]), text).encode())
    _write_about(name, given, run)
    return run


def smaller(table: str) -> str:
    """A table of the log without the numbers that no rule reads."""
    return "\n".join(box_table(dict(sorted(_kept(table)))))


def _kept(table: str) -> Iterator[tuple[str, float]]:
    for line in table.splitlines():
        for key, value in CELL.findall(line):
            if KEPT.fullmatch(key):
                yield key, float(value)


def _write_about(name: str, given: Settings, run: Path) -> None:
    scenario = SCENARIOS[name]
    events = given.events
    stops = [events.crash_at, events.error_at, events.killed_at]
    begins = [change.step for change in given.changes[:1]] + [s for s in stops if s is not None]
    about = About(
        scenario=name,
        strength="off" if scenario.healthy else "strong",
        seed=given.seed,
        steps=given.steps,
        torch=version("torch"),
        put_in=scenario.about,
        since=None if scenario.healthy else min(begins, default=0),
        must_find=scenario.must_find,
        may_find=may_find(scenario),
        must_not_find=scenario.must_not,
    )
    yaml = YAML()
    yaml.width = 96
    with (run / ABOUT).open("w", encoding="utf-8") as out:
        out.write("# Made by sample_logs/gallery.py.\n")
        yaml.dump(about.model_dump(mode="json"), out)


def lock(run: Path) -> None:
    """Write down all that the rules say of a run."""
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "store"
        write_expected(run, judge_run(run, Judging(store=store)).verdicts.judgement)
        if run.name in RECORDED:
            write_replayed(run, replayed(make_recorded(run.name, Path(folder)), store))


def main(arguments: list[str]) -> None:
    """Make the runs named, or all; with --lock their verdicts as well."""
    parser = argparse.ArgumentParser(prog="python -m sample_logs.gallery", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="; ".join(names()))
    parser.add_argument("--out", type=Path, default=HERE)
    parser.add_argument("--lock", action="store_true", help="write expected.json anew")
    parser.add_argument("--only-lock", action="store_true", help="of the runs that are there")
    given = parser.parse_args(arguments)
    if wrong := sorted(set(given.names) - {*names(), *DRAWN}):
        parser.error(f"not in the gallery: {', '.join(wrong)}")
    for name in given.names or names():
        locked = [given.out / name / file for file in (EXPECTED, REPLAYED)]
        verdicts = {path: path.read_bytes() for path in locked if path.is_file()}
        if not given.only_lock:
            make(name, given.out)
            for path, verdict in verdicts.items():
                path.write_bytes(verdict)
        if given.lock or given.only_lock:
            lock(given.out / name)
        print(given.out / name)


if __name__ == "__main__":
    main(sys.argv[1:])
