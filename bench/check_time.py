"""How long `analyzer check` takes on the 240-step sample, start and end of the process included.

    python bench/check_time.py

Cold: no store, the logs are read. Warm: the store is there and nothing changed. Each time is one
fresh process; the median of seven is what docs and notes quote.
"""

from __future__ import annotations

import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
RUN = REPOSITORY / "sample_logs" / "length_truncation"
ANALYZER = Path(sys.executable).with_name("analyzer")
PROCESSES = 7
FINDINGS = 1  # the sample is sick


def seconds(folder: Path) -> float:
    """Wall time of one check, run in `folder`, where its store goes."""
    command = [str(ANALYZER), "check", str(RUN), "--format", "json", "--quiet"]
    start = time.perf_counter()
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    elapsed = time.perf_counter() - start
    if done.returncode != FINDINGS:
        raise SystemExit(f"check ended with {done.returncode}: {done.stderr}")
    return elapsed


def measure(folder: Path, cold: bool) -> list[float]:
    """The times of all processes, in seconds."""
    times = []
    for _ in range(PROCESSES):
        if cold:
            shutil.rmtree(folder / ".analyzer", ignore_errors=True)
        times.append(seconds(folder))
    return times


def main() -> None:
    """Prints the table."""
    cores = os.cpu_count()
    print(f"analyzer check {RUN.name}, Python {platform.python_version()}, {cores} cores")
    print(f"{'store':<6} {'median s':>9} {'fastest':>9} {'slowest':>9}  of {PROCESSES} processes")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        seconds(folder)  # the machine's file cache, and Python's byte code
        for store, cold in (("cold", True), ("warm", False)):
            times = measure(folder, cold)
            print(
                f"{store:<6} {statistics.median(times):>9.2f} {min(times):>9.2f} {max(times):>9.2f}"
            )


if __name__ == "__main__":
    main()
