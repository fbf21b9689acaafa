"""The run: rollouts, updates, evaluations and what happens to the process, step by step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from sample_logs.lab import (
    areal_config,
    checkpoints,
    dumps,
    policy,
    recording,
    rollout,
    task,
    update,
    warm_start,
)
from sample_logs.lab.optimiser import Optimiser
from sample_logs.lab.run_log import RunLog, seconds_of
from sample_logs.lab.settings import Settings

RESTART_SECONDS = 300.0


@dataclass(frozen=True)
class Run:
    """What a run came to."""

    out: Path
    values: tuple[tuple[int, Mapping[str, float]], ...]
    """Step and everything logged of it, in the order of the log; restarts repeat steps."""
    flat: Tensor
    """The parameters at the end."""

    def series(self, key: str) -> list[float]:
        """The values of a key, where it was logged."""
        return [values[key] for _, values in self.values if key in values]


def train(settings: Settings, out: Path, resume: Path | None = None) -> Run:
    """Train as the settings say and write what AReaL writes below `out`.

    `resume`: a folder with a recovery state, from which the run goes on. The same settings give the
    same bytes on the same machine and version of torch, as one thread does all the work.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        run = _Run(settings, out)
        if resume is None:
            run.launch()
        else:
            run.recover(resume)
        run.all_steps()
        return run.finish()
    finally:
        torch.set_num_threads(threads)


class _Run:
    def __init__(self, settings: Settings, out: Path) -> None:
        self.settings = settings
        self.out = out
        self.shape = policy.SIZES[warm_start.RECIPES[settings.warm_start].size]
        self.start = warm_start.load(settings.warm_start)
        self.turn = policy.rotation(self.shape)
        self.log = RunLog(settings.seed, settings.steps, settings.steps_per_epoch)
        self.recorder = recording.Recording(settings, out)
        self.values: list[tuple[int, Mapping[str, float]]] = []
        self.attempt = 0
        self._begin(self.start.clone(), 0)
        data = settings.test_data
        generator = torch.Generator().manual_seed(20_000 + settings.seed)
        self.test = task.draw(generator, data.prompts, data.letters, data.operations)

    def _begin(self, flat: Tensor, step: int) -> None:
        """A process starts with these parameters at this step."""
        self.flat = flat.requires_grad_()
        training = self.settings.training
        self.optimiser = Optimiser(self.flat, training.gradient_clipping, training.weight_decay)
        self.first = self.step = step
        self.history = {step: flat.detach().clone()}

    def all_steps(self) -> None:
        """Run to the end, through crash and restart where there is one."""
        events = self.settings.events
        while self.step < self.settings.steps:
            self._step()
            done = self.step - 1
            if done == events.killed_at:
                return
            if done == events.error_at:
                self.log.error(events.exception)
                return
            if done == events.restart_at and self.attempt == 0:
                self._save_recovery()
                self._restart()
            if done == events.crash_at and self.attempt == 0:
                self.log.error(events.exception)
                self._restart()
        self.log.completed()

    def _restart(self) -> None:
        self.log.wait(RESTART_SECONDS)
        self.recover(self.out / "recover")

    def launch(self) -> None:
        """Say that a process starts."""
        trial = areal_config.trial_name(self.settings)
        self.log.launch(areal_config.EXPERIMENT, trial, self.attempt)

    def recover(self, folder: Path) -> None:
        """Go on from a recovery state."""
        state = checkpoints.load_recovery(folder)
        self.attempt += 1
        self.launch()
        self._begin(state["flat"].clone(), state["step"])
        if not self.settings.events.loses_optimiser:
            self.optimiser.load(state["optimiser"])
        self.log.line("RLTrainer", "INFO", f"Recovered from step {self.step}")

    def _step(self) -> None:
        step, settings = self.step, self.settings.at(self.step)
        seed = (settings.seed * 1_000_003 + step) * 16 + self.attempt
        generator = torch.Generator().manual_seed(seed)
        torch.manual_seed(seed)  # dropout draws from torch's own
        weights = rollout.served(settings, step, self.first, self.history, seed)
        rolled = rollout.collect(settings, weights, self.shape, generator)
        reference = self.start if settings.training.reference else None
        updated = update.update(
            rolled.batch, settings, step, self.optimiser, self.shape, self.turn, reference
        )
        values = updated.stats | _rollout_values(settings, rolled)
        values |= self._seconds(settings, rolled)
        self.step += 1
        self.history[self.step] = self.flat.detach().clone()
        if step % settings.eval_every == 0:
            values["eval-rollout/reward"] = rollout.evaluate(
                settings, self.flat.detach(), self.shape, step, self.test
            )
            values["timeperf/eval"] = self.log.noisy(9.0)
        self._write(settings, step, rolled, updated)
        self.log.wait(sum(v for k, v in values.items() if k.startswith("timeperf/")))
        for _ in range(int(sum(int(part.timed_out.sum()) for part in rolled.sampled))):
            self.log.line("Reward API", "WARNING", TIMEOUT)
        self.log.step(step, values)
        self.values.append((step, values))

    def _seconds(self, settings: Settings, rolled: rollout.Rollout) -> dict[str, float]:
        batch = rolled.batch
        longest = max(part.responses.tokens.shape[1] for part in rolled.sampled)
        tokens = int(batch["attention_mask"].sum())
        found = seconds_of(
            self.log, tokens, longest, len(rolled.sampled), settings.actor.recompute_logprob
        )
        found["timeperf/rollout"] *= settings.events.slowdown
        found["timeperf/rollout"] += settings.events.stall
        return found

    def _write(
        self, settings: Settings, step: int, rolled: rollout.Rollout, updated: update.Updated
    ) -> None:
        """Dumps, recorded batches, checkpoints and recovery states that are due."""
        written = settings.written
        if written.dumps_every and step % written.dumps_every == 0:
            dumps.write(self.out / "rollout", step, rolled.kept, settings.data.group_size)
        if written.recorded_every and step % written.recorded_every == 0:
            self.recorder.record(step, updated, self.history, self.shape, self.log.clock)
        if written.checkpoints_every and self.step % written.checkpoints_every == 0:
            folder = checkpoints.of_version(self.out, self.step)
            checkpoints.save(folder, self.shape, self.flat)
        if self.step % settings.events.recover_every == 0:
            self._save_recovery()

    def _save_recovery(self) -> None:
        state: dict[str, Any] = {"step": self.step, "flat": self.flat.detach()}
        state["optimiser"] = self.optimiser.state()
        checkpoints.save_recovery(self.out / "recover", state)

    def finish(self) -> Run:
        """Write the logs."""
        self.recorder.close()
        folder = areal_config.trial_folder(self.settings, self.out)
        self.log.write(folder)
        areal_config.write(self.settings, folder)
        if self.settings.written.tensorboard:
            self.log.write_tensorboard(self.out / "tensorboard")
        return Run(self.out, tuple(self.values), self.flat.detach())


TIMEOUT = "Computing reward timeout after 15s. Set reward to 0."


def _rollout_values(settings: Settings, rolled: rollout.Rollout) -> dict[str, float]:
    """What the workflow logs of all responses, before any filter."""
    rewards = torch.cat([part.rewards for part in rolled.sampled])
    values = {"rollout/reward": float(rewards.mean())}
    if settings.reward.formed or settings.reward.ordered:
        right = torch.cat([part.right for part in rolled.sampled]).float()
        form = torch.cat([part.form for part in rolled.sampled])
        values["rollout/accuracy_reward"] = settings.reward.right * float(right.mean())
        values["rollout/format_reward"] = float(form.mean())
    return values
