"""`make bench-fleet-scale`: makes runs, measures, writes the results, puts them into the page."""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

from generated_page import as_json

from analyzer.pipeline import open_catalog
from fleet_scale import made, measure, page

REPOSITORY = Path(__file__).resolve().parents[2]
RESULTS = REPOSITORY / "bench" / "results" / "fleet_scale.json"
PAGE = REPOSITORY / "docs" / "fleet.md"
SIZES = (100, 300, 1000)
JUDGED = 5


def main() -> None:
    """Measures and writes; `--page` only renders what is in the results."""
    parser = argparse.ArgumentParser(prog="fleet_scale")
    parser.add_argument("--page", action="store_true", help="only write the page")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--work", type=Path, help="where the runs are made [default: a new folder]")
    parser.add_argument("--measure", choices=sorted(_PARTS), help=argparse.SUPPRESS)
    parser.add_argument("--runs", type=int, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.measure:
        print(json.dumps(_PARTS[asked.measure](asked.work, asked.runs)))
        return
    if not asked.page:
        work = asked.work or Path(tempfile.mkdtemp(prefix="fleet-scale-"))
        try:
            RESULTS.write_text(as_json(_results(work, asked.sizes)), "utf-8")
        finally:
            if asked.work is None:
                shutil.rmtree(work)
    results = json.loads(RESULTS.read_text("utf-8"))
    PAGE.write_text(page.with_tables(PAGE.read_text("utf-8"), results), "utf-8")
    faults = page.faults(results)
    if faults:
        raise SystemExit("; ".join(faults))


def _results(work: Path, sizes: list[int]) -> dict[str, Any]:
    store = work / "store"
    series = made.names(open_catalog())
    for number in range(max(sizes)):
        if not (made.home_of(store, number) / "metrics.parquet").exists():
            made.write_run(store, number, series)
        print(f"\r{number + 1} runs made", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    records = [_measured(store, runs) for runs in sizes]
    for number in range(JUDGED):
        made.write_others(store, number)
    return {
        "steps": made.STEPS,
        "series": made.SERIES,
        "keys": made.KEYS,
        "threads": measure.THREADS,
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[1], 1),
        "versions": {
            "python": platform.python_version(),
            **{name: version(name) for name in ("duckdb", "pyarrow", "numpy")},
        },
        "judged": {"runs": JUDGED, **_part("judging", store, JUDGED)},
        "sizes": records,
    }


def _measured(store: Path, runs: int) -> dict[str, Any]:
    """The quicker of two slope passes, before and after the rest."""
    shutil.rmtree(store / "fleet", ignore_errors=True)
    before = _part("slopes", store, runs)
    rest = _part("questions", store, runs)
    settings = _part("associations", store, runs)
    after = _part("slopes", store, runs)
    size = sum((made.home_of(store, i) / "metrics.parquet").stat().st_size for i in range(runs))
    return {
        "runs": runs,
        "rows": runs * made.SERIES * made.STEPS,
        "mb": round(size / 1e6),
        "slopes": min(before, after, key=lambda times: times["slopes cpu"]),
        "questions": rest,
        "associations": settings,
    }


def _part(name: str, store: Path, runs: int) -> dict[str, float]:
    command = [sys.executable, "-m", "fleet_scale", "--measure", name]
    command += ["--work", str(store), "--runs", str(runs)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    print(f"{name}, {runs} runs: {done.stdout.strip()}", file=sys.stderr, flush=True)
    times: dict[str, float] = json.loads(done.stdout)
    return {key: round(value, 3) for key, value in times.items()}


_PARTS = {
    "slopes": measure.slope_pass,
    "questions": measure.questions,
    "associations": lambda store, runs: measure.associations(store),
    "judging": measure.judging,
}


if __name__ == "__main__":
    main()
