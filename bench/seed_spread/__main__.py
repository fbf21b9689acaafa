"""`make bench-seeds`: makes runs of equal configurations and writes what their seeds differ by."""

from __future__ import annotations

import argparse
import os
import platform
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

# One thread; numpy's and torch's libraries read it when they are loaded.
os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")

from detection.__main__ import CACHE
from detection.cases import REPOSITORY
from detection.judged import judging
from generated_page import as_json

from analyzer.tables.run import RunTables
from seed_spread.cases import FIXED_ON, STEPS, TRIED_ON, Seeds, lab_sha256
from seed_spread.measure import detected, false_differences, shares, squared_shares

RESULTS = REPOSITORY / "bench" / "results" / "seed_spread.json"


def main(arguments: Sequence[str]) -> None:
    """Write the results."""
    parser = argparse.ArgumentParser(prog="make bench-seeds", description=__doc__)
    parser.add_argument("--cache", type=Path, default=CACHE)
    cache = parser.parse_args(arguments).cache
    lab = lab_sha256()

    def tables(seeds: Seeds) -> list[RunTables]:
        runs = seeds.runs(cache, lab)
        return [judging().tables(run, cache / "stores" / run.name) for run in runs]

    groups = [squared_shares(tables(seeds)) for seeds in FIXED_ON]
    results = {
        "versions": {"python": platform.python_version(), "torch": version("torch")},
        "steps": STEPS,
        "fixed on": [_row(seeds) for seeds in FIXED_ON],
        "shares": shares(groups),
        "tried on": [_row(seeds) | false_differences(tables(seeds)) for seeds in TRIED_ON],
        "detected": [row for seeds in TRIED_ON for row in detected(tables(seeds))],
    }
    RESULTS.write_text(as_json(results), "utf-8")
    print(RESULTS.read_text("utf-8"))


def _row(seeds: Seeds) -> dict[str, object]:
    return {
        "scenario": seeds.scenario,
        "strength": seeds.strength,
        "seeds": list(seeds.seeds),
    }


if __name__ == "__main__":
    main(sys.argv[1:])
