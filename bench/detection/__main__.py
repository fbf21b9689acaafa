"""`make bench-detection`: makes and judges the runs, writes the results and the page."""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import platform
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from importlib.metadata import version
from pathlib import Path

# One thread a process; numpy's and torch's libraries read it when they are loaded.
os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")

from generated_page import as_json

from detection import page, picture
from detection.cases import REPOSITORY, Case, cases, lab_sha256, unknown
from detection.judged import Record, judging
from detection.work import done

RESULTS = REPOSITORY / "bench" / "results" / "detection.json"
PAGE = REPOSITORY / "docs" / "detection.md"
PICTURE = REPOSITORY / "docs" / "images" / "detection.svg"
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "rl-run-analyzer"


def main(arguments: Sequence[str]) -> None:
    """Runs what is asked for; `--page` only renders what is in the results."""
    given = _parser().parse_args(arguments)
    if wrong := unknown(given.scenarios):
        raise SystemExit(f"no scenario of the lab: {', '.join(wrong)}")
    if not given.page:
        results = _results(given)
        if given.print_only:
            print(page.summary(results))
            return
        RESULTS.write_text(as_json(results), "utf-8")
    results = json.loads(RESULTS.read_text("utf-8"))
    PAGE.write_text(page.with_tables(PAGE.read_text("utf-8"), results), "utf-8")
    PICTURE.write_text(picture.svg(results), "utf-8")
    print(page.summary(results))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="make bench-detection", description=__doc__)
    parser.add_argument("--scenarios", type=lambda text: text.split(), default=[])
    parser.add_argument("--seeds", type=int, default=5, help="of each fault, mild and strong")
    parser.add_argument("--first-seed", type=int, default=31, help="the others follow it")
    parser.add_argument("--healthy-seeds", type=int, default=9, help="of each healthy scenario")
    parser.add_argument("--delay-seeds", type=int, default=2, help="for which the delay is sought")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--cache", type=Path, default=CACHE)
    parser.add_argument("--made-only", action="store_true", help="judge what the cache has")
    parser.add_argument("--print-only", action="store_true", help="leave results and page alone")
    parser.add_argument("--page", action="store_true", help="render the results that are there")
    return parser


def _results(given: argparse.Namespace) -> dict[str, object]:
    begun = time.perf_counter()
    first = given.first_seed
    faulty, healthy = (range(first, first + n) for n in (given.seeds, given.healthy_seeds))
    every = list(cases(given.scenarios, faulty, healthy))
    lab = lab_sha256()
    work = partial(
        done,
        cache=given.cache,
        lab=lab,
        delays=range(first, first + given.delay_seeds),
        make=not given.made_only,
    )
    runs = [run for run in _parallel(work, every, given.jobs) if run is not None]
    return {
        "lab_sha256": lab,
        "rules_sha256": judging().rulebook.sha256,
        "versions": {
            "python": platform.python_version(),
            **{name: version(name) for name in ("torch", "numpy", "duckdb")},
        },
        "jobs": given.jobs,
        "minutes": round((time.perf_counter() - begun) / 60, 1),
        "runs": sorted(runs, key=lambda run: str(run["name"])),
    }


def _parallel(
    work: partial[Record | None], every: Sequence[Case], jobs: int
) -> Iterator[Record | None]:
    # An executor, not a pool: it says so where a worker dies.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, context) as pool:
        for number, run in enumerate(pool.map(work, every), start=1):
            print(f"\r{number} of {len(every)} runs", end="", file=sys.stderr, flush=True)
            yield run
    print(file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1:])
