"""python -m sample_logs.lab --scenario NAME --strength mild|strong --seed N --out DIR"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

from sample_logs.lab import SCENARIOS, Written, settings_of, train

ALL = Written(tensorboard=True, dumps_every=20, recorded_every=20)


def main(arguments: list[str]) -> None:
    """Make one run."""
    parser = argparse.ArgumentParser(prog="python -m sample_logs.lab", description=__doc__)
    parser.add_argument("--scenario", choices=list(SCENARIOS), default="healthy")
    parser.add_argument("--strength", choices=("off", "mild", "strong"), default="strong")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--steps", type=int)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument(
        "--all-files", action="store_true", help="TensorBoard, dumps and recorded batches as well"
    )
    given = parser.parse_args(arguments)
    settings = settings_of(given.scenario, given.strength, given.seed, given.steps)
    if given.all_files:
        settings = replace(settings, written=ALL)
    train(settings, given.out)
    print(given.out)


if __name__ == "__main__":
    main(sys.argv[1:])
