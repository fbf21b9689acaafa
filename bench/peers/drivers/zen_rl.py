"""zen-rl on exported runs: its detection on metrics under Stable-Baselines3's names."""

import json
import sys
from pathlib import Path

from zen.detect.rules import detect

NAMES = {
    "reward": "rollout/ep_rew_mean",
    "approx_kl": "train/approx_kl",
    "entropy": "train/entropy_loss",
    "loss": "train/policy_gradient_loss",
}

found = {}
for name, rows in json.loads(Path(sys.argv[1]).read_text("utf-8")).items():
    metrics = {
        theirs: [(row["step"], row[ours]) for row in rows if ours in row]
        for ours, theirs in NAMES.items()
    }
    metrics = {key: values for key, values in metrics.items() if values}
    found[name] = sorted({issue["mode"] for issue in detect(metrics)})
print(json.dumps(found))
