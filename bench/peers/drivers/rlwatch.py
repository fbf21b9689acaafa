"""rlwatch on exported runs: its detector suite step by step, with its default configuration."""

import json
import sys
from pathlib import Path

from rlwatch.config import RLWatchConfig
from rlwatch.detectors import DetectorSuite

NAMES = {
    "reward": "reward_mean",
    "reward_std": "reward_std",
    "entropy": "entropy",
    "approx_kl": "kl_divergence",
    "loss": "loss",
    "grad_norm": "grad_norm",
}

found = {}
for name, rows in json.loads(Path(sys.argv[1]).read_text("utf-8")).items():
    suite = DetectorSuite(RLWatchConfig())
    alerts = set()
    for row in rows:
        given = {NAMES[k]: v for k, v in row.items() if k in NAMES}
        alerts |= {alert.detector for alert in suite.check_step(row["step"], **given)}
    found[name] = sorted(alerts)
print(json.dumps(found))
