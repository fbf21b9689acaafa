"""How long `analyzer batch` takes on a history of many runs, new, unchanged and after a kill.

    cd bench && python -m fleet_batch [--runs 300] [--jobs N] [--save]

Each line is one fresh process. `start-up` is a batch over one run that is unchanged. The kill is
SIGKILL to the command and all its workers once a third of the rows are there.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from fleet_batch.history import BROKEN, REPOSITORY, write_history

RESULTS = REPOSITORY / "bench" / "results" / "fleet_batch.json"
SUMMARY = re.compile(r"(\d+) runs?: (\d+) judged, (\d+) unchanged, (\d+) could not be judged")
COUNTED = 2  # exit code: one of the runs cannot be judged


@dataclass(frozen=True)
class Batch:
    """One batch: wall time in seconds, and what it says that it did."""

    seconds: float
    runs: int
    judged: int
    unchanged: int
    errors: int


def command(roots: Path, store: Path, jobs: int) -> list[str]:
    """The command line of a batch."""
    words = ["batch", str(roots), "--store", str(store), "--jobs", str(jobs), "--format", "csv"]
    return [sys.executable, "-m", "analyzer.cli", *words]


def batch(roots: Path, store: Path, jobs: int) -> Batch:
    """Run a batch to its end."""
    start = time.perf_counter()
    done = subprocess.run(
        command(roots, store, jobs), cwd=REPOSITORY, capture_output=True, text=True, check=False
    )
    seconds = time.perf_counter() - start
    told = SUMMARY.fullmatch(done.stderr.splitlines()[-1])
    if told is None or done.returncode not in (0, 1, COUNTED):
        raise SystemExit(f"batch ended with {done.returncode}: {done.stderr}")
    return Batch(seconds, *map(int, told.groups()))


def killed(roots: Path, store: Path, jobs: int, rows: int) -> int:
    """Start a batch and kill it once there are so many rows; how many there are then."""
    process = subprocess.Popen(
        command(roots, store, jobs),
        cwd=REPOSITORY,
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    while len(list((store / "fleet" / "rows").glob("*.json"))) < rows:
        if process.poll() is not None:
            raise SystemExit("the batch ended before it could be killed")
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    return len(list((store / "fleet" / "rows").glob("*.json")))


def good_rows(store: Path) -> int:
    """How many rows are of a run that was judged."""
    rows = (json.loads(path.read_text("utf-8")) for path in (store / "fleet/rows").glob("*.json"))
    return sum(row["row"]["error"] is None for row in rows)


def expect(what: str, found: tuple[int, int, int], wanted: tuple[int, int, int]) -> None:
    """Counts as they must be: judged, unchanged, errors."""
    if found != wanted:
        raise SystemExit(f"{what}: judged, unchanged and errors are {found}, must be {wanted}")


def counts(ended: Batch) -> tuple[int, int, int]:
    """Judged, unchanged, errors."""
    return ended.judged, ended.unchanged, ended.errors


def measure(folder: Path, runs: int, jobs: int) -> dict[str, object]:
    """All batches; ends the program where a count is wrong."""
    bad, good = len(BROKEN), runs - len(BROKEN)
    load = os.getloadavg()[0]
    size = write_history(folder / "runs", runs)
    print(f"{runs} runs, {bad} of them broken, {size / 1e6:.0f} MB; {jobs} workers", flush=True)
    lines: dict[str, Batch] = {}

    def line(name: str, roots: Path, store: Path) -> Batch:
        ended = lines[name] = batch(roots, folder / store, jobs)
        print(
            f"{name:<22} {ended.seconds:>7.1f} s   {ended.judged} judged, {ended.unchanged} "
            f"unchanged, {ended.errors} errors",
            flush=True,
        )
        return ended

    everything = folder / "runs"
    one = min(path.parent for path in everything.glob("team-0/*/main.log") if path.stat().st_size)
    expect("new", counts(line("new", everything, Path("a"))), (good, 0, bad))
    line("one run", one, Path("b"))
    start_up = line("start-up", one, Path("b"))
    again = line("nothing new", everything, Path("a"))
    expect("nothing new", counts(again), (0, good, bad))
    at_kill = killed(everything, folder / "c", jobs, runs // 3)
    kept = good_rows(folder / "c")
    print(f"killed with {at_kill} rows, {kept} of them of runs that were judged", flush=True)
    expect(
        "after the kill",
        counts(line("after the kill", everything, Path("c"))),
        (good - kept, kept, bad),
    )
    over = again.seconds - start_up.seconds
    print(f"nothing new, beyond start-up: {over:.1f} s")
    print(f"load of the machine: {load:.1f} before, {os.getloadavg()[0]:.1f} after")
    return {
        "runs": runs,
        "broken": bad,
        "bytes": size,
        "workers": jobs,
        "python": platform.python_version(),
        "load": [round(load, 1), round(os.getloadavg()[0], 1)],
        "rows_at_kill": at_kill,
        "batches": {
            name: {**asdict(b), "seconds": round(b.seconds, 2)} for name, b in lines.items()
        },
    }


def main() -> None:
    """Prints the table; with --save also writes bench/results/fleet_batch.json."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--save", action="store_true", help=f"write {RESULTS.name}")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        found = measure(Path(name), asked.runs, asked.jobs)
    if asked.save:
        RESULTS.write_text(json.dumps(found, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
