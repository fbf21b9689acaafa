"""rlprobe on exported runs: recorded by its own recorder, judged by its `diagnose`."""

import json
import sys
import tempfile
from pathlib import Path

from rlprobe.doctor.engine import diagnose
from rlprobe.recorder import Recorder

NAMES = {
    "reward": "reward_mean",
    "reward_std": "reward_std",
    "reward_min": "reward_min",
    "reward_max": "reward_max",
    "entropy": "entropy_mean",
    "importance_weight": "ratio_mean",
    "clip_fraction": "clip_fraction",
    "grad_norm": "grad_norm",
    "lr": "lr",
    "loss": "loss",
    "reference_kl": "kl_mean",
    "length": "completion_len_mean",
    "length_max": "completion_len_max",
    "truncated": "truncation_rate",
    "step_time": "step_time_s",
    "rollout_time": "generation_time_s",
}
GRAVE = {"warn", "critical"}

found = {}
for name, rows in json.loads(Path(sys.argv[1]).read_text("utf-8")).items():
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        with Recorder(run, algorithm="grpo") as recorder:
            for number, row in enumerate(rows):
                recorder.log_step(
                    row["step"], **{NAMES[k]: v for k, v in row.items() if k in NAMES}
                )
                if number % 50 == 49:
                    recorder.flush()
        findings = diagnose(run)
        found[name] = sorted({f.signature_id for f in findings if f.severity in GRAVE})
print(json.dumps(found))
