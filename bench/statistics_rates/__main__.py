"""`make bench-statistics`: measures, writes the results, and puts them into the page."""

from __future__ import annotations

import json
import multiprocessing
import os
import platform
import sys
import time
from importlib.metadata import version
from pathlib import Path

# One thread a process; numpy's libraries read it when they are loaded.
os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")

from generated_page import as_json

from statistics_rates import measure, page, verdicts

REPOSITORY = Path(__file__).resolve().parents[2]
RESULTS = REPOSITORY / "bench" / "results" / "statistics.json"
PAGE = REPOSITORY / "docs" / "statistics.md"
PROCESSES = 2


def main() -> None:
    """Runs all cells; `--page` only renders what is in the results."""
    if "--page" not in sys.argv[1:]:
        RESULTS.parent.mkdir(exist_ok=True)
        RESULTS.write_text(as_json(_results()), "utf-8")
    results = json.loads(RESULTS.read_text("utf-8"))
    PAGE.write_text(page.with_tables(PAGE.read_text("utf-8"), results), "utf-8")


def _results() -> dict[str, object]:
    begun = time.perf_counter()
    records: dict[str, list[measure.Record]] = {"false_alarms": [], "power": [], "places": []}
    cells = measure.cells()
    with multiprocessing.get_context("spawn").Pool(PROCESSES) as pool:
        done = pool.imap(measure.measured, cells)
        for number, (cell, found) in enumerate(zip(cells, done, strict=True), start=1):
            records["false_alarms" if cell.part == "quick" else cell.part] += found
            print(f"\r{number} of {len(cells)} cells", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    packages = ("numpy", "scipy", "ruptures")
    return {
        "seed": measure.SEED,
        "nominal": verdicts.NOMINAL,
        "pairs": {str(n): pairs for n, pairs in measure.PAIRS.items()},
        "quick_pairs": {str(n): pairs for n, pairs in measure.QUICK_PAIRS.items()},
        "power_pairs": measure.POWER_PAIRS,
        "place_series": measure.PLACE_SERIES,
        "versions": {
            "python": platform.python_version(),
            **{name: version(name) for name in packages},
        },
        "processes": PROCESSES,
        "minutes": round((time.perf_counter() - begun) / 60, 1),
        **{part: sorted(found, key=page.order) for part, found in records.items()},
    }


if __name__ == "__main__":
    main()
