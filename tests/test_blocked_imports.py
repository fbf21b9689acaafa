"""`check` runs where Ray, torch, WeasyPrint and vl-convert cannot be imported."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

# Not an ImportError: code that takes a missing module for granted would swallow that.
BLOCKED = """
import sys

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"ray", "torch", "weasyprint", "vl_convert"}:
            raise RuntimeError(name + " must not be imported here")

sys.meta_path.insert(0, Blocker())
sys.argv[0] = "analyzer"
from analyzer.cli import main
main()
"""


def run_blocked(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", BLOCKED, *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("run", "exit_code", "verdict"), [("healthy", 0, "ok"), ("length_truncation", 1, "error")]
)
def test_check_needs_no_heavy_package(
    tmp_path: Path, sample_logs: Path, run: str, exit_code: int, verdict: str
) -> None:
    done = run_blocked("check", str(sample_logs / run), "--format", "json", cwd=tmp_path)
    assert done.returncode == exit_code, done.stderr
    assert json.loads(done.stdout)["verdict"] == verdict


def test_the_block_holds(tmp_path: Path) -> None:
    source = BLOCKED.replace("from analyzer.cli import main\nmain()", "import weasyprint.text")
    done = subprocess.run(
        [sys.executable, "-c", source], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "weasyprint must not be imported here" in done.stderr
