"""Writes the files in this folder with the trackers' own packages: `python make.py TRACKER OUT`.

Each was made in a virtual environment with the tracker at the version in the file's name, offline
and without an account. What is logged is in `log_all`; test_tracker_files.py has it once more, by
hand. `python make.py all` is not possible: some versions exclude each other.
"""

from __future__ import annotations

import importlib
import math
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

CONFIG: dict[str, Any] = {
    "experiment_name": "exp",
    "trial_name": "one",
    "gconfig": {"max_new_tokens": 64, "stop": ["</s>"]},
    "actor": {"optimizer": {"lr": 1e-5}, "api_key": "a secret"},
}


def log_all(log: Callable[[dict[str, Any], int], object], first: int = 0, last: int = 5) -> None:
    """Steps `first` to `last`: a loss that falls, a KL that is not a number once, a rare value."""
    for step in range(first, last + 1):
        values = {"loss/avg": 1 / (step + 1), "kl": math.nan if step == 4 else 0.25 * step}
        if step == 3:
            values["eval/reward"] = 0.125
        log(values, step)


def with_wandb(out: Path) -> None:
    os.environ |= {"WANDB_MODE": "offline", "WANDB_SILENT": "true", "WANDB_DISABLE_GIT": "true"}
    import wandb

    for first, last in ((0, 4), (3, 5)):  # the second goes on from a checkpoint at step 2
        run = wandb.init(
            project="exp", name="one", id="abc123", config=CONFIG, dir=str(out), resume="allow"
        )
        log_all(run.log, first, last)
        run.log({"nested": {"a": 1, "b": True}, "text": "left out"}, step=last)
        print("a line of the console")
        run.finish()


def with_swanlab(out: Path) -> None:
    import swanlab

    mode = os.environ["SWANLAB_FIXTURE_MODE"]  # "offline": the backup file; "local": logs/ too
    swanlab.init(project="exp", experiment_name="one", config=CONFIG, logdir=str(out), mode=mode)
    log_all(lambda values, step: swanlab.log(values, step=step))
    print("a line of the console")
    swanlab.finish()


def with_trackio(out: Path) -> None:
    os.environ["TRACKIO_DIR"] = str(out)
    import trackio

    for name in ("one", "two"):
        trackio.init(project="exp", name=name, config=CONFIG)
        log_all(lambda values, step: trackio.log(values, step=step), 0, 5 if name == "one" else 2)
        trackio.finish()


def with_mlflow(out: Path) -> None:
    import mlflow

    mlflow.set_tracking_uri(os.environ.get("MLFLOW_FIXTURE_URI", (out / "mlruns").as_uri()))
    mlflow.set_experiment("exp")
    for name in ("one", "two"):
        with mlflow.start_run(run_name=name):
            mlflow.log_params({"actor.optimizer.lr": 1e-5, "gconfig.max_new_tokens": 64})
            last = 5 if name == "one" else 2
            log_all(lambda values, step: mlflow.log_metrics(values, step=step), 0, last)


def with_tensorboard(out: Path) -> None:
    # "tensorboardX" or "torch.utils.tensorboard"
    module = importlib.import_module(os.environ["TENSORBOARD_FIXTURE"])
    writer = module.SummaryWriter(str(out))
    for step in range(3):
        writer.add_scalar("loss/avg", 1 / (step + 1), step)
        writer.add_scalars("loss/parts", {"policy": 0.5 * step, "value": 0.25 * step}, step)
    writer.close()


def with_aim(out: Path) -> None:
    from aim import Run

    run = Run(repo=str(out), experiment="exp")
    run["hparams"] = CONFIG
    log_all(lambda values, step: [run.track(v, name=k, step=step) for k, v in values.items()])
    run.close()


if __name__ == "__main__":
    target = Path(sys.argv[2]).resolve()
    target.mkdir(parents=True, exist_ok=True)
    globals()[f"with_{sys.argv[1]}"](target)
