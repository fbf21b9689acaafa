"""How long 200,000 responses in 25,000 files of a rollout dump take to read, and how much memory.

    python bench/read_samples.py

A process of its own reads the dump into a store (cold), and another one finds that nothing changed
(warm). The responses are of 250 random words on average; one in ten ends in a loop. Memory is the
most that the process held (ru_maxrss), Python and libraries included.
"""

from __future__ import annotations

import json
import os
import platform
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ANALYZER = Path(sys.executable).with_name("analyzer")
VERSIONS, TASKS, SAMPLES = 100, 250, 8
WORDS = 250  # of a response, mean
LIMIT = 1024  # tokens
MEBIBYTE = 1 << 20


def write_dump(folder: Path) -> int:
    """An AReaL rollout dump; its bytes."""
    chance = random.Random(1)
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = ["".join(chance.choices(letters, k=chance.randint(2, 9))) for _ in range(4000)]
    size = 0
    for version in range(VERSIONS):
        place = folder / "rollout" / str(version)
        place.mkdir(parents=True)
        for task in range(TASKS):
            lines = [_record(version, task, i, chance, words) for i in range(SAMPLES)]
            size += (place / f"{version * TASKS + task}.jsonl").write_text("".join(lines))
    return size


def _record(version: int, task: int, idx: int, chance: random.Random, words: list[str]) -> str:
    count = max(20, int(chance.expovariate(1 / WORDS)))
    text = " ".join(chance.choices(words, k=count))
    loops = chance.random() < 0.1
    text += " wait, let me check again." * 60 if loops else " \\boxed{4}.<|im_end|>"
    record = {
        "task_id": version * TASKS + task,
        "sample_idx": idx,
        "seqlen": 40 + (LIMIT if loops else min(count, LIMIT - 1)),
        "prompt_len": 40,
        "head_version": version,
        "tail_version": version,
        "reward": float(chance.random() < 0.5),
        "prompt": f"Task {task % 200}.",
        "completion": text,
    }
    return json.dumps(record) + "\n"


def read(run: Path, store: Path) -> tuple[float, float, float]:
    """Wall seconds, CPU seconds and mebibytes of one process that reads the dump."""
    command = [str(ANALYZER), "ingest", str(run), "--store", str(store), "--quiet"]
    start = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        raise SystemExit(f"ingest ended with {child.returncode}")
    elapsed = time.perf_counter() - start
    peak = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return elapsed, usage.ru_utime + usage.ru_stime, peak / MEBIBYTE


def main() -> None:
    """Prints the table."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        size = write_dump(folder / "run")
        count, files = VERSIONS * TASKS * SAMPLES, VERSIONS * TASKS
        print(
            f"{count:,} responses in {files:,} files, {size / MEBIBYTE:.0f} MiB, "
            f"Python {platform.python_version()}, {os.cpu_count()} cores"
        )
        print(f"{'store':<6} {'wall s':>8} {'CPU s':>8} {'MiB':>6}")
        for store in ("cold", "warm"):
            elapsed, cpu, peak = read(folder / "run", folder / "store")
            print(f"{store:<6} {elapsed:>8.1f} {cpu:>8.1f} {peak:>6.0f}")


if __name__ == "__main__":
    main()
