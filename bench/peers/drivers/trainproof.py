"""trainproof on exported runs: its `epoch` command on a JSONL file, with its defaults."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

NAMES = {
    "loss": "loss",
    "lr": "lr",
    "grad_norm": "grad_norm",
    "step_time": "step_time",
    "rollout_time": "loader_time",
}
GRAVE = {"WARN", "FAIL"}

found = {}
for name, rows in json.loads(Path(sys.argv[1]).read_text("utf-8")).items():
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.jsonl"
        lines = [
            json.dumps({"step": row["step"]} | {NAMES[k]: v for k, v in row.items() if k in NAMES})
            for row in rows
        ]
        path.write_text("\n".join(lines) + "\n", "utf-8")
        command = [sys.executable, "-m", "trainproof", "epoch", str(path), "--json"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        reports = json.loads(done.stdout)["reports"]
        found[name] = sorted(
            {f["id"] for report in reports for f in report["findings"] if f["level"] in GRAVE}
        )
print(json.dumps(found))
