"""Which runs are made: scenario, strength and seed, and where a made run is kept."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from sample_logs.lab import FAULTS, HEALTHY, SCENARIOS, Strength, settings_of, train
from sample_logs.lab.settings import Settings

REPOSITORY = Path(__file__).resolve().parents[2]
DATA = ("faults.py", "healthy.py", "scenario.py", "truth.py", "__init__.py", "__main__.py")
STRENGTHS: tuple[Strength, ...] = ("strong", "mild")


@dataclass(frozen=True)
class Case:
    """One run."""

    scenario: str
    strength: Strength
    seed: int

    @property
    def name(self) -> str:
        """As it is written in the results."""
        return f"{self.scenario}-{self.strength}-{self.seed}"

    @property
    def settings(self) -> Settings:
        """What the trainer is told."""
        return settings_of(self.scenario, self.strength, self.seed)


def cases(
    scenarios: Sequence[str], seeds: Sequence[int], healthy_seeds: Sequence[int]
) -> Iterator[Case]:
    """Seed by seed, so that a bench that is stopped has judged each scenario about as often."""
    faults = [s.name for s in FAULTS if not scenarios or s.name in scenarios]
    healthy = [s.name for s in HEALTHY if not scenarios or s.name in scenarios]
    for number in range(max(len(seeds), len(healthy_seeds))):
        if number < len(healthy_seeds):
            yield from (Case(name, "off", healthy_seeds[number]) for name in healthy)
        if number < len(seeds):
            for strength in STRENGTHS:
                yield from (Case(name, strength, seeds[number]) for name in faults)


def unknown(scenarios: Sequence[str]) -> list[str]:
    """The names that are no scenario."""
    return sorted(set(scenarios) - set(SCENARIOS))


def lab_sha256() -> str:
    """A hash of all that decides what a run of given settings writes.

    The files that say which settings a scenario has are left out: the settings themselves are part
    of a run's key.
    """
    lab = REPOSITORY / "sample_logs" / "lab"
    replay = REPOSITORY / "analyzer" / "replay"
    files = [path for path in lab.glob("*.py") if path.name not in DATA]
    files += [path for path in (lab / "warm").rglob("*") if path.is_file()]
    files += [*(replay / "formulas").glob("*.py"), replay / "stage0.py", replay / "config.py"]
    files += [lab.parent / "areal_files.py", lab.parent / "base_config.yaml"]
    digest = hashlib.sha256(version("torch").encode())
    for path in sorted(files):
        digest.update(path.relative_to(REPOSITORY).as_posix().encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def made(case: Case, cache: Path, lab: str, make: bool = True) -> Path | None:
    """The folder of the run, which is made where the cache does not have it; None where it does not
    and none is to be made."""
    key = hashlib.sha256(f"{lab}\n{case.settings!r}".encode()).hexdigest()[:24]
    folder = cache / "runs" / f"{case.name}-{key}"
    if not folder.is_dir() and make:
        half = folder.with_name(folder.name + ".part")
        shutil.rmtree(half, ignore_errors=True)
        train(case.settings, half)
        shutil.rmtree(half / "recover", ignore_errors=True)
        half.rename(folder)
    return folder if folder.is_dir() else None
