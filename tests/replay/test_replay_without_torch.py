"""Where torch is not installed, `replay` says so and every other command works."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HIDDEN = """
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"torch", "safetensors"}:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent())
from analyzer.cli import main
main()
"""


def test_replay_says_what_to_install(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HIDDEN, "replay", "--bundle", "any"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert "which is not installed (pip install 'rl-run-analyzer[replay]')" in done.stderr


def test_no_other_command_imports_torch(tmp_path: Path) -> None:
    source = "import analyzer.cli, analyzer.docs, sys; print('torch' in sys.modules)"
    command = [sys.executable, "-c", source]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
