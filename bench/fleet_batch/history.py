"""A history of short runs in AReaL's format: the gallery's runs with values changed a little."""

from __future__ import annotations

import gzip
import random
import re
from collections.abc import Iterator
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent.parent
LONGEST = 1_000_000  # bytes; two of the samples are long ones
SPREAD = 1e-3  # of a value
VALUE = re.compile(r"(?<= )-?\d\.\d{4}e[+-]\d\d(?= )")

JUNK = random.Random(0).randbytes(40_000)
BEFORE_THE_FIRST_STEP = (
    "20260301-09:12:04.112 LocalLauncher INFO: experiment_name=gsm8k, trial_name=a\n" * 20
)
BROKEN: dict[str, tuple[str, bytes]] = {
    "empty": ("main.log", b""),
    "noise": ("main.log", JUNK),
    "no-steps": ("main.log", BEFORE_THE_FIRST_STEP.encode()),
    "torn-gzip": ("main.log.gz", gzip.compress(JUNK, mtime=0)[:20_000]),
    "not-wandb": ("run-abc.wandb", JUNK),
}


def write_history(root: Path, count: int) -> int:
    """Write so many runs, the broken ones among them; how many bytes that is."""
    seeds = sorted(_seeds())
    for number in range(count - len(BROKEN)):
        scenario, log = seeds[number % len(seeds)]
        folder = root / f"team-{number % 7}" / f"{scenario}-{number:03d}"
        folder.mkdir(parents=True)
        changed = _changed(log.read_text("utf-8"), random.Random(number))
        (folder / "main.log").write_text(changed, "utf-8")
        (folder / "config.yaml").write_bytes(log.with_name("config.yaml").read_bytes())
    for number, (name, (file, content)) in enumerate(BROKEN.items()):
        folder = root / f"team-{number}" / name
        folder.mkdir(parents=True)
        (folder / file).write_bytes(content)
    return sum(path.stat().st_size for path in root.rglob("*") if path.is_file())


def _seeds() -> Iterator[tuple[str, Path]]:
    for log in (REPOSITORY / "sample_logs").glob("*/logs/**/main.log"):
        if log.stat().st_size < LONGEST:
            yield log.relative_to(REPOSITORY / "sample_logs").parts[0], log


def _changed(log: str, draw: random.Random) -> str:
    """Measured values moved by up to a thousandth; whole numbers are counts and settings."""

    def moved(match: re.Match[str]) -> str:
        value = float(match[0])
        if value.is_integer():
            return match[0]
        text = f"{value * (1 + draw.uniform(-SPREAD, SPREAD)):.4e}"
        return text if len(text) == len(match[0]) else match[0]

    return VALUE.sub(moved, log)
