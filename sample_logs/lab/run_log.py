"""The run's main.log, as AReaL's loggers write it, with a clock of its own."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

from sample_logs.areal_files import LoggedStep, event_file, log_line, step_lines

STARTED = datetime(2026, 3, 2, 8, 30, tzinfo=UTC)
GREEN, RED, YELLOW, WHITE = 92, 31, 33, 37
TRACEBACK = """\
Traceback (most recent call last):
  File "/workspace/train.py", line 41, in main
    trainer.train(workflow=workflow, eval_workflow=eval_workflow)
  File "/workspace/areal/trainer/rl_trainer.py", line 512, in train
    self.actor.ppo_update(adv_batch)
{error}"""


class RunLog:
    """Lines and steps of a run; seconds are made up from what a step had to do, noise is seeded."""

    def __init__(self, seed: int, total: int, per_epoch: int) -> None:
        self.random = Random(seed)
        self.total = total
        self.per_epoch = per_epoch
        self.began = self.clock = STARTED + timedelta(days=seed % 300, minutes=seed % 47)
        self.lines: list[str] = []
        self.steps: list[LoggedStep] = []

    def wait(self, seconds: float) -> None:
        """Let time go by."""
        self.clock += timedelta(seconds=seconds)

    def noisy(self, seconds: float) -> float:
        """A duration with the scatter that durations have."""
        return seconds * self.random.lognormvariate(0, 0.04)

    def line(self, logger: str, level: str, text: str) -> None:
        """One line of a logger."""
        colour = {"ERROR": RED, "WARNING": YELLOW}.get(level, WHITE)
        self.lines.append(log_line(self.clock, logger, level, text, colour))

    def raw(self, text: str) -> None:
        """A line that no logger wrote."""
        self.lines.append(text)

    def launch(self, experiment: str, trial: str, number: int) -> None:
        """A process starts, for the first time or again."""
        self.line(
            "Local Scheduler",
            "INFO",
            f"LocalLauncher: experiment_name={experiment}, trial_name={trial}, "
            f"fileroot=/experiments, run_id={number}, is_recover_run={number > 0}",
        )

    def error(self, exception: str) -> None:
        """The error that ends a process: what the trainer says of it, and where it came from."""
        self.line("RLTrainer", "ERROR", exception.partition(": ")[2])
        self.raw(TRACEBACK.format(error=exception))

    def step(self, index: int, values: Mapping[str, float]) -> None:
        """The table of a step."""
        logged = LoggedStep(index, self.clock, values)
        self.steps.append(logged)
        self.lines += step_lines(logged, self.total, self.per_epoch)

    def completed(self) -> None:
        """The line that ends a run."""
        elapsed = (self.clock - self.began).total_seconds()
        text = f"Training completes! Total time elapsed {elapsed:.2f}."
        self.wait(0.04)
        self.lines.append(log_line(self.clock, "StatsLogger", "INFO", text, GREEN))

    def write(self, folder: Path) -> None:
        """Write main.log."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "main.log").write_bytes(("\n".join(self.lines) + "\n").encode())

    def write_tensorboard(self, folder: Path) -> None:
        """Write an event file of all steps in the order they were logged."""
        folder.mkdir(parents=True, exist_ok=True)
        name = f"events.out.tfevents.{int(self.began.timestamp())}.trainer-0"
        (folder / name).write_bytes(event_file(self.steps, self.began))


def seconds_of(
    log: RunLog, tokens: int, longest: int, rounds: int, recompute: bool
) -> dict[str, float]:
    """How long the phases of a step take on AReaL's timers: generation waits for the longest."""
    parts = {
        "rollout": rounds * (4.0 + 0.3 * longest) + 0.001 * tokens,
        "compute_advantage": 0.06,
        "train_step": 3.0 + 0.0035 * tokens,
        "update_weights": 1.7,
        "clear_batches": 0.02,
        "save": 0.001,
        "eval": 0.0,
    }
    if recompute:
        parts["recompute_logp"] = 0.8 + 0.0012 * tokens
    return {f"timeperf/{name}": log.noisy(seconds) for name, seconds in parts.items()}
