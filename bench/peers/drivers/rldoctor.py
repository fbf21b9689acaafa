"""rldoctor on exported runs: names of verl, which it knows, and `diagnose` with its defaults."""

import json
import sys
import tempfile
from pathlib import Path

from rl_doctor import diagnose, load_run

NAMES = {
    "reward": "critic/score/mean",
    "reward_max": "critic/score/max",
    "reward_min": "critic/score/min",
    "reward_std": "critic/score/std",
    "eval_reward": "val/test_score",
    "entropy": "actor/entropy",
    "approx_kl": "actor/ppo_kl",
    "clip_fraction": "actor/pg_clipfrac",
    "grad_norm": "actor/grad_norm",
    "lr": "actor/lr",
    "loss": "actor/pg_loss",
    "length": "response_length/mean",
    "length_max": "response_length/max",
    "truncated": "response_length/clip_ratio",
    "prompt_length": "prompt_length/mean",
    "step_time": "timing_s/step",
}
GRAVE = {"WARNING", "CRITICAL"}

found = {}
for name, rows in json.loads(Path(sys.argv[1]).read_text("utf-8")).items():
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.jsonl"
        lines = [
            json.dumps({"step": row["step"]} | {NAMES[k]: v for k, v in row.items() if k in NAMES})
            for row in rows
        ]
        path.write_text("\n".join(lines) + "\n", "utf-8")
        findings = diagnose(load_run(str(path))).findings
        found[name] = sorted({f.detector for f in findings if f.severity.name in GRAVE})
print(json.dumps(found))
