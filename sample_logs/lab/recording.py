"""Recorded batches, by the analyzer's own recorder, and the checkpoints a replay of them needs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from torch import Tensor

from analyzer.replay.recorder import Recorder
from sample_logs.lab import checkpoints, task
from sample_logs.lab.policy import Shape
from sample_logs.lab.settings import Settings
from sample_logs.lab.update import Updated


class Recording:
    """Writes below `recorded/` what the recorder writes from a trainer; policies as checkpoints."""

    def __init__(self, settings: Settings, out: Path) -> None:
        sampling, self.out = settings.sampling, out
        self.recorder = Recorder(
            out / "recorded",
            every=1,
            queue=settings.steps,
            conventions=settings.conventions,
            sampling={
                "temperature": sampling.temperature,
                "top_p": sampling.top_p,
                "top_k": None,
                "dtype": sampling.dtype,
            },
            trainer={"dtype": "float32", "attention": "sdpa"},
            meta={"eos_token_id": task.EOS, "pad_token_id": task.PAD},
        )
        self.times: dict[int, datetime] = {}

    def record(
        self,
        step: int,
        updated: Updated,
        history: Mapping[int, Tensor],
        shape: Shape,
        at: datetime,
    ) -> None:
        """Record the batch of a step with the policies that sampled it and that it trained."""
        trained = updated.batch["versions"][updated.batch["loss_mask"] > 0].tolist()
        versions = {version for version in trained if version >= 0}  # -1: no policy sampled it
        folders = {}
        for version in sorted({*versions, step}):
            folder = checkpoints.of_version(self.out, version)
            checkpoints.save(folder, shape, history[version])
            folders[version] = f"../../checkpoints/{folder.name}"
        sizes = updated.config.traj_group_sizes
        config = updated.config.model_dump(mode="json")
        self.recorder.record(updated.batch, config, step, folders, step, sizes)
        self.times[step] = at

    def close(self) -> None:
        """Wait until all is written, and let the manifests tell the run's own time."""
        self.recorder.close()
        for step, at in self.times.items():
            path = self.out / "recorded" / f"step_{step:08}" / "manifest.json"
            told = json.loads(path.read_text("utf-8"))
            told["written"] = at.isoformat(timespec="milliseconds")
            path.write_text(json.dumps(told, indent=2) + "\n", "utf-8")
